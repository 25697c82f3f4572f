//! Items that must differ from each other, or must not: which values are left for an item, and for those after it.
//!
//! A frame for an item keeps the item's text and the canonical texts of the items before it. Where so few values are left that they
//! matter, every byte of an item is held against them: an item stays alive while some value that is left begins so, which the
//! automaton of that one value tells, whatever its spelling.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

use super::JsonAutomaton;
use super::array::{ArrayAtom, ArrayState};
use super::array_plan::ArrayPlan;
use super::equality::canonical;
use super::few::{FewValue, Values, cap_of};
use super::form::{Form, FormId};
use super::keys::KeyRef;
use super::liveness::{Known, NEVER};
use super::object::{Member, OFF};
use super::situation::{ArrayAlt, Await, Goal, Situation};
use super::step::{enclosing, frame_on};
use crate::automaton::{State, Step};
use crate::frames::{Frame, FrameId, Frames, KeySet, Watch};
use crate::interner::to_u32;
use crate::lang::LangState;

/// The items of an array so far, by their canonical texts, and perhaps one more.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    seq: Option<(&'a Frames, KeySet)>,
    more: Option<&'a str>,
}

impl<'a> Seen<'a> {
    pub(super) const NOTHING: Self = Self { seq: None, more: None };

    pub(super) fn new(seq: &'a Frames, items: KeySet) -> Self {
        Self { seq: (!items.is_empty()).then_some((seq, items)), more: None }
    }

    fn and(self, item: &'a str) -> Self {
        Self { more: Some(item), ..self }
    }

    pub(super) fn is_empty(self) -> bool {
        self.seq.is_none() && self.more.is_none()
    }

    fn contains(self, item: &str) -> bool {
        self.more == Some(item) || self.seq.is_some_and(|(seq, items)| seq.contains_key(items, item.as_bytes()))
    }

    /// The items as values, each once.
    fn values(self) -> Vec<Value> {
        // What is read here is every walk's past.
        let old = self.seq.into_iter().flat_map(|(seq, items)| {
            seq.note_dynamic();
            seq.keys(items)
        });
        old.chain(self.more.map(str::as_bytes)).filter_map(|text| serde_json::from_slice(text).ok()).collect()
    }
}

/// What an alternative asks of the item that is being read.
enum Asked {
    /// To be one of the values of a form that are left.
    OneOf(FormId, Vec<Value>),
    /// Only to satisfy a form.
    Any(FormId),
}

impl Asked {
    /// The forms to satisfy, of which any will do.
    fn forms(&self, automaton: &JsonAutomaton) -> impl Iterator<Item = FormId> {
        let (form, values, of) = match self {
            Self::OneOf(of, values) => (None, &**values, *of),
            Self::Any(form) => (Some(*form), &[][..], *form),
        };
        form.into_iter().chain(values.iter().map(move |value| automaton.spelled_form(of, value)))
    }
}

/// Why items can't be values that differ from each other and from those seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alike {
    /// There are too few values.
    Surely,
    /// Too few were found, and not all were looked at.
    Perhaps,
}

/// Texts that are looked at for one that makes an item new.
const MAX_TRIED: usize = 256;
/// And where there are many alternatives, times these.
const MOST_READ: usize = 1 << 12;
/// But so many are.
const LEAST_TRIED: usize = 4;
/// Known keys that are looked at for one whose value makes an item new.
const KEYS_LOOKED_AT: usize = 4;
/// Values inside one another that are completed one after another.
const MAX_ROUNDS: u32 = 64;
/// Values that are looked at for each item of a plan.
const MAX_SLOTS: usize = 1 << 12;

impl JsonAutomaton {
    /// Whether alternatives compare the items of an array.
    pub(super) fn compares(&self, state: &ArrayState) -> bool {
        self.comparing && state.alts.iter().any(|(_, atom)| self.array_atoms.get(*atom).compares())
    }

    /// Whether an array can be completed after `count` items, `seen`; with `more`, by one more item at least.
    pub(super) fn can_complete(&self, atom: u32, index: u32, count: u32, seen: Seen<'_>, more: bool) -> bool {
        let this = self.array_atoms.get(atom);
        if !this.compares() {
            return true;
        }
        if this.unique && this.contains.is_empty() {
            let needed = this.min.saturating_sub(count).max(u32::from(more));
            if needed == 0 || (needed == 1 && seen.is_empty()) {
                return true;
            }
            let values = |form, cap| self.some_values(form, cap);
            let items = self.next_items(atom, index, needed);
            return self.noted(Self::differing(&items, this.min.max(count), seen, values)).is_some();
        }
        self.array_plan_of(atom, index, count, more, seen, None).is_some()
    }

