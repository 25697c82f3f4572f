//! Whether an object can still be completed, and how: which members must come, which must not, so that counts fit and every
//! excluded atom fails.
//!
//! An excluded atom fails where a key it requires stays away, where a member's value is not what it asks, where a key comes that it
//! does not allow, or by its counts. The search picks one of these for each, the atom with the fewest first, and backtracks; the first
//! plan that works is taken.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::JsonAutomaton;
use super::form::FormId;
use super::keys::{AtomKeys, KeyMachine, KeyRef};
use super::liveness::{NEVER, add, finite};
use super::object::ObjectAtom;
use crate::interner::to_u32;

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
    pub(super) fn next_after(machine: &KeyMachine, key: KeyRef) -> u32 {
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
    forms: &'a AtomKeys,
    /// What makes an excluded atom fail by a key with a form, as far as it was asked.
    failing: RefCell<FxHashMap<(u32, KeyRef, FormId), Option<FormId>>>,
}

/// A way to make an excluded atom fail.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// A known key stays away.
    Absent(u32),
    /// A known key comes with a value of this form.
    Named(u32, FormId),
    /// One more key of a class comes with a value of this form.
    Unnamed(u32, FormId),
    /// The value of an unknown key that comes anyway is of this form.
    Stricter(usize, FormId),
    /// There are at most so many members.
    AtMost(u32),
    /// There are at least so many members.
    AtLeast(u32),
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
    fn with(&self, way: Way) -> Self {
        let mut draft = self.clone();
        match way {
            Way::Absent(key) => {
                draft.absent.insert(key);
            }
            Way::Named(key, form) => {
                draft.named.insert(key, form);
            }
            Way::Unnamed(class, form) => draft.unnamed.push((class, form)),
            Way::Stricter(index, form) => {
                if let Some(member) = draft.unnamed.get_mut(index) {
                    member.1 = form;
                }
            }
            Way::AtMost(max) => draft.max = super::typed::least(draft.max, Some(max)),
            Way::AtLeast(min) => draft.min = draft.min.max(min),
        }
        draft
    }

    fn len(&self) -> u32 {
        to_u32(self.named.len() + self.unnamed.len())
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
        let failing = RefCell::default();
        let mut search = Search { machine, place, this, known, choices: 0, forms: &keys, failing };
        let found =
            self.without_more(&search, &draft, &this.not).or_else(|| self.resolve(&mut search, &draft, &this.not));
        if search.choices > MAX_CHOICES {
            self.note_undecided();
        }
        found
    }

    /// Makes the excluded atoms fail by keys that stay away, which takes no further member.
    fn without_more(&self, search: &Search<'_>, draft: &Draft, pending: &[u32]) -> Option<Plan> {
        let mut draft = draft.clone();
        self.count_steps(pending.len());
        for &not in pending {
            if !self.fails_already(search, &draft, not) {
                let way = self.ways_to_fail(search, &draft, not, 1).into_iter().next();
                let Some(Way::Absent(key)) = way else { return None };
                draft.absent.insert(key);
            }
        }
        self.fill(search, &draft)
    }

    /// Makes the excluded atoms fail that don't yet: the one with the fewest ways to do so first.
    fn resolve(&self, search: &mut Search<'_>, draft: &Draft, pending: &[u32]) -> Option<Plan> {
        search.choices += 1;
        self.count_steps(1 + pending.len());
        if search.choices > MAX_CHOICES || self.takes_too_long() {
            return None;
        }
        let left: Vec<u32> = pending.iter().copied().filter(|not| !self.fails_already(search, draft, *not)).collect();
        let mut tightest = None;
        for &not in &left {
            // One or more than one: what is more makes no difference to the order.
            let ways = self.ways_to_fail(search, draft, not, 2).len();
            if ways == 0 {
                return None;
            }
            if tightest.is_none_or(|(fewest, _)| ways < fewest) {
                tightest = Some((ways, not));
            }
        }
        let Some((_, tightest)) = tightest else { return self.fill(search, draft) };
        let rest: Vec<u32> = left.into_iter().filter(|not| *not != tightest).collect();
        self.ways_to_fail(search, draft, tightest, usize::MAX)
            .into_iter()
            .find_map(|way| self.resolve(search, &draft.with(way), &rest))
    }

    /// Whether an excluded atom fails by what is planned so far.
    fn fails_already(&self, search: &Search<'_>, draft: &Draft, not: u32) -> bool {
        let excluded = self.object_atoms.get(not);
        let is_absent = |text: &u32| search.machine.index_of(*text).is_some_and(|key| draft.absent.contains(&key));
        let fails = |key: KeyRef, form: FormId| {
            if !self.is_name(search.machine, excluded, key) {
                return true;
            }
            let asked = self.key_form(search.machine, excluded, key);
            self.has_part(form, self.not_form(asked)) || self.sketch(self.all_of([form, asked])).is_empty()
        };
        excluded.required.iter().any(is_absent)
            || draft.named.iter().any(|(key, form)| fails(KeyRef::Known(*key), *form))
            || draft.unnamed.iter().any(|(class, form)| fails(KeyRef::Class(*class), *form))
            || draft.max.is_some_and(|max| max < excluded.min)
            || excluded.max.is_some_and(|max| draft.min > max)
    }

    /// Ways to make an excluded atom fail, `limit` of them at most, those that need no further member first.
    fn ways_to_fail(&self, search: &Search<'_>, draft: &Draft, not: u32, limit: usize) -> Vec<Way> {
        let excluded = self.object_atoms.get(not);
        let machine = search.machine;
        let mut ways = Vec::new();
        // A key that it requires stays away.
        let absent = excluded.required.iter().filter_map(|text| machine.index_of(*text)).filter(|key| {
            search.place.is_open(machine, *key) && !draft.named.contains_key(key) && !draft.absent.contains(key)
        });
        ways.extend(absent.map(Way::Absent).take(limit));
        // A member that comes anyway is not what it asks.
        for (&key, &own) in &draft.named {
            if ways.len() >= limit {
                return ways;
            }
            let form = self.failing(search, not, KeyRef::Known(key), own);
            ways.extend(form.map(|form| Way::Named(key, form)));
        }
        for (index, &(class, own)) in draft.unnamed.iter().enumerate() {
            let form = self.failing(search, not, KeyRef::Class(class), own);
            ways.extend(form.map(|form| Way::Stricter(index, form)));
        }
        // One more member is not what it asks.
        let members = search.place.count.saturating_add(draft.len());
        let most = super::typed::least(search.this.max, draft.max);
        if most.is_none_or(|most| members < most) {
            for key in (0..).take(machine.keys.len()) {
                if ways.len() >= limit {
                    return ways;
                }
                let is_new = search.place.is_open(machine, key)
                    && !draft.named.contains_key(&key)
                    && !draft.absent.contains(&key)
                    && self.key_cost(machine.keys[key as usize]) != NEVER;
                if is_new {
                    let form = self.failing(search, not, KeyRef::Known(key), search.forms.forms[key as usize]);
                    ways.extend(form.map(|form| Way::Named(key, form)));
                }
            }
            for class in (0..).take(machine.classes.len()) {
                let form = self.failing(search, not, KeyRef::Class(class), search.forms.classes[class as usize]);
                ways.extend(form.map(|form| Way::Unnamed(class, form)));
            }
        }
        // Too few members for it, or too many.
        ways.extend(excluded.min.checked_sub(1).filter(|most| members <= *most).map(Way::AtMost));
        let more = excluded.max.map(|max| max.saturating_add(1));
        ways.extend(more.filter(|min| most.is_none_or(|most| *min <= most)).map(Way::AtLeast));
        ways
    }

    /// The form of a member whose presence or value makes an excluded atom fail, where there is such a value.
    fn failing(&self, search: &Search<'_>, not: u32, key: KeyRef, own: FormId) -> Option<FormId> {
        if let Some(known) = search.failing.borrow().get(&(not, key, own)) {
            return *known;
        }
        let excluded = self.object_atoms.get(not);
        let form = if self.is_name(search.machine, excluded, key) {
            let asked = self.key_form(search.machine, excluded, key);
            if self.is_true(asked) { None } else { Some(self.all_of([own, self.not_form(asked)])) }
        } else {
            Some(own)
        };
        let form = form.filter(|form| (search.known)(*form) != NEVER);
        search.failing.borrow_mut().insert((not, key, own), form);
        form
    }

    /// Adds members until there are enough.
    fn fill(&self, search: &Search<'_>, draft: &Draft) -> Option<Plan> {
        let (machine, place, keys) = (search.machine, search.place, search.forms);
        let known = search.known;
        let max = super::typed::least(search.this.max, draft.max);
        let min = search.this.min.max(draft.min);
        let missing = min.saturating_sub(place.count.saturating_add(draft.len()));
        let most = place.count.saturating_add(draft.len()).saturating_add(missing);
        // A member takes more bytes than that: objects that would have to have so many are not begun.
        let least = finite(missing.saturating_mul(4));
        if max.is_some_and(|max| most > max) || self.within_limit(least) == NEVER {
            return None;
        }
        let mut named = draft.named.clone();
        let mut unnamed = draft.unnamed.clone();
        if missing > 0 {
            let mut spare: Vec<(u32, u32)> = (0..to_u32(machine.keys.len()))
                .filter(|key| place.is_open(machine, *key) && !named.contains_key(key) && !draft.absent.contains(key))
                .filter_map(|key| {
                    let cost = add(self.key_cost(machine.keys[key as usize]), known(keys.forms[key as usize]));
                    (cost != NEVER).then_some((cost, key))
                })
                .collect();
            spare.sort_unstable();
            let class = (0..).zip(&machine.classes).filter(|(index, class)| {
                let form = keys.classes[*index as usize];
                known(form) != NEVER && self.langs.count(class.start, u64::from(min) + 1) > u64::from(min)
            });
            let class = class.min_by_key(|(index, _)| known(keys.classes[*index as usize]));
            let class = class.map(|(index, class)| {
                let form = keys.classes[index as usize];
                (add(self.langs.shortest(class.start).saturating_add(2), known(form)), (index, form))
            });
            let mut spare = spare.into_iter().peekable();
            for _ in 0..missing {
                let cheaper = class.is_none_or(|(cost, _)| spare.peek().is_some_and(|(other, _)| *other <= cost));
                if let (false, Some((_, member))) = (cheaper, class) {
                    unnamed.push(member);
                } else {
                    let (_, key) = spare.next()?;
                    named.insert(key, keys.forms[key as usize]);
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
