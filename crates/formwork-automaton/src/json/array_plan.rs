//! Whether an array can still be completed, and how: so many more items, each satisfying what is still owed.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::JsonAutomaton;
use super::distinct::Seen;
use super::few::Values;
use super::form::FormId;
use super::liveness::{Known, NEVER, add};

/// What is still to be written of an array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ArrayPlan {
    /// Bytes of the items with a comma each.
    pub(super) cost: u32,
    /// Items in order, each form with how often.
    pub(super) items: Vec<(FormId, u32)>,
}

/// Items that one search places at most, those that are alike counted once.
const MAX_STEPS: u32 = 1_000;

struct Search<'a> {
    known: Option<&'a Known<'a>>,
    steps: u32,
    /// One more item has to come.
    more: bool,
    /// Items must cost less.
    below: u32,
    seen: Seen<'a>,
    failed: FxHashSet<(u32, u32, u32)>,
    /// The values of forms, as found so far: costs stay as they are during a search.
    few: FxHashMap<(FormId, usize), Arc<Values>>,
}

impl<'a> Search<'a> {
    fn new(known: Option<&'a Known<'a>>, seen: Seen<'a>) -> Self {
        let (failed, few) = (FxHashSet::default(), FxHashMap::default());
        Self { known, steps: 0, more: false, below: NEVER, seen, failed, few }
    }

    /// Whether items of these forms, in an array of so many, can differ from each other and from those seen.
    fn can_differ(&mut self, automaton: &JsonAutomaton, items: &[(FormId, u32)], count: u32) -> bool {
        let (known, few) = (self.known, &mut self.few);
        let values =
            |form, cap| few.entry((form, cap)).or_insert_with(|| automaton.values_by(form, cap, known)).clone();
        let found = JsonAutomaton::differing(items, count, self.seen, values);
        match known.and_then(|known| known.sought) {
            // Whether that decides about a cost shows once all are found.
            Some(sought) => found.inspect_err(|alike| sought.note(*alike)).is_ok(),
            None => automaton.noted(found).is_some(),
        }
    }

    fn cost(&self, automaton: &JsonAutomaton, form: FormId) -> u32 {
        let cost = automaton.cost_by(self.known, form);
        if cost < self.below { cost } else { NEVER }
    }
}

impl JsonAutomaton {
    /// How to complete an array of what is left of an atom after `count` items; `index` is the count as far as items differ by
    /// their place.
    pub(super) fn array_plan(&self, atom: u32, index: u32, count: u32, known: Option<&Known<'_>>) -> Option<ArrayPlan> {
        self.array_plan_of(atom, index, count, false, Seen::NOTHING, known)
    }

    /// As [`array_plan`](Self::array_plan), after the items `seen`; with `more`, of one item at least.
    pub(super) fn array_plan_of(
        &self,
        atom: u32,
        index: u32,
        count: u32,
        more: bool,
        seen: Seen<'_>,
        known: Option<&Known<'_>>,
    ) -> Option<ArrayPlan> {
        self.search_array(Search { more, ..Search::new(known, seen) }, atom, index, count)
    }

    /// A plan for an array from its start, of items that cost less than so much.
    pub(super) fn array_plan_below(&self, atom: u32, below: u32) -> Option<ArrayPlan> {
        self.search_array(Search { below, ..Search::new(None, Seen::NOTHING) }, atom, 0, 0)
    }

    fn search_array(&self, mut search: Search<'_>, atom: u32, index: u32, count: u32) -> Option<ArrayPlan> {
        let known = search.known;
        if self.array_atoms.get(atom).repeats {
            return self.repeating_plan(atom, index, count, search.seen, known);
        }
        let mut items = Vec::new();
        let found = self.place_items(&mut search, atom, index, count, &mut items);
        if search.steps > MAX_STEPS {
            self.note_undecided();
        }
        if found { self.priced(items, known) } else { None }
    }