    /// The forms of the next items, each with how often.
    fn next_items(&self, atom: u32, index: u32, needed: u32) -> Vec<(FormId, u32)> {
        let prefix = self.prefix_len(atom);
        let own = prefix.saturating_sub(index).min(needed);
        let mut forms: Vec<(FormId, u32)> = (0..own).map(|i| (self.item_form(atom, index + i), 1)).collect();
        if needed > own {
            forms.push((self.item_form(atom, index.max(prefix)), needed - own));
        }
        forms
    }

    /// A value for each item whose form has few, by the item's place among all: they differ from each other and from those seen, in
    /// an array of so many. `values_of` gives all values of a form, or more than so many.
    pub(super) fn differing(
        forms: &[(FormId, u32)],
        items: u32,
        seen: Seen<'_>,
        mut values_of: impl FnMut(FormId, usize) -> Arc<Values>,
    ) -> Result<FxHashMap<usize, Value>, Alike> {
        let cap = cap_of(items);
        let total = forms.iter().map(|(_, times)| *times as usize).sum::<usize>();
        if total < 2 && seen.is_empty() {
            return Ok(FxHashMap::default());
        }
        let mut open = false;
        let mut slots: Vec<(usize, Vec<FewValue>)> = Vec::new();
        let mut at = 0;
        for &(form, times) in forms {
            let times = times as usize;
            let values = values_of(form, cap);
            let left = || values.list.iter().filter(|value| !seen.contains(&value.key));
            // Others than those found are not relied on where there may be none.
            if values.complete || values.unsure && left().count() < total {
                let left: Vec<FewValue> = left().cloned().collect();
                let few = left.len() < times;
                if few && values.complete {
                    return Err(Alike::Surely);
                }
                if few || slots.len() > MAX_SLOTS {
                    return Err(Alike::Perhaps);
                }
                open |= !values.complete;
                slots.extend((0..times).map(|i| (at + i, left.clone())));
            }
            at += times;
        }
        let owner = matching(&slots).ok_or(if open { Alike::Perhaps } else { Alike::Surely })?;
        let values = owner.into_iter().filter_map(|(key, slot)| {
            let (place, list) = slots.get(slot)?;
            Some((*place, list.iter().find(|value| value.key == key)?.value.clone()))
        });
        Ok(values.collect())
    }

    /// What was found; where something might have been overlooked, that is noted.
    pub(super) fn noted<T>(&self, found: Result<T, Alike>) -> Option<T> {
        if matches!(found, Err(Alike::Perhaps)) {
            self.note_undecided();
        }
        found.ok()
    }

    /// A plan whose items are values that differ from each other and from those seen.
    pub(super) fn with_distinct(&self, plan: &ArrayPlan, items: u32, seen: Seen<'_>) -> Option<ArrayPlan> {
        let total = plan.items.iter().map(|(_, times)| *times).fold(items, u32::saturating_add);
        let chosen = Self::differing(&plan.items, total, seen, |form, cap| self.some_values(form, cap));
        let chosen = self.noted(chosen)?;
        let mut used: FxHashSet<String> = seen.values().iter().chain(chosen.values()).map(canonical).collect();
        let mut forms = Vec::new();
        for (form, times) in &plan.items {
            for _ in 0..*times {
                let value = match chosen.get(&forms.len()) {
                    Some(value) => value.clone(),
                    None => self.fresh_value(*form, &used)?,
                };
                used.insert(canonical(&value));
                forms.push((self.spelled_form(*form, &value), 1));
            }
        }
        Some(ArrayPlan { items: forms, cost: plan.cost })
    }

    /// A cheapest value of a form that has one.
    fn cheapest_value(&self, form: FormId) -> Option<Arc<FewValue>> {
        self.cheapest_values.get_or(form, || {
            let value = serde_json::from_str(&self.spell_form(form)).ok()?;
            Some(Arc::new(FewValue { key: canonical(&value), value }))
        })
    }

