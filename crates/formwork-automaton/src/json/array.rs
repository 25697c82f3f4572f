//! Arrays: alternatives with a prefix, a form for the rest, a window on the number of items, and items that are counted.

use formwork_grammar::Numbers;

use super::JsonAutomaton;
use super::distinct::Seen;
use super::form::FormId;
use super::liveness::NEVER;
use super::object::Member;
use super::situation::{ArrayAlt, Await, Bit, Goal, Situation};
use super::typed::least;
use crate::automaton::State;
use crate::frames::{Frames, KeySet};
use crate::interner::to_u32;

/// `prefixItems` and `items` of one subschema.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ArrayGroup {
    pub(super) prefix: Box<[FormId]>,
    pub(super) rest: FormId,
}

/// A window on the number of items that satisfy a form: `contains` and what negation makes of `items`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Counted {
    pub(super) form: FormId,
    /// Items before this index don't count.
    pub(super) from: u32,
    /// The fewest that are still to come.
    pub(super) min: u32,
    /// The most that may still come.
    pub(super) max: Option<u32>,
}

/// A plain condition on arrays: every group's forms hold, and the number of items, and of those counted, lies in its window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ArrayAtom {
    /// Ids of groups, ascending.
    pub(super) groups: Box<[u32]>,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
    /// Ascending.
    pub(super) contains: Box<[Counted]>,
    /// No two items are equal.
    pub(super) unique: bool,
    /// Some two items are equal.
    pub(super) repeats: bool,
    /// Which items are evaluated, where somebody asks.
    pub(super) cover: Option<u32>,
}

impl ArrayAtom {
    /// Whether it matters which items are equal.
    pub(super) fn compares(&self) -> bool {
        self.unique || self.repeats
    }
}

/// The union of two ascending lists.
pub(super) fn join<T: Copy + Ord>(a: &[T], b: &[T]) -> Box<[T]> {
    let mut all: Vec<T> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}

/// The tag of a form: its place in a list that it is put on where it is new.
pub(super) fn tag_of(form: FormId, forms: &mut Vec<FormId>) -> u16 {
    tag_from(0, form, forms)
}

/// The tag of a form, among those from `start` on.
fn tag_from(start: usize, form: FormId, forms: &mut Vec<FormId>) -> u16 {
    let index = (start..forms.len()).find(|index| forms[*index] == form).unwrap_or_else(|| {
        forms.push(form);
        forms.len() - 1
    });
    // There are at most as many forms as alternatives, and those are limited.
    u16::try_from(index).unwrap_or(u16::MAX)
}

impl JsonAutomaton {
    /// The tag of a form that only watches, on a list whose first `active` forms are asked for. Numbers are watched in every spelling,
    /// whatever spellings their bounds leave to write, so that a form that is asked for has a tag of its own to be watched by.
    pub(super) fn watch_of(&self, form: FormId, active: usize, forms: &mut Vec<FormId>) -> u16 {
        let plain = self.options.numbers == Numbers::Plain && !self.typed(form).numbers.is_empty();
        tag_from(if plain { active } else { 0 }, form, forms)
    }
}

/// The alternatives of an array between two items. How many items there are is data, not state; only the place in the longest
/// prefix is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ArrayState {
    /// (tag, atom)
    pub(super) alts: Box<[(u16, u32)]>,
    /// Items so far, clipped to where all further ones are alike.
    pub(super) index: u32,
    pub(super) position: u32,
    /// Tags below this one are of alternatives that keep the array alive; the others only watch.
    pub(super) active: u16,
}

/// What an item does to an alternative.
struct Reading {
    tag: u16,
    /// Any of these will do.
    ways: Vec<Way>,
    base: u32,
    counted: CountedForms,
}

/// One of the ways to go on.
struct Way {
    /// What the item must satisfy.
    form: FormId,
    /// The atom that is left then.
    left: u32,
    /// The counted forms that it says something of, as bits.
    mask: u32,
    /// Those of them that the item satisfies.
    set: u32,
}

/// Forms of which an alternative counts the items that satisfy them, each with its place in the atom.
///
/// What an item satisfies is a set of them, as bits. Where there are more of them than bits, an item satisfies none of the others.
pub(super) struct CountedForms(Vec<(FormId, u32)>);

/// Up to so many forms counted at once, every combination of what an item satisfies is looked at.
const MAX_COUNTED: usize = 8;

impl CountedForms {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many of them are combined.
    pub(super) fn bits(&self) -> usize {
        self.0.len().min(MAX_COUNTED)
    }

