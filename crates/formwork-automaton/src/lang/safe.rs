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
        let Some(state) = self.states.get(s.0) else {
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
        let state = self.states.get(from)?;
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
            let state = self.states.get(id)?;
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