    /// A value of a form that is none of those used.
    fn fresh_value(&self, form: FormId, used: &FxHashSet<String>) -> Option<Value> {
        let cheapest = self.cheapest_value(form)?;
        if !used.contains(&cheapest.key) {
            return Some(cheapest.value.clone());
        }
        let values = self.some_values(form, cap_of(to_u32(used.len())));
        let fresh = values.list.iter().filter(|value| !used.contains(&value.key));
        let found =
            fresh.min_by_key(|value| self.cost(self.spelled_form(form, &value.value))).map(|value| value.value.clone());
        found.or_else(|| {
            // None of those that were looked at: one that is none of those used, then.
            let used = used.iter().filter_map(|text| serde_json::from_str::<Value>(text).ok());
            let others = used.filter(|value| self.is_value_of(form, value)).map(|v| self.not_form(self.value_form(&v)));
            let form = self.all_of([form].into_iter().chain(others));
            if self.cost(form) == NEVER { None } else { Some(self.cheapest_value(form)?.value.clone()) }
        })
    }

    /// How to complete an array in which two items must be equal.
    pub(super) fn repeating_plan(
        &self,
        atom: u32,
        index: u32,
        count: u32,
        seen: Seen<'_>,
        known: Option<&Known<'_>>,
    ) -> Option<ArrayPlan> {
        let cost = |form: FormId| self.cost_by(known, form);
        let this = self.array_atoms.get(atom);
        if !this.contains.is_empty() {
            self.note_undecided();
            return None;
        }
        // From the prefix on, all items are alike: two more places say all.
        let ahead = self.prefix_len(atom).saturating_sub(index).saturating_add(2);
        let places = this.max.map_or(ahead, |max| max.saturating_sub(count).min(ahead));
        let own: Vec<FormId> = (0..places).map(|i| self.item_form(atom, index.saturating_add(i))).collect();
        let live = own.iter().take_while(|form| cost(**form) != NEVER).count();
        let mut best: Option<Vec<(usize, FormId)>> = None;
        for place in 0..live {
            let again = seen
                .values()
                .iter()
                .filter(|value| self.is_value_of(own[place], value))
                .map(|value| self.spelled_form(own[place], value))
                .find(|form| cost(*form) != NEVER);
            if let Some(form) = again {
                best = Some(vec![(place, form)]);
                break;
            }
            let pair = (place + 1..live).find_map(|other| {
                let form = self.all_of([own[place], own[other]]);
                let [mut one, mut two] = [form; 2];
                if known.is_none() && own[place] != own[other] && cost(form) != NEVER {
                    // Both leave less room for digits, perhaps, than they do together.
                    let value = self.cheapest_value(form)?;
                    [one, two] = [place, other].map(|at| self.spelled_form(own[at], &value.value));
                }
                (cost(one) != NEVER && cost(two) != NEVER).then(|| vec![(place, one), (other, two)])
            });
            if pair.is_some() {
                best = pair;
                break;
            }
        }
        let chosen = best?;
        let last = chosen.last().map_or(0, |(place, _)| place + 1);
        let mut items: Vec<(FormId, u32)> = (0..last)
            .map(|place| (chosen.iter().find(|(p, _)| *p == place).map_or(own[place], |(_, form)| *form), 1))
            .collect();
        let placed = to_u32(last);
        let missing = this.min.saturating_sub(count.saturating_add(placed));
        if missing > 0 {
            items.extend(self.next_items(atom, index.saturating_add(placed), missing));
        }
        self.priced(items, known)
    }

    /// The frame of an item that is about to be read.
    pub(super) fn item_frame(&self, seq: &Frames, state: State, array: u32, member: Member) -> Frame {
        let frame = frame_on(seq, state.frame, member.awaits, state.c, KeySet::EMPTY);
        let this = self.array_states.get(array);
        if !self.compares(this) {
            return frame;
        }
        let keys = KeySet::from_word(state.b);
        // Without items before it, an item is held back only by those after it.
        let tight = |atom: &ArrayAtom| {
            atom.repeats || atom.unique && (!atom.contains.is_empty() || (atom.min > 1 && !atom.groups.is_empty()))
        };
        let is_held = !keys.is_empty() || this.alts.iter().any(|(_, atom)| tight(self.array_atoms.get(*atom)));
        let own = if is_held { Watch::Compare } else { Watch::Keep };
        Frame { keys, text: seq.kept_end(), watch: frame.watch.max(own), ..frame }
    }

    /// The end of an item that is compared: `last` is its last byte, where that is not kept yet.
    pub(super) fn close_item(&self, seq: &mut Frames, frame: Frame, tags: u32, last: Option<u8>) -> Step {
        let mut text = seq.kept_from(frame.text).to_vec();
        text.extend(last);
        let Ok(value) = serde_json::from_slice::<Value>(&text) else { return Step::Dead };
        let key = canonical(&value);
        let before = seq.kept_before_walk(frame.text);
        let repeated = seq.finds_key(frame.keys, key.as_bytes(), |old| may_become(before, old));
        let Some(id) = self.pop(frame.state, tags, repeated) else { return Step::Dead };
        let Situation::ArrayNext { array } = self.situations.get(id) else { return Step::Dead };
        let keys = if repeated { frame.keys } else { insert(seq, frame.keys, &key) };
        let count = frame.count.saturating_add(1);
        let Some(array) = self.array_that_ends(seq, *array, count, keys) else { return Step::Dead };
        let id = self.situations.intern(Situation::ArrayNext { array });
        Step::To(State { id, a: 0, b: keys.to_word(), c: count, frame: frame.parent })
    }

