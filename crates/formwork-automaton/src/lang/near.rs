//! States that no token tells apart.

use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, TryLockError};

use rustc_hash::FxHashMap;

use super::formula::ClassesId;
use super::program::Unit;
use super::states::{State, States};
use super::{LangState, Langs};
use crate::interner::to_u32;

/// States are [near](crate::Automaton::near) each other where no text of at most so many bytes tells them apart.
pub const NEAR_BYTES: u8 = 24;

/// So many bytes are looked at, since the beginning of an escape looks at the character that it may become.
const LEVELS: usize = NEAR_BYTES as usize + 4;

/// What a state that was found near another saves: as much may be spent on the next ones.
const SAVED: u64 = 1 << 16;

/// A transition that is not known yet counts as so many.
const UNKNOWN_WORK: u64 = 64;

/// What is known of states that are near each other.
#[derive(Debug, Default)]
pub(super) struct NearMemo {
    /// For each state and number of bytes: the class of the states that such texts don't tell from it, counted from 1 on (0: not known yet),
    /// and the most characters that are missing after one of them.
    levels: FxHashMap<u32, Box<[(u32, u32); LEVELS]>>,
    /// What tells a class from others: the number of bytes, whether the text may end, how bytes are told apart, and where each of their classes
    /// leads.
    classes: FxHashMap<Box<[u32]>, u32>,
    /// The first state that was found of a class.
    representatives: FxHashMap<u32, u32>,
    /// For states that tell bytes apart alike, which are mostly those of one language: what finding masks has cost, and the work of finding out
    /// which of them are near each other, which may not exceed that.
    costs: FxHashMap<ClassesId, (u64, u64)>,
    words: usize,
    work: u64,
}

impl NearMemo {
    fn heap_bytes(&self) -> usize {
        let level = size_of::<[(u32, u32); LEVELS]>() + 24;
        self.levels.len() * level + self.words * 4 + self.classes.len() * 40 + self.representatives.len() * 16
    }
}

impl Langs {
    /// Says what finding a mask has cost where the language is in a state (nodes of a trie): as much may be spent on finding those near it.
    pub(crate) fn note_cost(&self, s: LangState, nodes: u64) {
        let Some(state) = self.common.states.get(s.0) else { return };
        if let Some(mut memo) = self.near_memo() {
            memo.costs.entry(state.classes_id).or_default().0 += nodes;
        }
    }

    /// The memo, where nobody else has it: who would have to wait goes without.
    fn near_memo(&self) -> Option<MutexGuard<'_, NearMemo>> {
        match self.common.near.try_lock() {
            Ok(memo) => Some(memo),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The state that stands for all those near `s`, and the most characters that are missing at a state that a text of [`NEAR_BYTES`] or
    /// less leads to. `None` where finding out would cost more than it may.
    pub(crate) fn near(&self, s: LangState) -> Option<(LangState, u32)> {
        let state = self.common.states.get(s.0)?;
        if let Some(known) = state.near.load(Ordering::Acquire).checked_sub(1) {
            return Some((LangState(known), state.far.load(Ordering::Relaxed)));
        }
        let mut memo = self.near_memo()?;
        let &(cost, spent) = memo.costs.get(&state.classes_id)?;
        // Work that was not enough is not lost: the next question goes on from there.
        let most = cost.checked_sub(spent).filter(|left| *left > 0)?;
        let (bytes, work) = (memo.heap_bytes(), memo.work);
        let found = self.near_class(&mut memo, s.0, LEVELS, work.saturating_add(most));
        let spent = spent + (memo.work - work);
        let saved = if found.is_some() { SAVED } else { 0 };
        memo.costs.insert(state.classes_id, (cost + saved, spent));
        let found = found.map(|(class, far)| (*memo.representatives.entry(class).or_insert(s.0), far));
        self.add_bytes(&self.bytes, memo.heap_bytes() - bytes);
        let (representative, far) = found?;
        state.far.store(far, Ordering::Relaxed);
        state.near.store(representative + 1, Ordering::Release);
        Some((LangState(representative), far))
    }

    /// Where `near`, the state that stands for those near `s`, as far as that is known; otherwise `s`.
    pub(crate) fn settled(&self, s: LangState, near: bool) -> LangState {
        if near { self.near(s).map_or(s, |(near, _)| near) } else { s }
    }

    /// The class of a state for texts of so many bytes, and the most characters that are missing after one.
    fn near_class(&self, memo: &mut NearMemo, id: u32, bytes: usize, most: u64) -> Option<(u32, u32)> {
        let Some(level) = bytes.checked_sub(1) else { return Some((0, self.distance(LangState(id), Unit::Chars))) };
        if let Some(known) = memo.levels.get(&id).and_then(|levels| levels.get(level)).filter(|known| known.0 != 0) {
            return Some(*known);
        }
        let state: &State = self.common.states.get(id)?;
        let mut far = self.distance(LangState(id), Unit::Chars);
        let ends = u32::from(state.accepting) << 8 | u32::from(state.utf8);
        let mut signature = vec![to_u32(bytes), ends, state.classes_id];
        for class in state.classes.iter() {
            memo.work += if States::known(state, class).is_some() { 1 } else { UNKNOWN_WORK };
            if memo.work > most {
                return None;
            }
            let to = match self.step_class(id, state, class) {
                None => u32::MAX,
                Some(to) => {
                    let (class, beyond) = self.near_class(memo, to, level, most)?;
                    far = far.max(beyond);
                    class
                }
            };
            signature.push(to);
        }
        let next = u32::try_from(memo.classes.len()).ok()?.checked_add(1)?;
        memo.words += signature.len();
        let class = *memo.classes.entry(signature.into()).or_insert(next);
        memo.levels.entry(id).or_insert_with(|| Box::new([(0, 0); LEVELS]))[level] = (class, far);
        Some((class, far))
    }
}
