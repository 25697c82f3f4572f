//! Whether an object can still be completed, and how: which members must come, which must not, so that counts fit and every
//! excluded atom fails.
//!
//! An excluded atom fails where a key it requires stays away, where a member's value is not what it asks, where a key comes that it
//! does not allow, or by its counts. The search picks one of these for each, cheapest kind first, and backtracks; the first plan
//! that works is taken.

use std::collections::{BTreeMap, BTreeSet};

use super::JsonAutomaton;
use super::form::FormId;
use super::keys::{KeyMachine, KeyRef};
use super::liveness::NEVER;
use super::object::ObjectAtom;

/// Between two members of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) machine: u32,
    /// Listed keys before this index can't come any more.
    pub(super) next: u32,
    /// Indices of known keys used whose use `next` does not tell, ascending.
    pub(super) used: &'a [u32],
    /// Members so far, as far as somebody counts.
    pub(super) count: u32,
}

impl Place<'_> {
    /// Whether a known key may still come.
    pub(super) fn is_open(&self, machine: &KeyMachine, key: u32) -> bool {
        if key < machine.listed { key >= self.next } else { self.used.binary_search(&key).is_err() }
    }

    /// The first listed key that can come after this one.
    pub(super) fn next_after(&self, machine: &KeyMachine, key: KeyRef) -> u32 {
        match key {
            KeyRef::Known(key) if key < machine.listed => key + 1,
            KeyRef::Known(_) | KeyRef::Class(_) => machine.listed,
        }
    }
}

/// What is still to be written of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// Bytes of the members with a comma each.
    pub(super) cost: u32,
    /// Members in the order in which they can come.
    pub(super) members: Vec<(KeyRef, FormId)>,
}

/// Choices that one search makes at most.
const MAX_CHOICES: u32 = 2_000;

struct Search<'a> {
    machine: &'a KeyMachine,
    place: Place<'a>,
    this: &'a ObjectAtom,
    known: &'a dyn Fn(FormId) -> u32,
    choices: u32,
    /// The form of each known key's value and of each class's, as the atom has it.
    forms: &'a super::keys::AtomKeys,
}

/// Where a search stands.
#[derive(Clone, Default)]
struct Draft {
    named: BTreeMap<u32, FormId>,
    unnamed: Vec<(u32, FormId)>,
    absent: BTreeSet<u32>,
    /// The window on the number of members, in addition to the atom's own.
    min: u32,
    max: Option<u32>,
}

impl Draft {
    fn len(&self) -> u32 {
        u32::try_from(self.named.len() + self.unnamed.len()).unwrap_or(u32::MAX)
    }
}

impl JsonAutomaton {
    /// How to complete an object of an atom; `known` gives the costs of forms.
    pub(super) fn object_plan(&self, place: Place<'_>, atom: u32, known: &dyn Fn(FormId) -> u32) -> Option<Plan> {
        let machine = self.machines.get(place.machine);
        let this = self.object_atoms.get(atom);
        let keys = self.atom_keys(place.machine, atom);
        let mut draft = Draft::default();
        for &key in keys.required.iter().filter(|key| place.is_open(machine, **key)) {
            let form = keys.forms[key as usize];
            if self.key_cost(machine.keys[key as usize]) == NEVER || known(form) == NEVER {
                return None;
            }
            draft.named.insert(key, form);
        }
        let mut search = Search { machine, place, this, known, choices: 0, forms: &keys };
        let found = self.resolve(&mut search, &draft, 0);
        if search.choices > MAX_CHOICES {
            self.note_undecided("choices of an object plan");
        }
        found
    }