    /// The state in which only the alternatives are left that have enough different items; `None` where none has.
    fn array_that_ends(&self, seq: &Frames, array: u32, count: u32, items: KeySet) -> Option<u32> {
        self.array_with(array, |state, atom| self.can_complete(atom, state.index, count, Seen::new(seq, items), false))
    }

    /// After a byte was read: keeps it where a frame asks for that, and finds out whether the items being read are still alive.
    pub(super) fn watched(&self, seq: &mut Frames, step: Step, byte: u8) -> Step {
        let Step::To(next) = step else { return step };
        if self.watch_at(seq, next) == Watch::Nothing {
            return step;
        }
        seq.keep(byte);
        let mut at = next.frame;
        while !at.is_none() {
            let frame = seq.peek(at);
            if frame.watch != Watch::Compare {
                break;
            }
            if frame.text != Frame::UNKEPT && !self.is_item_live(seq, at, next) {
                return Step::Dead;
            }
            at = frame.parent;
        }
        step
    }

    /// What is done with the bytes that are read: they are kept, or held against other items.
    pub(super) fn watch_at(&self, seq: &Frames, state: State) -> Watch {
        if self.comparing && !state.frame.is_none() { seq.peek(state.frame).watch } else { Watch::Nothing }
    }

    fn is_item_live(&self, seq: &Frames, id: FrameId, state: State) -> bool {
        let frame = seq.frame(id);
        let Some(asked) = self.asked_of_item(seq, &frame) else { return self.is_new_possible(seq, id, state) };
        asked.iter().any(|asked| {
            let reads = asked.forms(self).any(|form| self.item_with(seq, &frame, form).is_some());
            // What is only asked to satisfy a form has to be new all the same.
            reads && (matches!(asked, Asked::OneOf(..)) || self.is_new_possible(seq, id, state))
        })
    }

    /// Whether an item that has many values by its form can still become one that was not seen.
    fn is_new_possible(&self, seq: &Frames, id: FrameId, state: State) -> bool {
        let frame = seq.frame(id);
        let text = seq.kept_from(frame.text);
        let asks = match self.awaits.get(frame.state) {
            Await::Array { alts, active, .. } => {
                alts.iter().filter(|alt| alt.tag < *active).all(|alt| self.array_atoms.get(alt.base).unique)
            }
            Await::Object { .. } => false,
        };
        if !asks {
            return true;
        }
        let needed = self.needed_later(seq, &frame);
        if self.is_free(state, (frame.count as usize).saturating_add(needed.len())) {
            return true;
        }
        // Other items can't be repeated any more, and other values not taken from items that need them.
        let taken = seq.keys(frame.keys).chain(needed.iter().map(|value| value.key.as_bytes()));
        let near: Vec<&[u8]> = taken.filter(|old| may_become(text, old)).collect();
        if near.is_empty() || self.is_free(state, near.len()) {
            return true;
        }
        seq.note_dynamic();
        if state.frame == id
            && let Some(live) = self.is_string_left(text, &near, state)
        {
            return live;
        }
        if self.closes(seq.clone(), state, &frame) || self.fresh_items(seq, &frame, &needed).next().is_some() {
            return true;
        }
        let read = |seq: &mut Frames, state: State, byte: u8| {
            let Step::To(next) = self.step_byte(seq, state, byte) else { return None };
            if enclosing(seq, next.frame) <= frame.depth {
                return None;
            }
            seq.keep(byte);
            Some(next)
        };
        let end = |seq: &Frames, state: State, _: &[u8]| self.closes(seq.clone(), state, &frame).then_some(());
        // Each of them is read by all alternatives.
        let most = (MOST_READ / self.alternatives_at(state).max(1)).clamp(LEAST_TRIED, MAX_TRIED);
        self.nearest(seq, state, most, read, end)
            .unwrap_or_else(|_| {
                self.note_undecided();
                None
            })
            .is_some()
    }