    /// All sets of what an item satisfies.
    pub(super) fn sets(&self) -> std::ops::Range<u32> {
        0..1 << self.bits()
    }

    /// The place in the atom of the form of a bit.
    pub(super) fn place(&self, bit: usize) -> usize {
        self.0[bit].1 as usize
    }

    /// Whether an item that satisfies a set satisfies the form at a place of the atom.
    pub(super) fn satisfies(&self, set: u32, place: u32) -> bool {
        self.0.iter().take(MAX_COUNTED).position(|(_, p)| *p == place).is_some_and(|bit| set >> bit & 1 == 1)
    }
}

impl JsonAutomaton {
    pub(super) fn meet_arrays(&self, a: &ArrayAtom, b: &ArrayAtom) -> ArrayAtom {
        ArrayAtom {
            groups: join(&a.groups, &b.groups),
            min: a.min.max(b.min),
            max: least(a.max, b.max),
            contains: join(&a.contains, &b.contains),
            unique: a.unique || b.unique,
            repeats: a.repeats || b.repeats,
            cover: self.join_array_covers(a.cover, b.cover),
        }
    }

    /// Whether an atom surely has no array, as far as is seen without looking inside its items.
    pub(super) fn is_array_contradiction(&self, atom: &ArrayAtom) -> bool {
        let most = atom.max.unwrap_or(u32::MAX);
        let needed = atom.contains.iter().map(|c| if c.min == 0 { 0 } else { c.from.saturating_add(c.min) }).max();
        atom.min > most
            || needed.unwrap_or(0) > most
            || atom.contains.iter().any(|c| c.max.is_some_and(|max| max < c.min))
            || (atom.unique && atom.repeats)
            || (0..atom.min.min(8)).any(|i| self.sketch(self.form_of_item(atom, i)).is_empty())
    }

    pub(super) fn array_state(&self, alts: Box<[(u16, u32)]>, index: u32, position: u32, active: u16) -> u32 {
        let longest = alts.iter().map(|(_, atom)| self.prefix_len(*atom)).max().unwrap_or(0);
        let active = if alts.iter().all(|(tag, _)| *tag < active) { u16::MAX } else { active };
        self.array_states.intern(ArrayState { alts, index: index.min(longest), position, active })
    }

    /// From this index on, all items are alike.
    pub(super) fn prefix_len(&self, atom: u32) -> u32 {
        let atom = self.array_atoms.get(atom);
        let groups = atom.groups.iter().map(|g| self.array_groups.get(*g).prefix.len()).max().unwrap_or(0);
        let counted = atom.contains.iter().map(|c| c.from).max().unwrap_or(0);
        to_u32(groups).max(counted)
    }

    /// What the item at an index must satisfy.
    pub(super) fn item_form(&self, atom: u32, index: u32) -> FormId {
        self.form_of_item(self.array_atoms.get(atom), index)
    }

    fn form_of_item(&self, atom: &ArrayAtom, index: u32) -> FormId {
        self.all_of(atom.groups.iter().map(|g| {
            let group = self.array_groups.get(*g);
            group.prefix.get(index as usize).copied().unwrap_or(group.rest)
        }))
    }

    /// The most items that the alternative can have: its maximum, or fewer where an item that none can be stands before.
    fn most_items(&self, atom: u32) -> u32 {
        let max = self.array_atoms.get(atom).max.unwrap_or(u32::MAX);
        let prefix = self.prefix_len(atom);
        let blocked = (0..=prefix).find(|&i| self.cost(self.item_form(atom, i)) == NEVER);
        blocked.map_or(max, |i| max.min(i))
    }

    /// Whether an alternative can take one more item after `count`.
    fn has_room(&self, atom: u32, index: u32, count: u32) -> bool {
        if self.array_atoms.get(atom).contains.is_empty() {
            return count < self.most_items(atom);
        }
        count < self.array_atoms.get(atom).max.unwrap_or(u32::MAX)
            && self.read_item(atom, index, count, 0).is_some_and(|reading| !reading.ways.is_empty())
    }

    /// The state in which only the alternatives are left that can take one more item after those that a state counts; `None` where
    /// none can.
    pub(super) fn array_with_room(&self, seq: &Frames, array: u32, after: State) -> Option<u32> {
        let count = after.c;
        let seen = Seen::new(seq, KeySet::from_word(after.b));
        self.array_with(array, |state, atom| {
            self.has_room(atom, state.index, count) && self.can_complete(atom, state.index, count, seen, true)
        })
    }

