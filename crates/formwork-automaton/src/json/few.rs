//! The values of a form, where they are few: what an array of distinct items can run out of.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use formwork_grammar::Decimal;
use rustc_hash::FxHashMap;
use serde_json::{Map, Number, Value};

use super::JsonAutomaton;
use super::array::{ArrayAtom, ArrayGroup, Counted};
use super::distinct::{Alike, WholePart};
use super::equality::canonical;
use super::form::{Form, FormId};
use super::liveness::{Known, NEVER};
use super::object::{ObjectAtom, ObjectGroup};
use super::string::StringAtom;
use crate::interner::to_u32;
use crate::lang::{LangState, preference};

/// A value, and the text that equal ones share.
#[derive(Clone, Debug)]
pub(super) struct FewValue {
    pub(super) key: String,
    pub(super) value: Value,
}

/// As values: `5.00` is `5`, which a comparison of the numbers' texts would tell apart.
impl PartialEq for FewValue {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

/// The values of a form that were found.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    pub(super) list: Vec<FewValue>,
    /// There are no others.
    pub(super) complete: bool,
    /// There may be no others: not all containers were looked at, or those that hold values of their own form were sought among too many.
    pub(super) unsure: bool,
}

/// Containers that are looked at for those that satisfy a form.
const CANDIDATES: usize = 1 << 12;
/// And for all forms of one question together.
const ALL_CANDIDATES: usize = 1 << 18;
/// But so many of each form are, so that none seems to have no values for what others took.
const FEW_CANDIDATES: usize = 1 << 7;
/// Beginnings of strings and numbers that are looked at.
const BEGINNINGS: usize = 1 << 14;
/// And one more for each character that a string must have, up to so many.
const LONG_STRING: u32 = 1 << 16;
/// Items of the arrays that are looked at.
const MOST_ITEMS: usize = 256;
/// Rounds in which values are found that hold others of their own form.
const ROUNDS: usize = 5;
/// Forms that one question looks at.
const MOST_FORMS: usize = 256;
/// Values inside one another.
const DEPTH: u32 = 8;
/// Questions about fewer values than this get the same answer.
const LEAST_CAP: usize = 64;

/// Values found so far.
struct Found {
    cap: usize,
    tried: usize,
    complete: bool,
    unsure: bool,
    list: BTreeMap<String, Value>,
}

impl Found {
    fn new(cap: usize, complete: bool) -> Self {
        Self { cap, tried: 0, complete, unsure: false, list: BTreeMap::new() }
    }

    /// One more value; `None` where they are more than enough.
    fn add(&mut self, value: Value) -> Option<()> {
        self.list.insert(canonical(&value), value);
        (self.list.len() <= self.cap).then_some(())
    }

    /// A value that was found before.
    fn add_known(&mut self, value: &FewValue) -> Option<()> {
        if !self.list.contains_key(&value.key) {
            self.list.insert(value.key.clone(), value.value.clone());
        }
        (self.list.len() <= self.cap).then_some(())
    }

    /// One more candidate; `None` where they are too many. Where all might have been told, `note` is called.
    fn try_one(&mut self, sought: &Sought, note: &dyn Fn()) -> Option<()> {
        self.tried += 1;
        sought.tried.set(sought.tried.get() + 1);
        let all_tried = self.tried > FEW_CANDIDATES && sought.tried.get() > ALL_CANDIDATES;
        if self.tried > CANDIDATES || all_tried {
            if self.complete {
                note();
            }
            return None;
        }
        Some(())
    }

    /// After the values of one alternative, or as many of them as were looked at: what another one has is looked at too, so that what is
    /// found only grows with the forms that have values. `None` where there are more than enough.
    fn next_alternative(&mut self, all: Option<()>) -> Option<()> {
        self.tried = 0;
        self.complete &= all.is_some();
        self.unsure = !self.complete && self.list.len() <= self.cap;
        (self.list.len() <= self.cap).then_some(())
    }

    fn into_values(self) -> Values {
        let unsure = self.unsure || !self.complete && self.list.len() <= self.cap;
        let list = self.list.into_iter().map(|(key, value)| FewValue { key, value }).collect();
        Values { list, complete: self.complete, unsure }
    }
}