    /// Resolves the exclusions from the one at `index` on.
    fn resolve(&self, search: &mut Search<'_>, draft: &Draft, index: usize) -> Option<Plan> {
        search.choices += 1;
        if search.choices > MAX_CHOICES {
            return None;
        }
        let Some(not) = search.this.not.get(index) else { return self.fill(search, draft) };
        let excluded = self.object_atoms.get(*not);
        let machine = search.machine;
        // A key that it requires stays away.
        for text in &excluded.required {
            let Some(key) = machine.index_of(*text) else { continue };
            if search.place.is_open(machine, key) && !draft.named.contains_key(&key) {
                let mut draft = draft.clone();
                draft.absent.insert(key);
                if let Some(plan) = self.resolve(search, &draft, index + 1) {
                    return Some(plan);
                }
            }
        }
        // A member that it does not allow, first among those that come anyway.
        let planned = draft.named.keys().copied();
        let others = (0..u32::try_from(machine.keys.len()).unwrap_or(u32::MAX))
            .filter(|key| search.place.is_open(machine, *key) && !draft.named.contains_key(key));
        let candidates: Vec<u32> = planned.chain(others).filter(|key| !draft.absent.contains(key)).collect();
        for key in candidates {
            let own = draft.named.get(&key).copied().unwrap_or(search.forms.forms[key as usize]);
            let Some(form) = self.failing(search, excluded, KeyRef::Known(key), own) else { continue };
            if self.key_cost(machine.keys[key as usize]) == NEVER {
                continue;
            }
            let mut draft = draft.clone();
            draft.named.insert(key, form);
            if let Some(plan) = self.resolve(search, &draft, index + 1) {
                return Some(plan);
            }
        }
        for class in 0..u32::try_from(machine.classes.len()).unwrap_or(u32::MAX) {
            let own = search.forms.classes[class as usize];
            let Some(form) = self.failing(search, excluded, KeyRef::Class(class), own) else { continue };
            let mut draft = draft.clone();
            draft.unnamed.push((class, form));
            if let Some(plan) = self.resolve(search, &draft, index + 1) {
                return Some(plan);
            }
        }
        // Too few members for it, or too many.
        if let Some(max) = excluded.min.checked_sub(1) {
            let mut draft = draft.clone();
            draft.max = Some(draft.max.map_or(max, |m| m.min(max)));
            if let Some(plan) = self.resolve(search, &draft, index + 1) {
                return Some(plan);
            }
        }
        if let Some(max) = excluded.max {
            let mut draft = draft.clone();
            draft.min = draft.min.max(max.saturating_add(1));
            return self.resolve(search, &draft, index + 1);
        }
        None
    }

    /// The form of a member whose presence or value makes an excluded atom fail, where there is such a value.
    fn failing(&self, search: &Search<'_>, excluded: &ObjectAtom, key: KeyRef, own: FormId) -> Option<FormId> {
        let form = if self.is_name(search.machine, excluded, key) {
            let asked = self.key_form(search.machine, excluded, key);
            if self.is_true(asked) {
                return None;
            }
            self.all_of([own, self.not_form(asked)])
        } else {
            own
        };
        ((search.known)(form) != NEVER).then_some(form)
    }

    /// Adds members until there are enough.
    fn fill(&self, search: &Search<'_>, draft: &Draft) -> Option<Plan> {
        let (machine, place, keys) = (search.machine, search.place, search.forms);
        let known = search.known;
        let max = super::typed::least(search.this.max, draft.max);
        let min = search.this.min.max(draft.min);
        let missing = min.saturating_sub(place.count.saturating_add(draft.len()));
        let most = place.count.saturating_add(draft.len()).saturating_add(missing);
        if max.is_some_and(|max| most > max) {
            return None;
        }
        let mut named = draft.named.clone();
        let mut unnamed = draft.unnamed.clone();
        if missing > 0 {
            let mut spare: Vec<(u32, u32)> = (0..u32::try_from(machine.keys.len()).unwrap_or(u32::MAX))
                .filter(|key| {
                    place.is_open(machine, *key) && !named.contains_key(key) && !draft.absent.contains(key)
                })
                .filter_map(|key| {
                    let cost = add(self.key_cost(machine.keys[key as usize]), known(keys.forms[key as usize]));
                    (cost != NEVER).then_some((cost, key))
                })
                .collect();
            spare.sort_unstable();
            let class = (0..).zip(&machine.classes).find(|(index, class)| {
                let form = keys.classes[*index as usize];
                known(form) != NEVER && self.langs.count(class.start, u64::from(min) + 1) > u64::from(min)
            });
            for _ in 0..missing {
                if let Some((_, key)) = spare.first().copied() {
                    spare.remove(0);
                    named.insert(key, keys.forms[key as usize]);
                } else if let Some((index, _)) = class {
                    unnamed.push((index, keys.classes[index as usize]));
                } else {
                    return None;
                }
            }
        }
        let mut cost = 0;
        let mut members = Vec::with_capacity(named.len() + unnamed.len());
        for (key, form) in named {
            let member = add(self.key_cost(machine.keys[key as usize]), known(form));
            cost = add(cost, add(member, 2));
            members.push((KeyRef::Known(key), form));
        }
        for (class, form) in unnamed {
            let name = self.langs.shortest(machine.classes[class as usize].start).saturating_add(2);
            cost = add(cost, add(add(name, known(form)), 2));
            members.push((KeyRef::Class(class), form));
        }
        (cost != NEVER).then_some(Plan { cost, members })
    }
}

fn add(a: u32, b: u32) -> u32 {
    if a == NEVER || b == NEVER { NEVER } else { a.saturating_add(b).min(NEVER - 1) }
}
