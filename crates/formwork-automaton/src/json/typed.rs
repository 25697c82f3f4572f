//! A form, split by JSON type into alternatives: what is left to track once a value's first byte is known.

use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use formwork_grammar::{Applicator, Keywords, NodeKind, Type};
use rustc_hash::FxHashSet;
use serde_json::Value;

use super::JsonAutomaton;
use super::array::{ArrayAtom, ArrayGroup};
use super::form::{Form, FormId};
use super::literal::Literal;
use super::number::NumberAtom;
use super::object::{ObjectAtom, ObjectGroup};
use super::string::StringAtom;
use crate::lang::Anchor;

/// The alternatives of a form for each type, each a plain conjunction (an *atom*, by id). A value satisfies the form where it
/// satisfies one of those of its type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Typed {
    pub(super) null: bool,
    /// Bit 0: `false` is allowed; bit 1: `true` is.
    pub(super) booleans: u8,
    pub(super) numbers: Vec<u32>,
    pub(super) strings: Vec<u32>,
    pub(super) arrays: Vec<u32>,
    pub(super) objects: Vec<u32>,
}

impl JsonAutomaton {
    pub(super) fn typed(&self, form: FormId) -> Arc<Typed> {
        self.typed.get_or(form, || {
            let typed = match self.forms.get(form.0) {
                Form::False => Typed::default(),
                Form::True => self.everything(),
                Form::Value(text) => {
                    serde_json::from_str(text).map_or_else(|_| Typed::default(), |value| self.typed_values(&[value]))
                }
                Form::And(parts) => {
                    let mut parts = parts.iter();
                    let first = parts.next().map_or_else(|| self.everything(), |p| (*self.typed(*p)).clone());
                    parts.fold(first, |all, part| self.both(&all, &self.typed(*part)))
                }
                Form::Node(node) => match &self.schema.node(*node).kind {
                    NodeKind::Always => self.everything(),
                    NodeKind::Never => Typed::default(),
                    NodeKind::Keywords(keywords) => self.typed_keywords(keywords),
                },
            };
            Arc::new(self.with_spelled_literals(typed))
        })
    }

    /// Numbers, strings, arrays and objects that can't be spelled are left out where their atoms are made; literals here.
    fn with_spelled_literals(&self, typed: Typed) -> Typed {
        let spelled = |literal: Literal, bit: u8| if self.spells(literal.text()) { bit } else { 0 };
        Typed {
            null: typed.null && self.spells(Literal::Null.text()),
            booleans: typed.booleans & (spelled(Literal::False, 0b01) | spelled(Literal::True, 0b10)),
            ..typed
        }
    }

    fn everything(&self) -> Typed {
        let mut out = Typed { null: true, booleans: 0b11, ..Typed::default() };
        self.keep_number(NumberAtom::default(), &mut out.numbers);
        self.keep_string(StringAtom { lang: self.langs.any(), min: 0, max: None }, &mut out.strings);
        self.keep_array(ArrayAtom::default(), &mut out.arrays);
        self.keep_object(ObjectAtom::default(), &mut out.objects);
        out
    }

    fn typed_keywords(&self, keywords: &Keywords) -> Typed {
        let mut out = self.typed_assertions(keywords);
        for values in &keywords.values {
            out = self.both(&out, &self.typed_values(values));
        }
        for applicator in &keywords.applicators {
            match applicator {
                Applicator::Properties => {}
                Applicator::Ref(node) => out = self.both(&out, &self.typed(self.node_form(*node))),
                Applicator::AllOf(nodes) => {
                    for node in nodes {
                        out = self.both(&out, &self.typed(self.node_form(*node)));
                    }
                }
                Applicator::AnyOf(nodes) => {
                    let branches = nodes.iter().map(|node| self.typed(self.node_form(*node)));
                    let any = branches.fold(Typed::default(), |all, branch| self.either(all, &branch));
                    out = self.both(&out, &any);
                }
            }
        }
        out
    }