/// What one question, or those that the cost of one form leads to, has sought.
#[derive(Default)]
pub(super) struct Sought {
    /// The values found, by form and cap, for as long as no form that had none has some.
    values: RefCell<FxHashMap<(FormId, usize), Arc<Values>>>,
    /// Containers looked at.
    tried: Cell<usize>,
    /// Whether something might have been overlooked.
    open: Cell<bool>,
}

impl Sought {
    pub(super) fn note(&self, alike: Alike) {
        self.open.set(self.open.get() || alike == Alike::Perhaps);
    }

    /// Whether something might have been overlooked since this was last asked.
    pub(super) fn take_open(&self) -> bool {
        self.open.take()
    }

    /// More forms have values than before.
    pub(super) fn forget(&self) {
        self.values.borrow_mut().clear();
    }
}

/// One question, whose answer is put together from parts.
struct Parts<'a> {
    known: &'a dyn Fn(FormId) -> u32,
    sought: &'a Sought,
    depth: u32,
    /// What was found of each form, or nothing yet where that is what is being found.
    memo: &'a RefCell<FxHashMap<FormId, Option<Arc<Values>>>>,
    /// What was found of each form in the round before.
    before: &'a FxHashMap<FormId, Arc<Values>>,
    /// Whether that was asked for.
    asked: &'a Cell<bool>,
}

/// So many values of a form are looked at where an array has so many items, or must have; the same for most numbers of items.
pub(super) fn cap_of(items: u32) -> usize {
    let items = usize::try_from(items).unwrap_or(usize::MAX).saturating_add(2);
    items.checked_next_power_of_two().unwrap_or(usize::MAX).max(LEAST_CAP)
}

impl JsonAutomaton {
    /// All values of a form where they are at most `cap`, otherwise a few more than that.
    pub(super) fn some_values(&self, form: FormId, cap: usize) -> Arc<Values> {
        self.few.get_or((form, cap), || self.find_values(form, cap, &|form| self.cost(form), &Sought::default()))
    }

    /// All values of a form, where they are at most `cap`; `None` where they are more.
    pub(super) fn few_values(&self, form: FormId, cap: usize) -> Option<Arc<Values>> {
        Some(self.some_values(form, cap)).filter(|values| values.complete)
    }

    /// As [`some_values`](Self::some_values), by the costs that are known.
    pub(super) fn values_by(&self, form: FormId, cap: usize, known: Option<&Known<'_>>) -> Arc<Values> {
        let Some((known, sought)) = known.and_then(|known| Some((known, known.sought?))) else {
            return self.some_values(form, cap);
        };
        let found = sought.values.borrow().get(&(form, cap)).cloned();
        found.unwrap_or_else(|| {
            let values = self.find_values(form, cap, known.costs, sought);
            sought.values.borrow_mut().insert((form, cap), values.clone());
            values
        })
    }

    /// Some containers of a form of which this much stands at the beginning, or, in an object, anywhere.
    pub(super) fn values_that_begin(&self, form: FormId, cap: usize, begun: &WholePart) -> Arc<Values> {
        let (known, sought, memo) = (&|form| self.cost(form), &Sought::default(), &RefCell::default());
        let parts =
            Parts { known, sought, depth: DEPTH, memo, before: &FxHashMap::default(), asked: &Cell::new(false) };
        let typed = self.typed(form);
        let mut found = Found::new(cap, false);
        // What is found by then will do.
        let _ = match begun {
            WholePart::Array(items) => {
                let prefix = items.iter().map(|item| self.value_form(item)).collect();
                let group = self.array_groups.intern(ArrayGroup { prefix, rest: self.form(Form::True) });
                let min = to_u32(items.len());
                let begun = ArrayAtom { groups: Box::new([group]), min, ..ArrayAtom::default() };
                typed.arrays.iter().try_for_each(|atom| {
                    let atom = self.meet_arrays(self.array_atoms.get(*atom), &begun);
                    self.add_arrays(self.array_atoms.intern(atom), &parts, &mut found)
                })
            }
            WholePart::Object(members, key) => {
                let id = |key: &String| self.text(key);
                let properties = members.iter().map(|(key, value)| (id(key), self.value_form(value))).collect();
                let mut required: Vec<u32> = members.keys().chain(key).map(id).collect();
                required.sort_unstable();
                required.dedup();
                let (patterns, additional) = (Box::default(), self.form(Form::True));
                let groups = self.object_group(ObjectGroup { properties, patterns, additional });
                let begun = ObjectAtom { groups, required: required.into(), ..ObjectAtom::default() };
                typed.objects.iter().try_for_each(|atom| {
                    let atom = self.meet_objects(self.object_atoms.get(*atom), &begun);
                    self.add_objects(self.object_atoms.intern(atom), &parts, &mut found)
                })
            }
        };
        Arc::new(found.into_values())
    }