    /// How many alternatives are read side by side.
    fn alternatives_at(&self, state: State) -> usize {
        match self.situations.get(state.id) {
            Situation::Strings { alts, .. } => alts.len(),
            Situation::Number { alts, .. } | Situation::LongNumber { alts, .. } => alts.len(),
            Situation::ArrayOpen { array } | Situation::ArrayNext { array } | Situation::ArrayComma { array } => {
                self.array_states.get(*array).alts.len()
            }
            Situation::ObjectOpen { object }
            | Situation::ObjectNext { object }
            | Situation::ObjectComma { object }
            | Situation::Key { object, .. } => self.object_states.get(*object).alts.len(),
            _ => 1,
        }
    }

    /// The values that are found for an item where it must be a new one and none of those that are needed, of those that its text
    /// begins: each read so far as the text goes.
    fn fresh_items(&self, seq: &Frames, frame: &Frame, needed: &[FewValue]) -> impl Iterator<Item = (Frames, State)> {
        let seen = Seen::new(seq, frame.keys);
        let begun = whole_of(seq.kept_from(frame.text));
        let mut values: Vec<(FormId, Value)> = Vec::new();
        if let Await::Array { alts, goal, active, .. } = self.awaits.get(frame.state) {
            let goal = self.goal(*goal);
            let ways = alts.iter().filter(|alt| alt.tag < *active).flat_map(|alt| &alt.ways);
            let forms = ways.filter_map(|(tag, _)| goal.forms.get(usize::from(*tag)));
            for form in forms {
                let cap = cap_of(frame.count);
                let some = match &begun {
                    Some(begun) => self.values_that_begin(*form, cap, begun),
                    None => self.some_values(*form, cap),
                };
                let fresh = some.list.iter().filter(|value| !seen.contains(&value.key) && !needed.contains(value));
                values.extend(fresh.map(|value| (*form, value.value.clone())));
            }
        }
        values.into_iter().filter_map(move |(form, value)| self.item_with(seq, frame, self.spelled_form(form, &value)))
    }

    /// Whether an item that is a string, of which this much was read, can become one that is not taken; `None` where that is not told
    /// by counting.
    fn is_string_left(&self, text: &[u8], taken: &[&[u8]], state: State) -> Option<bool> {
        let alts: Vec<u32> = match self.situations.get(state.id) {
            Situation::String { max: None, .. } => vec![state.c],
            Situation::Strings { alts, active } if alts.iter().all(|alt| alt.max.is_none()) => {
                alts.iter().filter(|alt| alt.tag < *active).map(|alt| alt.state).collect()
            }
            _ => return None,
        };
        if state.b != 0 || text.contains(&b'\\') {
            return None;
        }
        Some(alts.into_iter().any(|lang| {
            let start = LangState::from_id(lang);
            let rests = taken.iter().filter_map(|old| old.strip_prefix(text)?.strip_suffix(b"\""));
            let is_completion = |rest: &&[u8]| {
                // An escape in a canonical text is one character.
                let Ok(rest) = serde_json::from_slice::<String>(&[b"\"", *rest, b"\""].concat()) else { return false };
                let end = rest.bytes().try_fold(start, |state, byte| self.langs.step(state, byte));
                end.is_some_and(|state| self.langs.is_accepting(state))
            };
            let seen = u64::try_from(rests.filter(is_completion).count()).unwrap_or(u64::MAX);
            self.langs.count(start, seen.saturating_add(1)) > seen
        }))
    }

    /// Whether so many different values are still possible, as far as that is seen at once.
    fn is_free(&self, state: State, seen: usize) -> bool {
        let count = u64::try_from(seen).unwrap_or(u64::MAX);
        let many = |lang: u32| self.langs.count(LangState::from_id(lang), count.saturating_add(1)) > count;
        match self.situations.get(state.id) {
            Situation::String { max: None, .. } => many(state.c),
            Situation::Strings { alts, active } => {
                alts.iter().any(|alt| alt.tag < *active && alt.max.is_none() && many(alt.state))
            }
            Situation::Key { object, .. } => {
                let machine = self.machines.get(self.object_states.get(*object).machine);
                let ranks = self.allowed_keys(*object);
                state.c != OFF && many(state.c)
                    || self.has_free_member(*object, machine.keys_below(state.a, ranks), seen)
            }
            Situation::ObjectOpen { object } | Situation::ObjectNext { object } | Situation::ObjectComma { object } => {
                let machine = self.machines.get(self.object_states.get(*object).machine);
                let ranks = self.allowed_keys(*object);
                self.spells_joint()
                    && (self.other_keys(*object).is_some_and(|start| many(start.id()))
                        || self.has_free_member(*object, machine.keys_below(0, ranks), seen))
            }
            Situation::Value { goal, .. } | Situation::Colon { goal, .. } => self.is_free_goal(*goal, seen),
            _ => false,
        }
    }

