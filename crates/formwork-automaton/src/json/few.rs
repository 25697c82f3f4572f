//! The values of a form, where they are few: what an array of distinct items can run out of.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use formwork_grammar::Decimal;
use serde_json::{Map, Number, Value};

use super::JsonAutomaton;
use super::array::ArrayAtom;
use super::equality::canonical;
use super::form::FormId;
use super::liveness::NEVER;
use super::object::ObjectAtom;
use super::string::StringAtom;

/// A value, and the text that equal ones share.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FewValue {
    pub(super) key: String,
    pub(super) value: Value,
}

/// Containers that are looked at for those that satisfy a form.
const CANDIDATES: usize = 1 << 12;
/// Beginnings of strings that are looked at.
const BEGINNINGS: usize = 1 << 13;
/// Values inside one another.
const DEPTH: u32 = 8;
/// Questions about fewer values than this get the same answer.
const LEAST_CAP: usize = 64;

/// Values found so far, at most `cap`.
struct Found {
    cap: usize,
    tried: usize,
    list: BTreeMap<String, Value>,
}

impl Found {
    /// One more value; `None` where that is one too many.
    fn add(&mut self, value: Value) -> Option<()> {
        self.list.insert(canonical(&value), value);
        (self.list.len() <= self.cap).then_some(())
    }
}

/// A container that is being put together.
struct Parts<'a> {
    known: &'a dyn Fn(FormId) -> u32,
    depth: u32,
}

/// So many values of a form are looked at where an array has so many items, or must have; the same for most numbers of items.
pub(super) fn cap_of(items: u32) -> usize {
    usize::try_from(items)
        .unwrap_or(usize::MAX)
        .saturating_add(2)
        .checked_next_power_of_two()
        .unwrap_or(usize::MAX)
        .max(LEAST_CAP)
}

impl JsonAutomaton {
    /// All values of a form, where they are at most `cap`; `None` where they are more.
    pub(super) fn few_values(&self, form: FormId, cap: usize) -> Option<Arc<[FewValue]>> {
        self.few.get_or((form, cap), || self.few_values_with(form, cap, &|form| self.cost(form)).map(Into::into))
    }

    /// As [`few_values`](Self::few_values), while costs are still being found.
    pub(super) fn few_values_with(
        &self,
        form: FormId,
        cap: usize,
        known: &dyn Fn(FormId) -> u32,
    ) -> Option<Vec<FewValue>> {
        self.values_of(form, cap, &Parts { known, depth: DEPTH })
    }

    fn values_of(&self, form: FormId, cap: usize, parts: &Parts<'_>) -> Option<Vec<FewValue>> {
        let parts = Parts { depth: parts.depth.checked_sub(1)?, ..*parts };
        let typed = self.typed(form);
        let mut found = Found { cap, tried: 0, list: BTreeMap::new() };
        if typed.null {
            found.add(Value::Null)?;
        }
        for (bit, value) in [(0b01, false), (0b10, true)] {
            if typed.booleans & bit != 0 {
                found.add(Value::Bool(value))?;
            }
        }
        for atom in &typed.numbers {
            for number in self.number_values(*atom, cap)? {
                found.add(number_of(&number)?)?;
            }
        }
        for atom in &typed.strings {
            self.add_strings(self.string_atoms.get(*atom), &mut found)?;
        }
        for atom in &typed.arrays {
            self.add_arrays(*atom, &parts, &mut found)?;
        }
        for atom in &typed.objects {
            self.add_objects(*atom, &parts, &mut found)?;
        }
        Some(found.list.into_iter().map(|(key, value)| FewValue { key, value }).collect())
    }

    fn add_strings(&self, atom: &StringAtom, found: &mut Found) -> Option<()> {
        let Some(start) = self.string_start(atom) else { return Some(()) };
        let cap = u64::try_from(found.cap).unwrap_or(u64::MAX);
        if atom.min == 0 && atom.max.is_none() && self.langs.count(start, cap.saturating_add(1)) > cap {
            return None;
        }
        let mut open = VecDeque::from([(start, 0_u32, Vec::new())]);
        let mut looked_at = 0;
        while let Some((state, chars, text)) = open.pop_front() {
            looked_at += 1;
            if looked_at > BEGINNINGS {
                return None;
            }
            if self.langs.is_accepting(state) && chars >= atom.min {
                found.add(Value::String(String::from_utf8(text.clone()).ok()?))?;
            }
            for byte in 0..=u8::MAX {
                let Some(next) = self.langs.step(state, byte) else { continue };
                let chars = chars + u32::from(super::string::is_first_byte(byte));
                let max = match atom.max {
                    Some(max) if chars > max => continue,
                    max => max.map(|max| max - chars),
                };
                if self.langs.can_finish(next, atom.min.saturating_sub(chars), max) {
                    let mut text = text.clone();
                    text.push(byte);
                    open.push_back((next, chars, text));
                }
            }
        }
        Some(())
    }

    fn add_arrays(&self, atom: u32, parts: &Parts<'_>, found: &mut Found) -> Option<()> {
        let this = self.array_atoms.get(atom);
        let prefix = self.prefix_len(atom);
        let dead = (0..=prefix).find(|index| (parts.known)(self.item_form(atom, *index)) == NEVER);
        let mut most = super::typed::least(this.max, dead);
        if most.is_none_or(|most| most > prefix) {
            let rest = self.values_of(self.item_form(atom, prefix), found.cap, parts);
            match rest {
                Some(rest) if this.unique => {
                    let count = u32::try_from(rest.len()).unwrap_or(u32::MAX);
                    most = super::typed::least(most, Some(prefix.saturating_add(count)));
                }
                Some(_) => {}
                None => return None,
            }
        }
        let most = most?;
        let mut lists = Vec::new();
        for index in 0..most.min(prefix.saturating_add(1)) {
            lists.push(self.values_of(self.item_form(atom, index), found.cap, parts)?);
        }
        self.extend_array(this, atom, most, &lists, &mut Vec::new(), found)
    }