    /// The state in which only some alternatives are left; `None` where none of them keeps the array alive.
    pub(super) fn array_with(&self, array: u32, is_left: impl Fn(&ArrayState, u32) -> bool) -> Option<u32> {
        let state = self.array_states.get(array);
        let is_left = |&(_, atom): &(u16, u32)| is_left(state, atom);
        if state.alts.iter().all(is_left) {
            return Some(array);
        }
        let alts: Box<[_]> = state.alts.iter().copied().filter(is_left).collect();
        let alive = alts.iter().any(|(tag, _)| *tag < state.active);
        alive.then(|| self.array_state(alts, state.index, state.position, state.active))
    }

    /// The tags whose alternatives accept an array of `count` items.
    pub(super) fn array_tags(&self, array: u32, count: u32) -> Option<u32> {
        let state = self.array_states.get(array);
        let complete = state.alts.iter().filter(|(_, atom)| self.may_end(*atom, count));
        self.answer(complete.map(|(tag, _)| *tag), state.active)
    }

    /// Whether an array of `count` items satisfies what is left of an atom.
    pub(super) fn may_end(&self, atom: u32, count: u32) -> bool {
        let atom = self.array_atoms.get(atom);
        atom.min <= count && !atom.repeats && atom.contains.iter().all(|c| c.min == 0)
    }

    /// The next item of an array that has room: its goal, and what its end leads to.
    pub(super) fn array_member(&self, array: u32, count: u32) -> Option<Member> {
        let state = self.array_states.get(array);
        let counts = state.alts.iter().any(|(_, atom)| !self.array_atoms.get(*atom).contains.is_empty());
        // Where items are counted, how many may follow matters to what this one must be.
        let count = if counts { count } else { 0 };
        self.array_members.get_or((array, count), || {
            let readings: Vec<Reading> = state
                .alts
                .iter()
                .filter_map(|&(tag, atom)| self.read_item(atom, state.index, count, tag))
                .filter(|reading| !reading.ways.is_empty())
                .collect();
            let mut forms: Vec<FormId> = Vec::new();
            for way in readings.iter().filter(|r| r.tag < state.active).flat_map(|r| &r.ways) {
                tag_of(way.form, &mut forms);
            }
            if forms.is_empty() {
                return None;
            }
            let active = forms.len();
            let alts = readings.iter().map(|reading| ArrayAlt {
                tag: reading.tag,
                ways: reading.ways.iter().map(|way| (tag_of(way.form, &mut forms), way.left)).collect(),
                base: reading.base,
                bits: self.bits_of(reading, active, &mut forms),
            });
            let alts = alts.collect();
            let position = self.item_position(state.position, state.index);
            let goal = self.goals.intern(Goal::new(forms, active, position));
            let awaits = self.awaits.intern(Await::Array {
                alts,
                goal,
                index: state.index.saturating_add(1),
                position: state.position,
                active: state.active,
            });
            Some(Member { goal, awaits })
        })
    }

    /// Where the goal of an item says which of the counted forms it satisfies.
    fn bits_of(&self, reading: &Reading, active: usize, forms: &mut Vec<FormId>) -> Box<[Bit]> {
        let mut bits = Vec::new();
        for (bit, &(form, index)) in reading.counted.0.iter().enumerate() {
            let not = self.not_form(form);
            let yes = self.watch_of(form, active, forms);
            bits.push(Bit { index, yes, no: self.watch_of(not, active, forms) });
            // Where a limit has cut off what the form or its negation would have told, the way tells it that the item takes.
            if bit < MAX_COUNTED && (self.typed(form).cut || self.typed(not).cut) {
                for way in reading.ways.iter().filter(|way| way.mask >> bit & 1 == 1) {
                    let tag = tag_of(way.form, forms);
                    let (yes, no) = if way.set >> bit & 1 == 1 { (tag, Bit::NOTHING) } else { (Bit::NOTHING, tag) };
                    bits.push(Bit { index, yes, no });
                }
            }
        }
        bits.into()
    }