    fn find_values(&self, form: FormId, cap: usize, known: &dyn Fn(FormId) -> u32, sought: &Sought) -> Arc<Values> {
        let before = sought.tried.get();
        let values = self.seek_values(form, cap, known, sought);
        self.count_steps(sought.tried.get() - before);
        values
    }

    fn seek_values(&self, form: FormId, cap: usize, known: &dyn Fn(FormId) -> u32, sought: &Sought) -> Arc<Values> {
        // Values that hold others of their own form are found in rounds, each with those of the round before inside.
        let mut before = FxHashMap::default();
        for _ in 0..ROUNDS {
            let parts = Parts {
                known,
                sought,
                depth: DEPTH,
                memo: &RefCell::default(),
                before: &before,
                asked: &Cell::new(false),
            };
            let values = self.values_of(form, cap, &parts);
            if values.list.len() > cap || values.complete && !parts.asked.get() {
                return values;
            }
            if sought.tried.get() > ALL_CANDIDATES {
                // Where too little was looked at, what was found is all that is relied on.
                self.note_undecided();
                return Arc::new(Values { complete: false, unsure: true, ..Values::clone(&values) });
            }
            if !parts.asked.get() {
                return values;
            }
            let unsure = |values: Arc<Values>| {
                if values.complete { values } else { Arc::new(Values { unsure: true, ..Values::clone(&values) }) }
            };
            let found: FxHashMap<FormId, Arc<Values>> =
                parts.memo.take().into_iter().filter_map(|(form, values)| Some((form, values?))).collect();
            let grown = |(form, values): (&FormId, &Arc<Values>)| {
                before.get(form).is_none_or(|before: &Arc<Values>| before.list.len() < values.list.len())
            };
            if !found.iter().any(grown) {
                return unsure(values);
            }
            before = found;
        }
        let list = before.remove(&form).map_or_else(Vec::new, |values| values.list.clone());
        Arc::new(Values { list, complete: false, unsure: true })
    }

    fn values_of(&self, form: FormId, cap: usize, parts: &Parts<'_>) -> Arc<Values> {
        if let Some(values) = parts.memo.borrow().get(&form) {
            let Some(values) = values else {
                parts.asked.set(true);
                let list = parts.before.get(&form).map_or_else(Vec::new, |values| values.list.clone());
                return Arc::new(Values { list, complete: true, unsure: false });
            };
            return values.clone();
        }
        let depth = match parts.depth.checked_sub(1) {
            Some(depth) if parts.memo.borrow().len() < MOST_FORMS => depth,
            _ => return Arc::default(),
        };
        parts.memo.borrow_mut().insert(form, None);
        let mut found = Found::new(cap, true);
        if self.add_values(form, &Parts { depth, ..*parts }, &mut found).is_none() {
            found.complete = false;
        }
        let values = Arc::new(found.into_values());
        parts.memo.borrow_mut().insert(form, Some(values.clone()));
        values
    }

    fn add_values(&self, form: FormId, parts: &Parts<'_>, found: &mut Found) -> Option<()> {
        let typed = self.typed(form);
        if typed.null {
            found.add(Value::Null)?;
        }
        for (bit, value) in [(0b01, false), (0b10, true)] {
            if typed.booleans & bit != 0 {
                found.add(Value::Bool(value))?;
            }
        }
        for atom in &typed.numbers {
            let numbers = self.few_numbers.get_or((*atom, found.cap), || Arc::new(self.find_numbers(*atom, found.cap)));
            found.complete &= numbers.complete;
            found.unsure |= numbers.unsure;
            numbers.list.iter().try_for_each(|number| found.add_known(number))?;
        }
        for atom in &typed.strings {
            let strings = self
                .few_strings
                .get_or((*atom, found.cap), || Arc::new(self.find_strings(self.string_atoms.get(*atom), found.cap)));
            strings.list.iter().try_for_each(|text| found.add_known(text))?;
            if !strings.complete {
                found.unsure |= strings.unsure;
                return None;
            }
        }
        for atom in &typed.arrays {
            let all = self.add_arrays(*atom, parts, found);
            found.next_alternative(all)?;
        }
        for atom in &typed.objects {
            let all = self.add_objects(*atom, parts, found);
            found.next_alternative(all)?;
        }
        Some(())
    }