    /// Whether one of the first known keys can come with so many different values.
    fn has_free_member(&self, object: u32, keys: impl Iterator<Item = u32>, seen: usize) -> bool {
        keys.take(KEYS_LOOKED_AT)
            .filter_map(|key| self.object_member(object, KeyRef::Known(key)))
            .any(|member| self.is_free_goal(member.goal, seen))
    }

    /// Whether a value has more alternatives than so many.
    fn is_free_goal(&self, goal: u32, seen: usize) -> bool {
        let goal = self.goal(goal);
        let cap = cap_of(to_u32(seen));
        goal.forms.iter().take(usize::from(goal.active)).any(|form| self.few_values(*form, cap).is_none())
    }

    /// Whether the shortest way to an item's end leads to one that was not seen.
    fn closes(&self, mut seq: Frames, mut state: State, frame: &Frame) -> bool {
        // A value in a value takes a round.
        for _ in 0..MAX_ROUNDS {
            for byte in self.rest_of_item(&seq, state) {
                let Step::To(next) = self.step_byte(&mut seq, state, byte) else { return false };
                if enclosing(&seq, next.frame) <= frame.depth {
                    return true;
                }
                seq.keep(byte);
                state = next;
            }
            let Step::To(next) = self.after_number(&mut seq, state) else { return false };
            if enclosing(&seq, next.frame) <= frame.depth {
                return true;
            }
            state = next;
        }
        false
    }

    /// The configuration after a number, which ends before the byte after it; the same where the state is in none.
    pub(super) fn after_number(&self, seq: &mut Frames, state: State) -> Step {
        let tags = match self.situations.get(state.id) {
            Situation::Number { alts, active } => self.answer(self.number_tags(alts), *active),
            Situation::LongNumber { alts, active } => self.answer(self.long_tags(seq, alts, state), *active),
            _ => return Step::To(state),
        };
        self.close(seq, state.frame, tags, None)
    }

    /// What the alternatives that keep an array alive ask of the item that is being read; `None` where that is no more than is
    /// looked after anyway.
    fn asked_of_item(&self, seq: &Frames, frame: &Frame) -> Option<Vec<Asked>> {
        let Await::Array { alts, index, goal, active, .. } = self.awaits.get(frame.state) else { return None };
        let seen = Seen::new(seq, frame.keys);
        let goal = self.goal(*goal);
        let mut asked = Vec::new();
        let mut held = false;
        for alt in alts.iter().filter(|alt| alt.tag < *active) {
            for (tag, _) in &alt.ways {
                let Some(form) = goal.forms.get(usize::from(*tag)).copied() else { continue };
                match self.values_left(alt, form, *index, frame.count.saturating_add(1), seen) {
                    Some(values) => {
                        held = true;
                        asked.push(Asked::OneOf(form, values));
                    }
                    None => asked.push(Asked::Any(form)),
                }
            }
        }
        held.then_some(asked)
    }

    /// The values of a form that the item before `index`, the `count`th, can have for an alternative; `None` where they are not few.
    fn values_left(&self, alt: &ArrayAlt, form: FormId, index: u32, count: u32, seen: Seen<'_>) -> Option<Vec<Value>> {
        let this = self.array_atoms.get(alt.base);
        if this.unique {
            let few = self.few_values(form, cap_of(this.min.max(count)))?;
            let left = few
                .list
                .iter()
                .filter(|value| !seen.contains(&value.key) && self.leaves_others(alt, index, count, seen, value));
            return Some(left.map(|value| value.value.clone()).collect());
        }
        if this.repeats {
            // A new value will do where a later item can repeat it, or another one.
            let later =
                (0..=self.prefix_len(alt.base).saturating_sub(index)).map(|i| self.item_form(alt.base, index + i));
            let room = this.max.map_or(u32::MAX, |max| max.saturating_sub(count));
            let own = self.item_form(alt.base, index.saturating_sub(1));
            let is_wide = |later: FormId| later == own || matches!(self.forms.get(later.0), Form::True);
            if later.take(room as usize).any(is_wide) || self.can_complete(alt.base, index, count, seen, false) {
                return None;
            }
            return Some(seen.values());
        }
        None
    }

