//! Completions with a number of characters in a window.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::states::by_preference;
use super::utf8::BOUNDARY;
use super::{LangState, Langs};

/// The numbers of characters that completions of one state have, as far as they were asked for.
#[derive(Debug)]
struct Lengths {
    /// Bit *n*: some completion has *n* characters; known below `explored`.
    bits: Vec<u64>,
    explored: u32,
    /// The states after `explored` characters, sorted.
    frontier: Vec<u32>,
    /// An earlier frontier and its place: when it comes back, everything after it does.
    saved: (u32, Vec<u32>),
    /// How it goes on for ever: from this length on, with this period.
    cycle: Option<(u32, u32)>,
    /// States looked at.
    work: usize,
}

impl Lengths {
    fn has(&self, length: u32) -> bool {
        let length = match self.cycle {
            Some((from, period)) if length >= from => from + (length - from) % period,
            _ => length,
        };
        let word = self.bits.get(length as usize / 64).copied().unwrap_or(0);
        word >> (length % 64) & 1 == 1
    }

    /// The least known length of at least `min`; what lies beyond the explored ones is not known.
    fn least(&self, min: u32) -> Option<u32> {
        let end = match self.cycle {
            // One whole period after the beginning decides.
            Some((from, period)) => min.max(from).saturating_add(period),
            None => self.explored,
        };
        (min..end).find(|&length| self.has(length))
    }
}

fn set(bits: &mut Vec<u64>, length: u32) {
    let word = length as usize / 64;
    if bits.len() <= word {
        bits.resize(word + 1, 0);
    }
    bits[word] |= 1 << (length % 64);
}

/// What was found about lengths so far.
#[derive(Debug, Default)]
pub(super) struct LengthMemo {
    lengths: FxHashMap<u32, Lengths>,
    /// Per state between characters the states that one more character leads to.
    after_char: FxHashMap<u32, Arc<[u32]>>,
}

/// Bytes that the lengths from a state take, roughly, and the states after one character.
const LENGTHS_BYTES: usize = 256;
const AFTER_CHAR_BYTES: usize = 64;

impl Langs {
    /// The states at the next character boundaries, the most readable spellings first. At a boundary: after one character.
    fn after_char(&self, memo: &mut LengthMemo, from: u32) -> Arc<[u32]> {
        if let Some(known) = memo.after_char.get(&from) {
            return Arc::clone(known);
        }
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack = vec![from];
        while let Some(id) = stack.pop() {
            let Some(state) = self.common.states.get(id) else {
                continue;
            };
            for class in by_preference(&state.classes) {
                let Some(to) = self.step_class(id, state, class) else {
                    continue;
                };
                if !seen.insert(to) {
                    continue;
                }
                if self.at_char_boundary(LangState(to)) {
                    found.push(to);
                } else {
                    stack.push(to);
                }
            }
        }
        let found: Arc<[u32]> = found.into();
        memo.after_char.insert(from, Arc::clone(&found));
        self.add_bytes(&self.bytes, AFTER_CHAR_BYTES);
        found
    }

    /// The states between characters that stand for `from` itself: those that end the character begun.
    fn boundaries(&self, memo: &mut LengthMemo, from: u32) -> Vec<u32> {
        match self.common.states.get(from) {
            Some(state) if state.utf8 == BOUNDARY => vec![from],
            Some(_) => self.after_char(memo, from).to_vec(),
            None => Vec::new(),
        }
    }

    /// Whether some completion has at least `min` and at most `max` further characters. In the middle of a character, that
    /// character was counted at its first byte.
    pub fn can_finish(&self, s: LangState, min: u32, max: Option<u32>) -> bool {
        let least = self.chars_to_accept(s);
        if least == u32::MAX || max.is_some_and(|max| max < least.max(min)) {
            return false;
        }
        if min <= least || self.is_universal(s) {
            return true;
        }
        let mut memo = self.common.lengths.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut lengths = if let Some(lengths) = memo.lengths.remove(&s.0) {
            lengths
        } else {
            let mut frontier = self.boundaries(&mut memo, s.0);
            frontier.sort_unstable();
            let saved = (0, frontier.clone());
            self.add_bytes(&self.bytes, LENGTHS_BYTES);
            Lengths { bits: Vec::new(), explored: 0, frontier, saved, cycle: None, work: 0 }
        };
        let found = self.explore(&mut memo, &mut lengths, min, max);
        memo.lengths.insert(s.0, lengths);
        found
    }