    /// All numbers of an atom where they are at most `cap`, else some of the shortest.
    fn find_numbers(&self, atom: u32, cap: usize) -> Values {
        let (numbers, complete) = match self.number_values(atom, cap) {
            Some(numbers) => {
                let numbers = numbers.iter().filter_map(number_of).filter(|number| self.spells_number(atom, number));
                (numbers.map(Value::Number).collect(), true)
            }
            None => self.shortest_numbers(atom, cap),
        };
        let mut found = Found::new(cap, complete);
        // One more than the cap says that they are more.
        let _ = numbers.into_iter().try_for_each(|number| found.add(number));
        found.into_values()
    }

    /// Whether the vocabulary can spell a number of an atom.
    fn spells_number(&self, atom: u32, number: &Number) -> bool {
        let only = || self.number_in(atom, number).map(|only| self.within_table(self.number_atoms.intern(only)));
        self.spells_numbers() || only().is_some_and(|only| self.number_start_cost(only).is_some())
    }

    /// So many different numbers of an atom, the shortest ones, and whether those are all.
    fn shortest_numbers(&self, atom: u32, count: usize) -> (Vec<Value>, bool) {
        // By the length of the shortest number that begins so.
        let whole = |track: u32, text: &[u8]| {
            let rest = self.number_cost(track).unwrap_or(NEVER);
            Reverse(rest.saturating_add(u32::try_from(text.len()).unwrap_or(NEVER)))
        };
        let starts = [(false, Vec::new()), (true, vec![b'-'])].into_iter();
        let mut open: BinaryHeap<(Reverse<u32>, Reverse<Vec<u8>>, u32)> = starts
            .filter_map(|(negative, text)| Some((self.number_start(atom, negative)?, text)))
            .map(|(track, text)| (whole(track, &text), Reverse(text), track))
            .collect();
        let mut out = BTreeMap::new();
        let mut looked_at = 0;
        while let Some((_, Reverse(text), track)) = open.pop() {
            looked_at += 1;
            if out.len() > count || looked_at > BEGINNINGS {
                return (out.into_values().collect(), false);
            }
            if self.number_accepts(track)
                && let Ok(number) = serde_json::from_slice::<Value>(&text)
            {
                out.insert(canonical(&number), number);
            }
            for byte in b"0123456789.eE+-".iter().copied().filter(|byte| self.alphabet.contains(*byte)) {
                let text = [&text[..], &[byte]].concat();
                if let Some(next) = self.step_track(track, byte, text.len()) {
                    open.push((whole(next, &text), Reverse(text), next));
                }
            }
        }
        (out.into_values().collect(), true)
    }

    /// All strings of an atom where they are at most `cap`, else some of the shortest: a best-first search over beginnings, one
    /// further byte at a time.
    fn find_strings(&self, atom: &StringAtom, cap: usize) -> Values {
        let mut found = Found::new(cap, true);
        found.complete = self.add_strings(atom, &mut found).is_some();
        found.into_values()
    }

    fn add_strings(&self, atom: &StringAtom, found: &mut Found) -> Option<()> {
        let Some(start) = self.string_start(atom) else { return Some(()) };
        let bytes = readable_first();
        let mut begun = vec![Begun { state: start, chars: 0, length: 0, from: 0, byte: 0 }];
        // By the length of the shortest string that begins so; the longest beginning first.
        let rest = self.langs.shortest(start).max(atom.min);
        let mut open =
            BinaryHeap::from([Open { whole: Reverse(rest), length: 0, at: Reverse(0), next: 0, more: u32::MAX }]);
        let most = BEGINNINGS + atom.min.min(LONG_STRING) as usize;
        let mut looked_at = 0;
        while let Some(mut this) = open.pop() {
            looked_at += 1;
            if looked_at > most {
                return None;
            }
            let Begun { state, chars, length, .. } = begun[this.at.0];
            let is_whole = self.langs.is_accepting(state) && chars >= atom.min;
            if is_whole && this.next == 0 && this.whole.0 == length {
                found.add(Value::String(text_of(&begun, this.at.0)?))?;
            }
            // The next byte that makes no longer string than this; what longer ones there are comes later.
            let mut further = None;
            for (place, &byte) in bytes.iter().enumerate().skip(this.next) {
                let Some(state) = self.langs.step(state, byte) else { continue };
                let chars = chars + u32::from(super::string::is_first_byte(byte));
                let missing = atom.min.saturating_sub(chars);
                let max = atom.max.map(|max| max.checked_sub(chars));
                if max == Some(None) || !self.langs.can_finish(state, missing, max.flatten()) {
                    continue;
                }
                let rest = self.langs.shortest(state).max(missing);
                let whole = length.saturating_add(1).saturating_add(rest);
                if whole == this.whole.0 {
                    further = Some((place, Begun { state, chars, length: length + 1, from: this.at.0, byte }));
                    break;
                }
                if whole > this.whole.0 {
                    this.more = this.more.min(whole);
                }
            }
            if let Some((place, longer)) = further {
                open.push(Open { next: place + 1, ..this });
                let at = Reverse(begun.len());
                open.push(Open { whole: this.whole, length: longer.length, at, next: 0, more: u32::MAX });
                begun.push(longer);
            } else if this.more < u32::MAX {
                open.push(Open { whole: Reverse(this.more), next: 0, more: u32::MAX, ..this });
            }
        }
        Some(())
    }