    /// Whether an array can be completed after a value as the item before `index`, the `count`th.
    fn leaves_others(&self, alt: &ArrayAlt, index: u32, count: u32, seen: Seen<'_>, value: &FewValue) -> bool {
        let this = self.array_atoms.get(alt.base);
        let counted = |i: u32| {
            let form = this.contains.get(i as usize).map(|c| c.form);
            alt.bits.iter().any(|bit| bit.index == i) && form.is_some_and(|f| self.is_value_of(f, &value.value))
        };
        let after = self.after_item(alt.base, &counted, &counted);
        after.is_some_and(|after| self.can_complete(after, index, count, seen.and(&value.key), false))
    }

    /// The values that the item being read can't be because items after it need them.
    fn needed_later(&self, seq: &Frames, frame: &Frame) -> Vec<FewValue> {
        let Await::Array { alts, index, active, .. } = self.awaits.get(frame.state) else { return Vec::new() };
        let count = frame.count.saturating_add(1);
        let seen = Seen::new(seq, frame.keys);
        let active = || alts.iter().filter(|alt| alt.tag < *active);
        let mut needed: Vec<FewValue> = Vec::new();
        for alt in active() {
            for value in self.values_later(alt.base, *index, count).iter() {
                let is_needed = || active().all(|alt| !self.leaves_others(alt, *index, count, seen, value));
                if !needed.contains(value) && !seen.contains(&value.key) && is_needed() {
                    needed.push(value.clone());
                }
            }
        }
        needed
    }

    /// The values of items from `index` on that have few, where items must come after the first `count`.
    fn values_later(&self, atom: u32, index: u32, count: u32) -> Arc<[FewValue]> {
        let this = self.array_atoms.get(atom);
        let missing = this.min.saturating_sub(count);
        if !this.unique || missing == 0 && this.contains.iter().all(|counted| counted.min == 0) {
            return Arc::default();
        }
        self.later_values.get_or((atom, index, count), || {
            let owed = this.contains.iter().fold(missing, |sum, counted| sum.saturating_add(counted.min));
            let last = self.prefix_len(atom).max(index);
            let mut found: Vec<FewValue> = Vec::new();
            for at in (index..=last).take(owed as usize) {
                let own = self.item_form(atom, at);
                let counted = self.counted_forms(atom, at);
                for form in counted.sets().map(|set| self.counted_as(own, &counted, set, u32::MAX)) {
                    let few = self.few_values(form, cap_of(this.min.max(count)));
                    for value in few.iter().flat_map(|few| &few.list) {
                        if !found.contains(value) {
                            found.push(value.clone());
                        }
                    }
                }
            }
            found.into()
        })
    }

    /// A sequence and a state in which the text of a frame's item was read as a value of `form` alone.
    fn item_with(&self, seq: &Frames, frame: &Frame, form: FormId) -> Option<(Frames, State)> {
        let Await::Array { goal, .. } = self.awaits.get(frame.state) else { return None };
        let goal = self.goals.intern(Goal::new(vec![form], 1, self.goal(*goal).position));
        let mut own = Frames::new();
        let id = own.push(self.lone_frame(goal, frame.depth));
        let mut state = State { id: 0, a: 0, b: 0, c: 0, frame: id };
        for (at, &byte) in seq.kept_from(frame.text).iter().enumerate() {
            let step = if at == 0 {
                self.open_item(&mut own, state, goal, byte)
            } else {
                let step = self.step_byte(&mut own, state, byte);
                self.watched(&mut own, step, byte)
            };
            let Step::To(next) = step else { return None };
            state = next;
        }
        Some((own, state))
    }

    /// The first byte of an item.
    fn open_item(&self, seq: &mut Frames, state: State, goal: u32, byte: u8) -> Step {
        let step = self.open_value(seq, state, goal, byte, true);
        self.watched(seq, step, byte)
    }

    /// A frame that waits for one item of an array that asks nothing more.
    fn lone_frame(&self, goal: u32, depth: u32) -> Frame {
        let atom = self.array_atoms.intern(ArrayAtom::default());
        let alt = ArrayAlt { tag: 0, ways: Box::new([(0, atom)]), base: atom, bits: Box::default() };
        let alts = Box::new([alt]);
        let state = self.awaits.intern(Await::Array { alts, goal, index: 0, position: 0, active: u16::MAX });
        let keys = KeySet::EMPTY;
        Frame { parent: FrameId::NONE, state, count: 0, depth, keys, text: Frame::UNKEPT, watch: Watch::Nothing }
    }

