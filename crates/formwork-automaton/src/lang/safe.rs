//! How many characters of a class can be read without a dead end.

use std::sync::atomic::Ordering;

use rustc_hash::FxHashSet;

use super::byte_classes::NOWHERE;
use super::byte_set::ByteSet;
use super::utf8::{self, BOUNDARY};
use super::{LangState, Langs};
use crate::char_class::CharClass;

/// Levels that are looked at: longer runs of one class are in few tokens.
const MOST_LEVELS: u32 = 16;
/// States that are looked at.
const MOST_STATES: usize = 512;

impl Langs {
    /// How many characters of the class can be read from `s`, in any combination, with every prefix live; `u32::MAX` where
    /// there is no bound. Looks a bounded number of characters ahead and answers with those where it could not see the end.
    pub fn safe_chars(&self, s: LangState, class: CharClass) -> u32 {
        let Some(state) = self.common.states.get(s.0) else {
            return 0;
        };
        let Some(memo) = state.safe.get(class as usize) else {
            return 0;
        };
        match memo.load(Ordering::Acquire) {
            0 => {}
            u32::MAX => return u32::MAX,
            known => return known - 1,
        }
        let safe = if state.utf8 != BOUNDARY {
            0
        } else if state.endless {
            u32::MAX
        } else {
            self.look_ahead(s, class)
        };
        memo.store(if safe == u32::MAX { safe } else { safe + 1 }, Ordering::Release);
        safe
    }

    /// The state after any one or more characters of the class, where it is always the same one.
    pub fn stays_at(&self, s: LangState, class: CharClass) -> Option<LangState> {
        let memo = self.common.states.get(s.0)?.stays.get(class as usize)?;
        match memo.load(Ordering::Acquire) {
            0 => {}
            known => return known.checked_sub(2).map(LangState),
        }
        let next =
            self.only_next(s.0, class).filter(|next| *next == s.0 || self.only_next(*next, class) == Some(*next));
        memo.store(next.map_or(1, |id| id.saturating_add(2)), Ordering::Release);
        next.map(LangState)
    }

    /// The bytes that can be read, other than those of the class, after at most `chars` characters of the class, and whether a text may
    /// end there; `None` where that is too much to look at, or the class is not one of ASCII characters.
    pub fn bytes_after(&self, s: LangState, class: CharClass, chars: u32) -> Option<(ByteSet, bool)> {
        if class == CharClass::Text {
            return None;
        }
        let mut seen = FxHashSet::from_iter([s.0]);
        let mut level = vec![s.0];
        let (mut bytes, mut may_end) = (ByteSet::empty(), false);
        for _ in 0..=chars {
            let mut next = Vec::new();
            for &id in &level {
                let state = self.common.states.get(id).filter(|state| state.utf8 == BOUNDARY)?;
                may_end |= state.accepting;
                let mut tried: [Option<Option<u32>>; 256] = [None; 256];
                for byte in 0..=u8::MAX {
                    let group = state.classes.class(byte);
                    if group == NOWHERE {
                        continue;
                    }
                    let slot = &mut tried[usize::from(group)];
                    let Some(to) = *slot.get_or_insert_with(|| self.step_class(id, state, group)) else { continue };
                    if !(byte.is_ascii() && class.contains(char::from(byte))) {
                        bytes.insert(byte);
                    } else if seen.insert(to) {
                        next.push(to);
                    }
                }
                if seen.len() > MOST_STATES {
                    return None;
                }
            }
            level = next;
        }
        Some((bytes, may_end))
    }

    /// The one state that every character of the class leads to.
    fn only_next(&self, from: u32, class: CharClass) -> Option<u32> {
        if self.common.states.get(from)?.utf8 != BOUNDARY {
            return None;
        }
        let mut next = Vec::new();
        self.read_class(from, class, &mut FxHashSet::default(), &mut next)?;
        match *next {
            [only] => Some(only),
            _ => None,
        }
    }

    fn look_ahead(&self, s: LangState, class: CharClass) -> u32 {
        let mut seen = FxHashSet::from_iter([s.0]);
        let mut level = vec![s.0];
        for depth in 0..MOST_LEVELS {
            let mut next = Vec::new();
            for &id in &level {
                if self.read_class(id, class, &mut seen, &mut next).is_none() {
                    return depth;
                }
                if seen.len() > MOST_STATES {
                    return depth;
                }
            }
            if next.is_empty() {
                return u32::MAX;
            }
            level = next;
        }
        MOST_LEVELS
    }

    /// Adds the new states that one character of the class leads to; `None` where one of them is dead.
    fn read_class(&self, from: u32, class: CharClass, seen: &mut FxHashSet<u32>, next: &mut Vec<u32>) -> Option<()> {
        let state = self.common.states.get(from)?;
        let mut groups = ByteSet::empty();
        for byte in 0..0x80_u8 {
            let group = state.classes.class(byte);
            if !class.contains(char::from(byte)) || group == NOWHERE || groups.contains(group) {
                continue;
            }
            groups.insert(group);
            let to = self.step_class(from, state, group)?;
            if seen.insert(to) {
                next.push(to);
            }
        }
        if class != CharClass::Text {
            return Some(());
        }
        let mut stack = vec![from];
        while let Some(id) = stack.pop() {
            let state = self.common.states.get(id)?;
            for group in state.classes.iter() {
                let stands = state.classes.representative(group);
                let Some(after) = utf8::next(state.utf8, stands).filter(|_| stands >= 0x80) else {
                    continue;
                };
                let to = self.step_class(id, state, group)?;
                if seen.insert(to) {
                    if after == BOUNDARY {
                        next.push(to);
                    } else {
                        stack.push(to);
                    }
                }
            }
        }
        Some(())
    }
}