    fn add_arrays(&self, atom: u32, parts: &Parts<'_>, found: &mut Found) -> Option<()> {
        let this = self.array_atoms.get(atom);
        let prefix = self.prefix_len(atom);
        let dead = (0..=prefix).find(|index| (parts.known)(self.item_form(atom, *index)) == NEVER);
        let mut most = super::typed::least(this.max, dead);
        let mut lists: Vec<Arc<Values>> = Vec::new();
        for index in 0..most.map_or(prefix + 1, |most| most.min(prefix + 1)) {
            lists.push(self.item_values(this, index, self.item_form(atom, index), found.cap, parts));
        }
        if let Some(rest) = lists.get(prefix as usize)
            && this.unique
            && rest.complete
        {
            let count = to_u32(rest.list.len());
            most = super::typed::least(most, Some(prefix.saturating_add(count)));
        }
        let some = to_u32(found.cap).saturating_add(this.min);
        found.complete &= most.is_some() && lists.iter().all(|values| values.complete);
        let mut ids: FxHashMap<&str, usize> = FxHashMap::default();
        let mut places: Vec<Vec<Item>> = Vec::new();
        for values in &lists {
            let items = values.list.iter().map(|value| {
                let next = ids.len();
                let id = *ids.entry(&value.key).or_insert(next);
                let counts = this.contains.iter().map(|c| self.is_value_of(c.form, &value.value)).collect();
                Item { id, value: value.value.clone(), counts }
            });
            let mut items: Vec<Item> = items.collect();
            // Those that are owed come first.
            let owed =
                |item: &Item| item.counts.iter().zip(&this.contains).filter(|(yes, c)| **yes && c.min > 0).count();
            items.sort_by_key(|item| Reverse(owed(item)));
            places.push(items);
        }
        let mut items = Items { list: Vec::new(), used: vec![0; ids.len()] };
        // The shorter ones first.
        for length in this.min..=most.unwrap_or(some) {
            if length as usize > MOST_ITEMS {
                return None;
            }
            let note = || self.note_undecided();
            if !extend_array(this, length as usize, &places, &mut items, found, parts.sought, &note)? {
                break;
            }
        }
        Some(())
    }

    /// Values of an item's form; where not all were looked at, also of those that satisfy what is owed.
    fn item_values(&self, atom: &ArrayAtom, index: u32, form: FormId, cap: usize, parts: &Parts<'_>) -> Arc<Values> {
        let own = self.values_of(form, cap, parts);
        let mut owed = atom.contains.iter().filter(|c| c.min > 0 && c.from <= index).peekable();
        if own.complete || owed.peek().is_none() {
            return own;
        }
        let mut values = Values::clone(&own);
        for counted in owed {
            let more = self.values_of(self.all_of([form, counted.form]), cap, parts);
            let new: Vec<FewValue> = more.list.iter().filter(|value| !values.list.contains(value)).cloned().collect();
            values.list.extend(new);
        }
        Arc::new(values)
    }