    /// The keywords that bear on one type each.
    fn typed_assertions(&self, keywords: &Keywords) -> Typed {
        let types = keywords.types;
        let mut out = Typed {
            null: types.contains(Type::Null),
            booleans: if types.contains(Type::Boolean) { 0b11 } else { 0 },
            ..Typed::default()
        };
        if types.contains(Type::Number) {
            let rules = &keywords.number;
            let (min, max) = (rules.min.as_ref().map(Into::into), rules.max.as_ref().map(Into::into));
            let atom = NumberAtom { min, max, integer: types.integer_only() };
            self.keep_number(atom, &mut out.numbers);
        }
        if types.contains(Type::String) {
            let rules = &keywords.string;
            let lang = match &rules.pattern {
                // Patterns without an automaton were refused when the root was compiled.
                Some((regex, _)) => self.langs.regex(regex, Anchor::Search).unwrap_or_else(|_| self.langs.none()),
                None => self.langs.any(),
            };
            self.keep_string(StringAtom { lang, min: rules.min_length, max: rules.max_length }, &mut out.strings);
        }
        if types.contains(Type::Array) {
            let rules = &keywords.array;
            let group = ArrayGroup {
                prefix: rules.prefix.iter().map(|n| self.node_form(*n)).collect(),
                rest: rules.rest.map_or_else(|| self.form(Form::True), |n| self.node_form(n)),
            };
            let groups = if group.prefix.is_empty() && rules.rest.is_none() {
                Box::default()
            } else {
                Box::from([self.array_groups.intern(group)])
            };
            let atom = ArrayAtom { groups, min: rules.min_items, max: rules.max_items };
            self.keep_array(atom, &mut out.arrays);
        }
        if types.contains(Type::Object) {
            let rules = &keywords.object;
            let group = ObjectGroup {
                properties: rules.properties.iter().map(|(k, n)| (self.text(k), self.node_form(*n))).collect(),
                additional: rules.additional.map_or_else(|| self.form(Form::True), |n| self.node_form(n)),
            };
            let groups = if group.properties.is_empty() && rules.additional.is_none() {
                Box::default()
            } else {
                Box::from([self.object_groups.intern(group)])
            };
            let mut required: Vec<u32> = rules.required.iter().map(|k| self.text(k)).collect();
            required.sort_unstable();
            self.keep_object(ObjectAtom { groups, required: required.into() }, &mut out.objects);
        }
        out
    }

    /// The values of `enum` or `const`: strings together as one finite language, the rest one by one.
    fn typed_values(&self, values: &[Value]) -> Typed {
        let mut out = Typed::default();
        let mut strings: Vec<&str> = Vec::new();
        for value in values {
            match value {
                Value::Null => out.null = true,
                Value::Bool(b) => out.booleans |= if *b { 0b10 } else { 0b01 },
                Value::Number(number) => {
                    if let Some(atom) = NumberAtom::exactly(number) {
                        self.keep_number(atom, &mut out.numbers);
                    }
                }
                Value::String(text) => strings.push(text),
                Value::Array(items) => {
                    let group = ArrayGroup {
                        prefix: items.iter().map(|v| self.value_form(v)).collect(),
                        rest: self.form(Form::False),
                    };
                    let len = u32::try_from(items.len()).unwrap_or(u32::MAX);
                    let groups = Box::from([self.array_groups.intern(group)]);
                    self.keep_array(ArrayAtom { groups, min: len, max: Some(len) }, &mut out.arrays);
                }
                Value::Object(members) => {
                    let properties: Box<[_]> =
                        members.iter().map(|(k, v)| (self.text(k), self.value_form(v))).collect();
                    let mut required: Vec<u32> = properties.iter().map(|(k, _)| *k).collect();
                    required.sort_unstable();
                    let group = ObjectGroup { properties, additional: self.form(Form::False) };
                    let groups = Box::from([self.object_groups.intern(group)]);
                    self.keep_object(ObjectAtom { groups, required: required.into() }, &mut out.objects);
                }
            }
        }
        if !strings.is_empty() {
            let lang = self.langs.literals(strings);
            self.keep_string(StringAtom { lang, min: 0, max: None }, &mut out.strings);
        }
        for list in [&mut out.numbers, &mut out.arrays, &mut out.objects] {
            dedup(list);
        }
        out
    }