    fn explore(&self, memo: &mut LengthMemo, lengths: &mut Lengths, min: u32, max: Option<u32>) -> bool {
        if let Some(found) = lengths.least(min) {
            return max.is_none_or(|max| found <= max);
        }
        let most = self.work().saturating_add(self.common.limits.max_work);
        loop {
            let length = lengths.explored;
            if lengths.cycle.is_some() {
                return lengths.least(min).is_some_and(|found| max.is_none_or(|max| found <= max));
            }
            if max.is_some_and(|max| length > max) {
                return false;
            }
            lengths.work += lengths.frontier.len();
            if lengths.work > self.common.limits.max_search.saturating_mul(16) || self.work() > most {
                self.note_undecided();
                return false;
            }
            let accepted = lengths.frontier.iter().any(|&id| self.is_accepting(LangState(id)));
            if accepted {
                set(&mut lengths.bits, length);
            }
            let mut next = Vec::new();
            for &id in &lengths.frontier {
                next.extend_from_slice(&self.after_char(memo, id));
            }
            next.sort_unstable();
            next.dedup();
            lengths.frontier = next;
            lengths.explored = length + 1;
            let settled = match *lengths.frontier {
                [] => true,
                // Whatever is read next is accepted, at any length.
                _ => lengths.frontier.iter().any(|&id| self.is_universal(LangState(id))),
            };
            if settled {
                lengths.cycle = Some((length + 1, 1));
                if !lengths.frontier.is_empty() {
                    set(&mut lengths.bits, length + 1);
                }
            } else if lengths.frontier == lengths.saved.1 {
                lengths.cycle = Some((lengths.saved.0, lengths.explored - lengths.saved.0));
            } else if lengths.explored.is_power_of_two() {
                lengths.saved = (lengths.explored, lengths.frontier.clone());
            }
            if accepted && length >= min {
                return true;
            }
        }
    }

    /// A short completion with at least `min` and at most `max` further characters, counted as
    /// [`can_finish`](Langs::can_finish) does. `None` where there is none.
    pub fn completion(&self, s: LangState, min: u32, max: Option<u32>) -> Option<Vec<u8>> {
        if !self.can_finish(s, min, max) {
            return None;
        }
        let mut bytes = Vec::new();
        let mut at = s;
        while let Some(byte) = self.shortest_next(at) {
            bytes.push(byte);
            at = self.step(at, byte)?;
        }
        let chars = bytes.iter().filter(|byte| !matches!(byte, 0x80..=0xBF)).count();
        let fits = u32::try_from(chars).is_ok_and(|chars| chars >= min && max.is_none_or(|max| chars <= max));
        if fits { Some(bytes) } else { self.completion_of_length(s, min) }
    }

    /// The completion with the fewest characters among those with at least `min`.
    fn completion_of_length(&self, s: LangState, min: u32) -> Option<Vec<u8>> {
        let mut memo = self.common.lengths.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Per number of characters the states reached, each with the place of the one before it.
        let first: Vec<(u32, usize)> = self.boundaries(&mut memo, s.0).into_iter().map(|id| (id, 0)).collect();
        let mut layers = vec![first];
        let mut seen = FxHashSet::default();
        let mut end = loop {
            let layer = layers.last()?;
            let length = u32::try_from(layers.len() - 1).ok()?;
            let accepting = |(id, _): &(u32, usize)| self.is_accepting(LangState(*id));
            if length >= min
                && let Some(at) = layer.iter().position(accepting)
            {
                break at;
            }
            seen.clear();
            let mut next = Vec::new();
            for (place, &(id, _)) in layer.iter().enumerate() {
                for &to in self.after_char(&mut memo, id).iter() {
                    if seen.insert(to) {
                        next.push((to, place));
                    }
                }
            }
            if next.is_empty() {
                return None;
            }
            layers.push(next);
        };
        drop(memo);
        let mut states = Vec::with_capacity(layers.len());
        for layer in layers.iter().rev() {
            let &(id, before) = layer.get(end)?;
            states.push(id);
            end = before;
        }
        let mut bytes = Vec::new();
        let mut at = s.0;
        if !self.at_char_boundary(s) {
            states.push(at);
        }
        for &to in states.iter().rev().skip(1) {
            bytes.extend(self.spell_char(at, to)?);
            at = to;
        }
        Some(bytes)
    }

    /// Bytes that lead from one state to another at the next character boundary.
    fn spell_char(&self, from: u32, to: u32) -> Option<Vec<u8>> {
        let mut ways: FxHashMap<u32, (u32, u8)> = FxHashMap::default();
        let mut layer = vec![from];
        for _ in 0..4 {
            let mut next = Vec::new();
            for &id in &layer {
                let state = self.common.states.get(id)?;
                for class in by_preference(&state.classes) {
                    let Some(after) = self.step_class(id, state, class) else {
                        continue;
                    };
                    let byte = state.classes.representative(class);
                    if after == to {
                        let mut bytes = vec![byte];
                        let mut at = id;
                        while let Some(&(before, byte)) = ways.get(&at).filter(|_| at != from) {
                            bytes.push(byte);
                            at = before;
                        }
                        bytes.reverse();
                        return Some(bytes);
                    }
                    if !self.at_char_boundary(LangState(after)) && !ways.contains_key(&after) {
                        ways.insert(after, (id, byte));
                        next.push(after);
                    }
                }
            }
            layer = next;
        }
        None
    }
}