    fn add_objects(&self, atom: u32, parts: &Parts<'_>, found: &mut Found) -> Option<()> {
        let this = self.object_atoms.get(atom);
        let machine_id = self.loose_machine(atom);
        let machine = self.machines.get(machine_id);
        let keys = self.atom_keys(machine_id, atom);
        let required = to_u32(this.required.len());
        let room = this.max.is_none_or(|max| max > required);
        let mut members = Vec::new();
        for (form, key) in keys.forms.iter().zip(&machine.keys) {
            let needed = this.required.binary_search(key).is_ok();
            if !needed && !room || self.key_cost(*key) == NEVER || (parts.known)(*form) == NEVER {
                continue;
            }
            let values = self.values_of(*form, found.cap, parts);
            found.complete &= values.complete;
            members.push((self.texts.get(*key).to_string(), needed, values));
        }
        for (form, class) in keys.classes.iter().zip(&machine.classes) {
            if !room || (parts.known)(*form) == NEVER {
                continue;
            }
            // Keys without number: one value each will do.
            found.complete = false;
            let names = self.find_strings(&StringAtom::of(class.lang), found.cap);
            let list = self.values_of(*form, found.cap, parts).list.iter().take(1).cloned().collect();
            let values = Arc::new(Values { list, complete: false, unsure: false });
            let names = names.list.iter().filter_map(|name| name.value.as_str());
            members.extend(names.map(|name| (name.to_owned(), false, values.clone())));
        }
        // Single members first.
        for (key, _, values) in &members {
            for value in &values.list {
                found.try_one(parts.sought, &|| self.note_undecided())?;
                let object = Map::from_iter([(key.clone(), value.value.clone())]);
                if self.is_object_of(atom, &object) {
                    found.add(Value::Object(object))?;
                }
            }
        }
        members.sort_by_key(|(_, needed, _)| !needed);
        self.extend_object(atom, &members, &mut Map::new(), found, parts)
    }

    fn extend_object(
        &self,
        atom: u32,
        members: &[(String, bool, Arc<Values>)],
        object: &mut Map<String, Value>,
        found: &mut Found,
        parts: &Parts<'_>,
    ) -> Option<()> {
        let this = self.object_atoms.get(atom);
        found.try_one(parts.sought, &|| self.note_undecided())?;
        let Some(((key, needed, values), rest)) = members.split_first() else {
            if self.is_object_of(atom, object) {
                found.add(Value::Object(object.clone()))?;
            }
            return Some(());
        };
        if !needed {
            self.extend_object(atom, rest, object, found, parts)?;
        }
        let count = to_u32(object.len());
        if this.max.is_some_and(|max| count >= max) {
            return Some(());
        }
        for value in &values.list {
            object.insert(key.clone(), value.value.clone());
            self.extend_object(atom, rest, object, found, parts)?;
            object.remove(key);
        }
        Some(())
    }

    /// Whether a value satisfies a form.
    pub(super) fn is_value_of(&self, form: FormId, value: &Value) -> bool {
        let typed = self.typed(form);
        match value {
            Value::Null => typed.null,
            Value::Bool(value) => typed.booleans & if *value { 0b10 } else { 0b01 } != 0,
            Value::Number(number) => Decimal::from_json(number)
                .is_some_and(|number| typed.numbers.iter().any(|atom| self.number_atoms.get(*atom).holds(&number))),
            Value::String(text) => {
                let chars = to_u32(text.chars().count());
                typed.strings.iter().map(|atom| self.string_atoms.get(*atom)).any(|atom| {
                    atom.min <= chars && atom.max.is_none_or(|max| chars <= max) && self.langs.contains(atom.lang, text)
                })
            }
            Value::Array(items) => typed.arrays.iter().any(|atom| self.is_array_of(*atom, items)),
            Value::Object(members) => typed.objects.iter().any(|atom| self.is_object_of(*atom, members)),
        }
    }

    pub(super) fn is_array_of(&self, atom: u32, items: &[Value]) -> bool {
        let this = self.array_atoms.get(atom);
        let count = to_u32(items.len());
        let distinct = || {
            let mut keys: Vec<String> = items.iter().map(canonical).collect();
            keys.sort_unstable();
            keys.windows(2).all(|pair| pair[0] != pair[1])
        };
        within(this.min, this.max, count)
            && (!this.unique || distinct())
            && (!this.repeats || !distinct())
            && (0..).zip(items).all(|(index, item)| self.is_value_of(self.item_form(atom, index), item))
            && this.contains.iter().all(|counted| {
                let matching = items.iter().skip(counted.from as usize).filter(|i| self.is_value_of(counted.form, i));
                within(counted.min, counted.max, to_u32(matching.count()))
            })
    }