    /// Texts that complete the item that is being read with one of the values that are left for it.
    pub(super) fn rests_of_left(&self, seq: &Frames, id: FrameId) -> Vec<Vec<u8>> {
        let frame = seq.peek(id);
        let asked = self.asked_of_item(seq, &frame);
        let is_any = asked.as_ref().is_none_or(|asked| asked.iter().any(|asked| matches!(asked, Asked::Any(_))));
        let fresh = is_any.then(|| self.fresh_items(seq, &frame, &[])).into_iter().flatten();
        let forms = asked.iter().flatten().flat_map(|asked| asked.forms(self));
        let read = forms.filter_map(|form| self.item_with(seq, &frame, form)).chain(fresh);
        read.map(|(own, state)| self.rest_of_item(&own, state)).collect()
    }
}

/// A set with one more item.
fn insert(seq: &mut Frames, items: KeySet, key: &str) -> KeySet {
    let start = seq.text_end();
    for byte in key.bytes() {
        seq.push_text(byte);
    }
    seq.insert_key(items, start)
}

/// Whether a value whose text begins so may be the one with this canonical text.
pub(super) fn may_become(text: &[u8], canonical: &[u8]) -> bool {
    let (Some(first), Some(other)) = (text.first(), canonical.first()) else { return true };
    match first {
        b'"' if text.contains(&b'\\') => *other == b'"',
        b'"' | b't' | b'f' | b'n' => canonical.starts_with(text),
        b'{' | b'[' if first == other => begins_like(text, canonical),
        b'{' | b'[' => false,
        _ => other.is_ascii_digit() || *other == b'-',
    }
}

/// What is whole of a container's text.
pub(super) enum WholePart {
    Array(Vec<Value>),
    /// The members, and the key of the one that is not whole.
    Object(Map<String, Value>, Option<String>),
}

/// What is whole of a container's text; `None` where the text is none of a container.
fn whole_of(text: &[u8]) -> Option<WholePart> {
    let (first, rest) = text.split_first()?;
    let (mut depth, mut in_string, mut escaped, mut end) = (0_u32, false, false, 0);
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => end = at,
            _ => {}
        }
    }
    let (whole, last) = rest.split_at(end);
    match first {
        b'[' => serde_json::from_slice(&[b"[", whole, b"]"].concat()).ok().map(WholePart::Array),
        b'{' => {
            let last = last.strip_prefix(b",").unwrap_or(last);
            let key = serde_json::Deserializer::from_slice(last).into_iter().next().and_then(Result::ok);
            Some(WholePart::Object(serde_json::from_slice(&[b"{", whole, b"}"].concat()).ok()?, key))
        }
        _ => None,
    }
}

/// Whether what is whole of a container's text stands in another container.
fn begins_like(text: &[u8], other: &[u8]) -> bool {
    match (whole_of(text), serde_json::from_slice(other)) {
        (Some(WholePart::Object(begun, key)), Ok(Value::Object(other))) => {
            key.is_none_or(|key| other.contains_key(&key))
                && begun.iter().all(|(key, value)| other.get(key).is_some_and(|v| canonical(v) == canonical(value)))
        }
        // Before a comma nothing says that there is an item.
        (Some(WholePart::Array(begun)), Ok(Value::Array(other))) if !begun.is_empty() => {
            begun.len() < other.len() && begun.iter().zip(&other).all(|(a, b)| canonical(a) == canonical(b))
        }
        _ => true,
    }
}

/// A different value for each slot, as the slot of each value: by augmenting paths.
fn matching(slots: &[(usize, Vec<FewValue>)]) -> Option<FxHashMap<String, usize>> {
    let mut owner: FxHashMap<String, usize> = FxHashMap::default();
    for slot in 0..slots.len() {
        // The values tried, each with the slot that asked for it.
        let mut asked: FxHashMap<&str, usize> = FxHashMap::default();
        let mut open = vec![slot];
        let mut free = None;
        'search: while let Some(at) = open.pop() {
            for value in &slots[at].1 {
                if asked.contains_key(&*value.key) {
                    continue;
                }
                asked.insert(&value.key, at);
                let Some(other) = owner.get(&value.key) else {
                    free = Some(&*value.key);
                    break 'search;
                };
                open.push(*other);
            }
        }
        let mut value = free?;
        loop {
            let at = asked[value];
            let before = owner.iter().find(|(_, slot)| **slot == at).map(|(value, _)| value.clone());
            owner.insert(value.to_owned(), at);
            if at == slot {
                break;
            }
            let before = before?;
            // The slot gives up the value that it had, to the one that asked for it.
            value = asked.get_key_value(&*before).map(|(value, _)| *value)?;
        }
    }
    Some(owner)
}
