//! States of strings and keys that the next token won't tell apart.

use super::JsonAutomaton;
use super::object::OFF;
use super::signature::may_become_used;
use super::situation::{FREE, Situation};
use crate::automaton::State;
use crate::frames::{Frames, Watch};
use crate::lang::{LangState, NEAR_BYTES};

/// Masks that take fewer nodes than this are cheap whatever the state.
const LEAST_NODES: u64 = 1 << 13;

impl JsonAutomaton {
    /// The state that stands for those near a string's or a key's.
    pub(super) fn near_of(&self, seq: &Frames, state: State) -> Option<State> {
        match *self.situations.get(state.id) {
            Situation::String { tag, min, max, near: false } if tag != FREE && min <= state.a => {
                if self.is_any(state.c) || self.watch_at(seq, state) != Watch::Nothing {
                    return None;
                }
                let (near, far) = self.langs.near(LangState::from_id(state.c))?;
                // Wherever a token may lead, the string can end in time.
                let needed = state.a.saturating_add(u32::from(NEAR_BYTES)).saturating_add(far);
                if max.is_some_and(|max| max < needed) {
                    return None;
                }
                let id = self.situations.intern(Situation::String { tag, min: 0, max: None, near: true });
                Some(State { id, a: 0, c: near.id(), ..state })
            }
            Situation::Key { near: false, .. } => {
                let (object, _) = self.patterned_key(seq, state)?;
                // How many keys are left is no matter of the next bytes.
                if self.is_any(state.c) || may_become_used(seq, state) {
                    return None;
                }
                self.langs.near(LangState::from_id(state.c))?;
                Some(State { id: self.situations.intern(Situation::Key { object, near: true }), ..state })
            }
            _ => None,
        }
    }

    fn is_any(&self, lang: u32) -> bool {
        self.langs.is_universal(LangState::from_id(lang))
    }

    /// The state that stands for those near one within a string.
    pub(super) fn settled(&self, state: State) -> State {
        State { a: 0, c: self.langs.settled(LangState::from_id(state.c), true).id(), ..state }
    }

    pub(super) fn note_cost_at(&self, state: State, nodes: u64) {
        let is_costly = nodes >= LEAST_NODES
            && match self.situations.get(state.id) {
                Situation::String { near: false, .. } => !self.is_any(state.c),
                Situation::Key { object, near: false } => {
                    state.c != OFF && self.machines.get(self.object_states.get(*object).machine).has_patterns()
                }
                _ => false,
            };
        if is_costly {
            self.langs.note_cost(LangState::from_id(state.c), nodes);
        }
    }
}