    fn extend_array(
        &self,
        this: &ArrayAtom,
        atom: u32,
        most: u32,
        lists: &[Vec<FewValue>],
        items: &mut Vec<Value>,
        found: &mut Found,
    ) -> Option<()> {
        self.count_try(found)?;
        if self.is_array_of(atom, items) {
            found.add(Value::Array(items.clone()))?;
        }
        let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
        if count >= most {
            return Some(());
        }
        let list = lists.get(items.len()).or(lists.last())?;
        for value in list {
            if this.unique && items.iter().any(|item| canonical(item) == value.key) {
                continue;
            }
            items.push(value.value.clone());
            self.extend_array(this, atom, most, lists, items, found)?;
            items.pop();
        }
        Some(())
    }

    fn add_objects(&self, atom: u32, parts: &Parts<'_>, found: &mut Found) -> Option<()> {
        let this = self.object_atoms.get(atom);
        let machine_id = self.loose_machine(atom);
        let machine = self.machines.get(machine_id);
        let keys = self.atom_keys(machine_id, atom);
        let required = u32::try_from(this.required.len()).unwrap_or(u32::MAX);
        let room = this.max.is_none_or(|max| max > required);
        if room && keys.classes.iter().any(|form| (parts.known)(*form) != NEVER) {
            return None;
        }
        let mut members = Vec::new();
        for (form, key) in keys.forms.iter().zip(&machine.keys) {
            let needed = this.required.binary_search(key).is_ok();
            if !needed && !room || self.key_cost(*key) == NEVER || (parts.known)(*form) == NEVER {
                continue;
            }
            members.push((&**self.texts.get(*key), needed, self.values_of(*form, found.cap, parts)?));
        }
        self.extend_object(atom, this, &members, &mut Map::new(), found)
    }

    fn extend_object(
        &self,
        atom: u32,
        this: &ObjectAtom,
        members: &[(&str, bool, Vec<FewValue>)],
        object: &mut Map<String, Value>,
        found: &mut Found,
    ) -> Option<()> {
        self.count_try(found)?;
        let Some(((key, needed, values), rest)) = members.split_first() else {
            if self.is_object_of(atom, object) {
                found.add(Value::Object(object.clone()))?;
            }
            return Some(());
        };
        if !needed {
            self.extend_object(atom, this, rest, object, found)?;
        }
        let count = u32::try_from(object.len()).unwrap_or(u32::MAX);
        if this.max.is_some_and(|max| count >= max) {
            return Some(());
        }
        for value in values {
            object.insert((*key).to_owned(), value.value.clone());
            self.extend_object(atom, this, rest, object, found)?;
            object.remove(*key);
        }
        Some(())
    }

    /// One more candidate; `None` where they are too many to tell how many values there are, and that is counted.
    fn count_try(&self, found: &mut Found) -> Option<()> {
        found.tried += 1;
        if found.tried > CANDIDATES {
            self.note_undecided();
            return None;
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
                let chars = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
                typed.strings.iter().map(|atom| self.string_atoms.get(*atom)).any(|atom| {
                    atom.min <= chars && atom.max.is_none_or(|max| chars <= max) && self.langs.contains(atom.lang, text)
                })
            }
            Value::Array(items) => typed.arrays.iter().any(|atom| self.is_array_of(*atom, items)),
            Value::Object(members) => typed.objects.iter().any(|atom| self.is_object_of(*atom, members)),
        }
    }

    fn is_array_of(&self, atom: u32, items: &[Value]) -> bool {
        let this = self.array_atoms.get(atom);
        let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
        let distinct = || {
            let mut keys: Vec<String> = items.iter().map(canonical).collect();
            keys.sort_unstable();
            keys.windows(2).all(|pair| pair[0] != pair[1])
        };
        let within = |min: u32, max: Option<u32>, count: u32| min <= count && max.is_none_or(|max| count <= max);
        within(this.min, this.max, count)
            && !(this.unique && !distinct())
            && !(this.repeats && distinct())
            && (0..).zip(items).all(|(index, item)| self.is_value_of(self.item_form(atom, index), item))
            && this.contains.iter().all(|counted| {
                let matching = items.iter().skip(counted.from as usize).filter(|i| self.is_value_of(counted.form, i));
                within(counted.min, counted.max, u32::try_from(matching.count()).unwrap_or(u32::MAX))
            })
    }

    fn is_object_of(&self, atom: u32, members: &Map<String, Value>) -> bool {
        let this = self.object_atoms.get(atom);
        let count = u32::try_from(members.len()).unwrap_or(u32::MAX);
        this.min <= count
            && this.max.is_none_or(|max| count <= max)
            && this.required.iter().all(|key| members.contains_key(&**self.texts.get(*key)))
            && members.iter().all(|(key, value)| self.is_value_of(self.named_form(this, self.text(key)), value))
            && !this.not.iter().any(|not| self.is_object_of(*not, members))
    }
}

fn number_of(number: &Decimal) -> Option<Value> {
    let text = super::equality::decimal_text(number);
    serde_json::from_str::<Number>(&text).ok().map(Value::Number)
}