    /// What the item at `index`, after `count` others, does to an alternative.
    fn read_item(&self, atom: u32, index: u32, count: u32, tag: u16) -> Option<Reading> {
        let own = self.item_form(atom, index);
        if self.cost(own) == NEVER {
            return None;
        }
        let counted = self.counted_forms(atom, index);
        if counted.is_empty() {
            let ways = vec![Way { form: own, left: atom, mask: 0, set: 0 }];
            return Some(Reading { tag, ways, base: atom, counted });
        }
        let live = |set: u32| {
            let satisfies = |place: u32| counted.satisfies(set, place);
            let left = self.after_item(atom, &satisfies, &satisfies)?;
            self.array_plan(left, index.saturating_add(1), count.saturating_add(1), None).map(|_| left)
        };
        let mut ways = Vec::new();
        // Those sets after which the array can go on.
        let after: Vec<Option<u32>> = counted.sets().map(live).collect();
        let is_live = |set: u32| after[set as usize].is_some();
        let mut done: Vec<(u32, u32)> = Vec::new();
        for set in counted.sets().filter(|set| is_live(*set)) {
            if done.iter().any(|(mask, value)| set & mask == *value) {
                continue;
            }
            // The widest cube around this set in which all are live.
            let mut mask = counted.sets().end - 1;
            for bit in 0..counted.bits() {
                let wider = mask & !(1 << bit);
                if counted.sets().all(|other| other & wider != set & wider || is_live(other)) {
                    mask = wider;
                }
            }
            let mut form = self.counted_as(own, &counted, set, mask);
            if self.typed(form).cut {
                // What was cut off may be what a completion needs.
                mask = counted.sets().end - 1;
                form = self.counted_as(own, &counted, set, mask);
            }
            done.push((mask, set & mask));
            if self.cost(form) != NEVER {
                ways.push(Way { form, left: after[set as usize].unwrap_or(atom), mask, set: set & mask });
            }
        }
        Some(Reading { tag, ways, base: atom, counted })
    }

    /// The forms that the item at an index is counted by.
    pub(super) fn counted_forms(&self, atom: u32, index: u32) -> CountedForms {
        let contains = &self.array_atoms.get(atom).contains;
        let counted: Vec<(FormId, u32)> =
            (0..).zip(contains).filter(|(_, c)| c.from <= index).map(|(place, c)| (c.form, place)).collect();
        if counted.len() > MAX_COUNTED {
            self.note_undecided();
        }
        CountedForms(counted)
    }

    /// The form of the items that satisfy a set of the counted forms, where only the bits of a mask matter.
    pub(super) fn counted_as(&self, own: FormId, counted: &CountedForms, set: u32, mask: u32) -> FormId {
        let forms = counted.0.iter().enumerate().filter_map(|(bit, (form, _))| match bit {
            bit if bit >= MAX_COUNTED => Some(self.not_form(*form)),
            bit if mask >> bit & 1 == 0 => None,
            bit if set >> bit & 1 == 1 => Some(*form),
            _ => Some(self.not_form(*form)),
        });
        self.all_of([own].into_iter().chain(forms))
    }

    /// The atom that is left after an item that equals one before it.
    pub(super) fn after_repeat(&self, atom: u32) -> Option<u32> {
        let this = self.array_atoms.get(atom);
        match (this.unique, this.repeats) {
            (true, _) => None,
            (false, true) => Some(self.array_atoms.intern(ArrayAtom { repeats: false, ..this.clone() })),
            (false, false) => Some(atom),
        }
    }

    /// The atom that is left after an item, given which of the counted forms it surely satisfies, and perhaps; `None` where one is
    /// satisfied too often.
    pub(super) fn after_item(
        &self,
        atom: u32,
        surely: &dyn Fn(u32) -> bool,
        perhaps: &dyn Fn(u32) -> bool,
    ) -> Option<u32> {
        let this = self.array_atoms.get(atom);
        let mut contains = Vec::with_capacity(this.contains.len());
        for (index, counted) in (0..).zip(&this.contains) {
            let mut counted = *counted;
            if surely(index) {
                counted.min = counted.min.saturating_sub(1);
            }
            if perhaps(index)
                && let Some(max) = counted.max
            {
                counted.max = Some(max.checked_sub(1)?);
            }
            if counted.min > 0 || counted.max.is_some() {
                contains.push(counted);
            }
        }
        contains.sort_unstable();
        contains.dedup();
        if *contains == *this.contains {
            return Some(atom);
        }
        Some(self.array_atoms.intern(ArrayAtom { contains: contains.into(), ..this.clone() }))
    }

    /// The state after `[`, for the atoms of each tag.
    pub(super) fn open_array(&self, atoms: &[(u16, u32)], position: u32, active: u16) -> Option<Situation> {
        let alts: Box<[_]> = atoms.iter().copied().filter(|(_, atom)| self.array_cost(*atom) != NEVER).collect();
        let alive = alts.iter().any(|(tag, _)| *tag < active);
        alive.then(|| Situation::ArrayOpen { array: self.array_state(alts, 0, position, active) })
    }
}
