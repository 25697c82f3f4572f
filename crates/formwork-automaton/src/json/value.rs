//! Where a value begins: which atoms of its goal each first byte leaves.

use std::sync::Arc;

use super::JsonAutomaton;
use super::liveness::{Cheapest, NEVER};
use super::situation::StringAlt;
use super::typed::Typed;
use crate::automaton::State;

impl JsonAutomaton {
    /// The atoms of one type, each with its form's tag.
    fn goal_atoms(&self, goal: u32, of: impl Fn(&Typed) -> &[u32]) -> Vec<(u16, u32)> {
        let mut out = Vec::new();
        for (tag, form) in (0..).zip(&self.goal(goal).forms) {
            out.extend(of(&self.typed(*form)).iter().map(|atom| (tag, *atom)));
        }
        self.too_many(&mut out);
        out
    }

    /// The tags of the forms that a literal satisfies.
    pub(super) fn goal_tags(&self, goal: u32, holds: impl Fn(&Typed) -> bool) -> Option<u32> {
        let goal = self.goal(goal);
        let satisfied = (0..).zip(&goal.forms).filter(|(_, form)| holds(&self.typed(**form)));
        self.answer(satisfied.map(|(tag, _)| tag), goal.active)
    }

    pub(super) fn goal_numbers(&self, goal: u32) -> Vec<(u16, u32)> {
        let active = self.goal(goal).active;
        let mut atoms = self.goal_atoms(goal, |typed| &typed.numbers);
        for (tag, atom) in &mut atoms {
            if *tag >= active {
                *atom = self.number_atoms.intern(self.number_atoms.get(*atom).watched());
            }
        }
        atoms
    }

    /// The state after a string's opening quote.
    pub(super) fn start_string(&self, state: State, goal: u32) -> Option<State> {
        let active = self.goal(goal).active;
        let alts: Arc<[StringAlt]> = self.string_starts.get_or(goal, || {
            self.goal_atoms(goal, |typed| &typed.strings)
                .into_iter()
                .filter(|(tag, atom)| *tag >= active || self.string_cost(*atom) != NEVER)
                .filter_map(|(tag, atom)| {
                    let atom = self.string_atoms.get(atom);
                    let start = self.string_start(atom)?;
                    Some(StringAlt { tag, state: start.id(), min: atom.min, max: atom.max })
                })
                .collect()
        });
        self.string_state(&alts, active, State { a: 0, b: 0, c: 0, ..state }, 0, 0)
    }

    /// The situation after `{`.
    pub(super) fn object_opening(&self, goal: u32) -> Option<u32> {
        self.object_openings.get_or(goal, || {
            let atoms = self.goal_atoms(goal, |typed| &typed.objects);
            self.open_object(&atoms, self.goal(goal).position, self.goal(goal).active)
                .map(|s| self.situations.intern(s))
        })
    }

    /// The situation after `[`.
    pub(super) fn array_opening(&self, goal: u32) -> Option<u32> {
        self.array_openings.get_or(goal, || {
            let atoms = self.goal_atoms(goal, |typed| &typed.arrays);
            self.open_array(&atoms, self.goal(goal).position, self.goal(goal).active).map(|s| self.situations.intern(s))
        })
    }

    /// The first byte of the shortest value that the goal allows, where that is a container.
    pub(super) fn value_witness_byte(&self, goal: u32) -> Option<u8> {
        let active = usize::from(self.goal(goal).active);
        let form = self.goal(goal).forms.iter().copied().take(active).min_by_key(|form| self.cost(*form))?;
        match self.cheapest_of(form)? {
            Cheapest::Array(_) => Some(b'['),
            Cheapest::Object(_) => Some(b'{'),
            _ => None,
        }
    }
}