    /// Alternatives that hold where both forms do: every pair of atoms, met.
    fn both(&self, a: &Typed, b: &Typed) -> Typed {
        Typed {
            null: a.null && b.null,
            booleans: a.booleans & b.booleans,
            numbers: self.pairs(&a.numbers, &b.numbers, |x, y, out| {
                if let Some(atom) = self.number_atoms.get(x).meet(self.number_atoms.get(y)) {
                    self.keep_number(atom, out);
                }
            }),
            strings: self.pairs(&a.strings, &b.strings, |x, y, out| {
                let (x, y) = (self.string_atoms.get(x), self.string_atoms.get(y));
                let max = match (x.max, y.max) {
                    (Some(x), Some(y)) => Some(x.min(y)),
                    (x, y) => x.or(y),
                };
                let atom = StringAtom { lang: self.langs.and(x.lang, y.lang), min: x.min.max(y.min), max };
                self.keep_string(atom, out);
            }),
            arrays: self.pairs(&a.arrays, &b.arrays, |x, y, out| {
                self.keep_array(self.array_atoms.get(x).meet(self.array_atoms.get(y)), out);
            }),
            objects: self.pairs(&a.objects, &b.objects, |x, y, out| {
                self.keep_object(self.object_atoms.get(x).meet(self.object_atoms.get(y)), out);
            }),
        }
    }

    fn pairs(&self, a: &[u32], b: &[u32], mut meet: impl FnMut(u32, u32, &mut Vec<u32>)) -> Vec<u32> {
        let mut out = Vec::new();
        for &x in a {
            for &y in b {
                if x == y {
                    out.push(x);
                } else {
                    meet(x, y, &mut out);
                }
            }
            if self.too_many(&mut out) {
                break;
            }
        }
        dedup(&mut out);
        out
    }

    /// Cuts a list of alternatives down to the limit. Fewer alternatives are a narrower language: sound, and counted.
    pub(super) fn too_many<T: Copy + Eq + Hash>(&self, list: &mut Vec<T>) -> bool {
        // Tags have 16 bits.
        let limit = self.options.limits.alternatives.min(1 << 15) as usize;
        if list.len() > limit {
            dedup(list);
        }
        let cut = list.len() > limit;
        if cut {
            list.truncate(limit);
            self.undecided.fetch_add(1, Ordering::Relaxed);
        }
        cut
    }

    fn either(&self, mut a: Typed, b: &Typed) -> Typed {
        a.null |= b.null;
        a.booleans |= b.booleans;
        for (list, more) in [
            (&mut a.numbers, &b.numbers),
            (&mut a.strings, &b.strings),
            (&mut a.arrays, &b.arrays),
            (&mut a.objects, &b.objects),
        ] {
            list.extend(more);
            dedup(list);
            self.too_many(list);
        }
        a
    }

    fn keep_number(&self, atom: NumberAtom, out: &mut Vec<u32>) {
        let id = self.number_atoms.intern(atom);
        if self.number_start_cost(id).is_some() {
            out.push(id);
        }
    }

    fn keep_string(&self, atom: StringAtom, out: &mut Vec<u32>) {
        let live = self.langs.start(atom.lang).is_some_and(|s| self.langs.can_finish(s, atom.min, atom.max));
        if live && self.spells("\"") {
            out.push(self.string_atoms.intern(atom));
        }
    }

    fn keep_array(&self, mut atom: ArrayAtom, out: &mut Vec<u32>) {
        let Some(most) = self.most_items_spelled() else { return };
        if most < u32::MAX {
            atom.max = Some(atom.max.map_or(most, |max| max.min(most)));
        }
        if atom.max.is_none_or(|max| atom.min <= max) {
            out.push(self.array_atoms.intern(atom));
        }
    }

    fn keep_object(&self, atom: ObjectAtom, out: &mut Vec<u32>) {
        if self.most_members_spelled().is_some_and(|most| atom.required.len() <= most as usize) {
            out.push(self.object_atoms.intern(atom));
        }
    }

    pub(super) fn text(&self, text: &str) -> u32 {
        self.texts.intern(text.into())
    }
}

/// Leaves out repeats and keeps the order.
fn dedup<T: Copy + Eq + Hash>(list: &mut Vec<T>) {
    let mut seen = FxHashSet::default();
    list.retain(|id| seen.insert(*id));
}