    /// The plan of these items; `None` where one of them has no value.
    pub(super) fn priced(&self, items: Vec<(FormId, u32)>, known: Option<&Known<'_>>) -> Option<ArrayPlan> {
        let cost = items.iter().fold(0_u32, |sum, (form, times)| match (sum, self.cost_by(known, *form)) {
            (NEVER, _) | (_, NEVER) => NEVER,
            (sum, one) => one.saturating_add(1).saturating_mul(*times).saturating_add(sum).min(NEVER - 1),
        });
        (cost != NEVER).then_some(ArrayPlan { cost, items })
    }

    fn place_items(
        &self,
        search: &mut Search<'_>,
        atom: u32,
        index: u32,
        count: u32,
        items: &mut Vec<(FormId, u32)>,
    ) -> bool {
        let (mut index, mut count) = (index, count);
        let start = items.len();
        loop {
            search.steps += 1;
            self.count_steps(1);
            let this = self.array_atoms.get(atom);
            if self.may_end(atom, count) && !(search.more && items.is_empty()) {
                let differ = !this.unique
                    || (items.len() < 2 && items.first().is_none_or(|(_, times)| *times < 2) && search.seen.is_empty())
                    || search.can_differ(self, items, count);
                if !differ {
                    items.truncate(start);
                }
                return differ;
            }
            if search.steps > MAX_STEPS || self.takes_too_long() || this.max.is_some_and(|max| count >= max) {
                items.truncate(start);
                return false;
            }
            let own = self.item_form(atom, index);
            let missing = this.min.saturating_sub(count).max(1);
            if this.contains.is_empty() {
                if search.cost(self, own) == NEVER {
                    items.truncate(start);
                    return false;
                }
                // From the prefix on all items are alike.
                let times = if index >= self.prefix_len(atom) { missing } else { 1 };
                items.push((own, times));
                (index, count) = (index.saturating_add(times), count.saturating_add(times));
                continue;
            }
            let counted = self.counted_forms(atom, index);
            if counted.is_empty() {
                if search.cost(self, own) == NEVER {
                    items.truncate(start);
                    return false;
                }
                items.push((own, 1));
                (index, count) = (index.saturating_add(1), count.saturating_add(1));
                continue;
            }
            let left = this.min.saturating_sub(count);
            // Where items must differ, what came before matters too.
            if !this.unique && !search.failed.insert((atom, index.min(self.prefix_len(atom)), left)) {
                items.truncate(start);
                return false;
            }
            // Each counted form is satisfied or not; those owed are satisfied first.
            let is_owed = |bit: usize| this.contains[counted.place(bit)].min > 0;
            let satisfied = |set: &u32, owed: bool| {
                (0..counted.bits()).filter(|bit| set >> bit & 1 == 1 && is_owed(*bit) == owed).count()
            };
            let owed = |set: &u32| satisfied(set, true);
            let spare = |set: &u32| satisfied(set, false);
            let mut sets: Vec<u32> = counted.sets().collect();
            sets.sort_by_key(|set| (std::cmp::Reverse(owed(set)), spare(set)));
            let promised = search.more && items.is_empty();
            let alike = index >= self.prefix_len(atom) && left == 0 && !promised;
            for set in sets {
                if alike && owed(&set) == 0 {
                    // One more item that nothing asks for leads nowhere.
                    continue;
                }
                self.count_steps(1);
                let satisfies = |place: u32| counted.satisfies(set, place);
                let Some(after) = self.after_item(atom, &satisfies, &satisfies) else { continue };
                let form = self.counted_as(own, &counted, set, u32::MAX);
                if search.cost(self, form) == NEVER {
                    continue;
                }
                let before = items.len();
                items.push((form, 1));
                if this.unique && !search.can_differ(self, items, count.saturating_add(1)) {
                    items.truncate(before);
                    continue;
                }
                if self.place_items(search, after, index.saturating_add(1), count.saturating_add(1), items) {
                    return true;
                }
                items.truncate(before);
            }
            items.truncate(start);
            return false;
        }
    }

    /// The cost of an array from its start, given the costs of the forms it needs.
    pub(super) fn array_cost_with(&self, atom: u32, known: Option<&Known<'_>>) -> u32 {
        self.array_plan(atom, 0, 0, known).map_or(NEVER, |plan| self.within_limit(add(plan.cost, 2)))
    }

    pub(super) fn array_cost(&self, atom: u32) -> u32 {
        self.array_cost_with(atom, None)
    }
}