    pub(super) fn is_object_of(&self, atom: u32, members: &Map<String, Value>) -> bool {
        let this = self.object_atoms.get(atom);
        let count = to_u32(members.len());
        this.min <= count
            && this.max.is_none_or(|max| count <= max)
            && this.required.iter().all(|key| members.contains_key(&**self.texts.get(*key)))
            && members.iter().all(|(key, value)| self.is_value_of(self.named_form(this, self.text(key)), value))
            && !this.not.iter().any(|not| self.is_object_of(*not, members))
    }
}

/// A value that an item may have.
struct Item {
    /// The same for equal values.
    id: usize,
    value: Value,
    /// Which of the counted forms it satisfies.
    counts: Box<[bool]>,
}

/// The items of an array, and how often each value is among them, by its id.
struct Items<'a> {
    list: Vec<&'a Item>,
    used: Vec<u32>,
}

/// The beginning of a string: another one, and a byte.
#[derive(Clone, Copy)]
struct Begun {
    state: LangState,
    chars: u32,
    length: u32,
    from: usize,
    byte: u8,
}

fn text_of(begun: &[Begun], mut at: usize) -> Option<String> {
    let mut text = Vec::new();
    while at > 0 {
        text.push(begun[at].byte);
        at = begun[at].from;
    }
    text.reverse();
    String::from_utf8(text).ok()
}

/// All bytes, in the order of [`preference`].
fn readable_first() -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..=u8::MAX).collect();
    bytes.sort_by_key(|byte| preference(*byte));
    bytes
}

/// A beginning that may be longer, ordered by what is looked at first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    /// Bytes of the strings that are looked at now.
    whole: Reverse<u32>,
    length: u32,
    at: Reverse<usize>,
    /// The place of the next byte that is tried.
    next: usize,
    /// Bytes of the next longer strings.
    more: u32,
}

/// Adds the arrays of so many items that begin with these, and says whether there are any items for them. The values at each place
/// satisfy the form of the item there.
fn extend_array<'a>(
    atom: &ArrayAtom,
    length: usize,
    places: &'a [Vec<Item>],
    items: &mut Items<'a>,
    found: &mut Found,
    sought: &Sought,
    note: &dyn Fn(),
) -> Option<bool> {
    found.try_one(sought, note)?;
    if items.list.len() >= length {
        let repeats = || items.used.iter().any(|times| *times > 1);
        if counts_fit(atom, &items.list) && (!atom.repeats || repeats()) {
            found.add(items.list.iter().map(|item| item.value.clone()).collect())?;
        }
        return Some(true);
    }
    if is_owed_too_much(atom, &items.list, length) {
        return Some(true);
    }
    let mut reached = false;
    for item in places.get(items.list.len()).or(places.last())? {
        if atom.unique && items.used[item.id] > 0 {
            continue;
        }
        items.list.push(item);
        items.used[item.id] += 1;
        reached |= extend_array(atom, length, places, items, found, sought, note)?;
        items.list.pop();
        items.used[item.id] -= 1;
    }
    Some(reached)
}

/// Whether more items are to be counted than an array of so many still has room for.
fn is_owed_too_much(atom: &ArrayAtom, items: &[&Item], length: usize) -> bool {
    let room = to_u32(length - items.len());
    atom.contains.iter().enumerate().any(|(place, counted)| {
        counted.min > room && to_u32(counted_at(items, place, counted).count()).saturating_add(room) < counted.min
    })
}

/// The items that a counted form counts.
fn counted_at<'a>(items: &'a [&'a Item], place: usize, counted: &Counted) -> impl Iterator<Item = &'a &'a Item> {
    items.iter().skip(counted.from as usize).filter(move |item| item.counts[place])
}

fn counts_fit(atom: &ArrayAtom, items: &[&Item]) -> bool {
    atom.contains
        .iter()
        .enumerate()
        .all(|(place, counted)| within(counted.min, counted.max, to_u32(counted_at(items, place, counted).count())))
}

fn within(min: u32, max: Option<u32>, count: u32) -> bool {
    min <= count && max.is_none_or(|max| count <= max)
}

fn number_of(number: &Decimal) -> Option<Number> {
    let text = super::equality::decimal_text(number);
    serde_json::from_str::<Number>(&text).ok()
}
