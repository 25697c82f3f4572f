//! Arrays: alternatives with a prefix, a form for the rest, and a window on the number of items.

use super::JsonAutomaton;
use super::form::FormId;
use super::liveness::NEVER;
use super::object::Member;
use super::situation::{Await, Goal, Situation};

/// `prefixItems` and `items` of one subschema.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ArrayGroup {
    pub(super) prefix: Box<[FormId]>,
    pub(super) rest: FormId,
}

/// A plain condition on arrays: every group's forms hold, and the number of items lies in the window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ArrayAtom {
    /// Ids of groups, ascending.
    pub(super) groups: Box<[u32]>,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
}

impl ArrayAtom {
    pub(super) fn meet(&self, other: &Self) -> Self {
        let max = match (self.max, other.max) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self { groups: join(&self.groups, &other.groups), min: self.min.max(other.min), max }
    }
}

/// The union of two ascending lists.
pub(super) fn join(a: &[u32], b: &[u32]) -> Box<[u32]> {
    let mut all: Vec<u32> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}

/// Forms by their tags, and each alternative with its form's tag, its own, and its atom.
pub(super) type TaggedForms = (Box<[FormId]>, Box<[(u16, u16, u32)]>);

/// The tag of a form: its place in a list that it is put on where it is new.
pub(super) fn tag_of(form: FormId, forms: &mut Vec<FormId>) -> u16 {
    let index = forms.iter().position(|f| *f == form).unwrap_or_else(|| {
        forms.push(form);
        forms.len() - 1
    });
    // There are at most as many forms as alternatives, and those are limited.
    u16::try_from(index).unwrap_or(u16::MAX)
}

/// The alternatives of an array between two items. How many items there are is data, not state; only the place in the longest
/// prefix is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ArrayState {
    /// (tag, atom)
    pub(super) alts: Box<[(u16, u32)]>,
    /// Items so far, clipped to the longest prefix.
    pub(super) index: u32,
    pub(super) position: u32,
}

impl JsonAutomaton {
    pub(super) fn array_state(&self, alts: Box<[(u16, u32)]>, index: u32, position: u32) -> u32 {
        let longest = alts.iter().map(|(_, atom)| self.prefix_len(*atom)).max().unwrap_or(0);
        self.array_states.intern(ArrayState { alts, index: index.min(longest), position })
    }

    fn prefix_len(&self, atom: u32) -> u32 {
        let groups = &self.array_atoms.get(atom).groups;
        let longest = groups.iter().map(|g| self.array_groups.get(*g).prefix.len()).max().unwrap_or(0);
        u32::try_from(longest).unwrap_or(u32::MAX)
    }

    /// What the item at an index must satisfy.
    pub(super) fn item_form(&self, atom: u32, index: u32) -> FormId {
        let groups = &self.array_atoms.get(atom).groups;
        self.all_of(groups.iter().map(|g| {
            let group = self.array_groups.get(*g);
            group.prefix.get(index as usize).copied().unwrap_or(group.rest)
        }))
    }

    /// Forms that items 0 … `min`−1 must satisfy, each with how often.
    pub(super) fn needed_items(&self, atom: u32, from: u32) -> Vec<(FormId, u32)> {
        let min = self.array_atoms.get(atom).min;
        let prefix = self.prefix_len(atom).min(min);
        let mut out: Vec<(FormId, u32)> = (from..prefix).map(|i| (self.item_form(atom, i), 1)).collect();
        let rest = min.saturating_sub(prefix.max(from));
        if rest > 0 {
            out.push((self.item_form(atom, prefix.max(from)), rest));
        }
        out
    }

    /// The most items that the alternative can have: its maximum, or fewer where an item that none can be stands before.
    fn most_items(&self, atom: u32) -> u32 {
        let max = self.array_atoms.get(atom).max.unwrap_or(u32::MAX);
        let prefix = self.prefix_len(atom);
        let blocked = (0..=prefix).find(|&i| self.cost(self.item_form(atom, i)) == NEVER);
        blocked.map_or(max, |i| max.min(i))
    }

    /// The state in which only the alternatives are left that can take one more item after `count`; `None` where none can.
    pub(super) fn array_with_room(&self, array: u32, count: u32) -> Option<u32> {
        let state = self.array_states.get(array);
        let has_room = |&(_, atom): &(u16, u32)| count < self.most_items(atom);
        if state.alts.iter().all(has_room) {
            return Some(array);
        }
        let alts: Box<[_]> = state.alts.iter().copied().filter(has_room).collect();
        (!alts.is_empty()).then(|| self.array_state(alts, state.index, state.position))
    }

    /// The tags whose alternatives accept an array of `count` items.
    pub(super) fn array_tags(&self, array: u32, count: u32) -> Option<u32> {
        let alts = &self.array_states.get(array).alts;
        self.tags(alts.iter().filter(|(_, atom)| self.array_atoms.get(*atom).min <= count).map(|(tag, _)| *tag))
    }

    /// The next item of an array that has room: its goal, and what its end leads to.
    pub(super) fn array_member(&self, array: u32) -> Member {
        self.array_members.get_or(array, || {
            let state = self.array_states.get(array);
            let (forms, alts) = self.tag_forms(&state.alts, |atom| self.item_form(atom, state.index));
            let position = self.positions.item(&self.schema, state.position, state.index);
            let goal = self.goals.intern(Goal { forms, position });
            let awaits = self.awaits.intern(Await::Array {
                alts,
                index: state.index.saturating_add(1),
                position: state.position,
            });
            Member { goal, awaits }
        })
    }

    /// Gives each distinct form a tag: the forms, and each alternative with its form's tag.
    pub(super) fn tag_forms(&self, alts: &[(u16, u32)], form_of: impl Fn(u32) -> FormId) -> TaggedForms {
        let mut forms: Vec<FormId> = Vec::new();
        let mut tagged = Vec::with_capacity(alts.len());
        for &(tag, atom) in alts {
            let form = form_of(atom);
            if self.cost(form) == NEVER {
                continue;
            }
            tagged.push((tag_of(form, &mut forms), tag, atom));
        }
        (forms.into(), tagged.into())
    }

    /// The state after `[`, for the atoms of each tag.
    pub(super) fn open_array(&self, atoms: &[(u16, u32)], position: u32) -> Option<Situation> {
        let alts: Box<[_]> = atoms.iter().copied().filter(|(_, atom)| self.array_cost(*atom) != NEVER).collect();
        (!alts.is_empty()).then(|| Situation::ArrayOpen { array: self.array_state(alts, 0, position) })
    }
}
