//! A form, split by JSON type into alternatives: what is left to track once a value's first byte is known.

use std::hash::Hash;
use std::sync::Arc;

use formwork_grammar::{Applicator, Keywords, NodeId, NodeKind, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::JsonAutomaton;
use super::array::{ArrayAtom, ArrayGroup, Counted};
use super::cover::{ArrayCover, ObjectCover};
use super::form::{Form, FormId};
use super::literal::Literal;
use super::number::NumberAtom;
use super::object::{ObjectAtom, ObjectGroup};
use super::string::StringAtom;
use crate::interner::to_u32;
use crate::lang::{Anchor, Lang};

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
    /// A limit left alternatives out: what is here is narrower than the form, so that its complement must not be used.
    pub(super) cut: bool,
}

/// Whether atoms note which members and items the schema has evaluated: below `unevaluatedProperties` and `unevaluatedItems` only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Evaluated {
    Ignored,
    Noted,
    /// Arrays and objects are left out altogether: for what is asked of keys.
    StringsOnly,
}

/// The branches of a union by a value that a key has in them.
type BranchesByValue = FxHashMap<String, Vec<usize>>;

/// Up to so many branches of an `anyOf`, every set of them that may hold together is an alternative where it matters which do.
const MAX_BRANCH_SETS: usize = 8;

/// How many pairs of alternatives one conjunction or one exclusion still puts together. What that leaves over is cut off, as what is
/// beyond the limit on alternatives is.
pub(super) struct Work(usize);

impl Default for Work {
    fn default() -> Self {
        Self(1 << 17)
    }
}

impl Work {
    /// So many alternatives always go on, so that what is left at the end need not be nothing.
    const FEW: usize = 16;
}

impl JsonAutomaton {
    pub(super) fn typed(&self, form: FormId) -> Arc<Typed> {
        self.typed_noting(form, Evaluated::Ignored)
    }

    /// A form that is excluded: nothing is noted of what it evaluates.
    fn typed_apart(&self, form: FormId, evaluated: Evaluated) -> Arc<Typed> {
        let strings = evaluated == Evaluated::StringsOnly;
        self.typed_noting(form, if strings { Evaluated::StringsOnly } else { Evaluated::Ignored })
    }

    pub(super) fn typed_noting(&self, form: FormId, evaluated: Evaluated) -> Arc<Typed> {
        self.typed.get_or((form, evaluated), || {
            if self.fills_too_soon() || self.takes_too_long() {
                self.note_undecided();
                return Arc::new(Typed { cut: true, ..Typed::default() });
            }
            let typed = match self.forms.get(form.0) {
                Form::False => Typed::default(),
                Form::True => self.everything(),
                Form::Value(text) => {
                    serde_json::from_str(text).map_or_else(|_| Typed::default(), |value| self.typed_values(&[value]))
                }
                Form::Spelled(form, text) => serde_json::from_str(text)
                    .map_or_else(|_| Typed::default(), |value| self.typed_spelled(*form, &value)),
                Form::And(parts) => {
                    // What excludes is taken from what is left at the end, where less of it matters.
                    let (negated, plain): (Vec<FormId>, Vec<FormId>) =
                        parts.iter().partition(|p| matches!(self.forms.get(p.0), Form::Not(_)));
                    let mut plain = plain.into_iter();
                    let first =
                        plain.next().map_or_else(|| self.everything(), |p| (*self.typed_noting(p, evaluated)).clone());
                    let all = plain.fold(first, |all, part| self.both(&all, &self.typed_noting(part, evaluated)));
                    negated.into_iter().fold(all, |all, part| match self.forms.get(part.0) {
                        Form::Not(inner) => self.without_typed(all, &self.typed_apart(*inner, evaluated)),
                        _ => all,
                    })
                }
                Form::Or(parts) => parts
                    .iter()
                    .fold(Typed::default(), |any, part| self.either(any, &self.typed_noting(*part, evaluated))),
                Form::Not(inner) => self.without_typed(self.everything(), &self.typed_apart(*inner, evaluated)),
                Form::Node(node) => match &self.schema.node(*node).kind {
                    NodeKind::Always => self.everything(),
                    NodeKind::Never => Typed::default(),
                    NodeKind::Keywords(keywords) => self.typed_keywords(keywords, evaluated),
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

    pub(super) fn everything(&self) -> Typed {
        let mut out = Typed { null: true, booleans: 0b11, ..Typed::default() };
        self.keep_number(NumberAtom::default(), &mut out.numbers);
        self.keep_string(StringAtom::of(self.langs.any()), &mut out.strings);
        self.keep_array(ArrayAtom::default(), &mut out.arrays);
        self.keep_object(ObjectAtom::default(), &mut out.objects);
        out
    }

    fn typed_keywords(&self, keywords: &Keywords, evaluated: Evaluated) -> Typed {
        let asks = keywords.object.unevaluated.is_some() || keywords.array.unevaluated.is_some();
        let noted = if asks && evaluated == Evaluated::Ignored { Evaluated::Noted } else { evaluated };
        let mut out = self.typed_assertions(keywords, noted);
        for values in &keywords.values {
            out = self.both(&out, &self.typed_values(values));
        }
        let typed = |node: NodeId| self.typed_noting(self.node_form(node), noted);
        for applicator in &keywords.applicators {
            match applicator {
                Applicator::Properties | Applicator::Not(_) => {}
                Applicator::Ref(target) => out = self.both(&out, &typed(*target)),
                Applicator::AllOf(nodes) => out = nodes.iter().fold(out, |all, node| self.both(&all, &typed(*node))),
                Applicator::AnyOf(nodes) => out = self.both(&out, &self.any_branch(nodes, noted)),
                Applicator::OneOf(nodes) => out = self.one_branch(&out, nodes, noted),
                // A condition that nothing hangs on only says what it has evaluated.
                Applicator::If { then: None, otherwise: None, .. } if noted != Evaluated::Noted => {}
                Applicator::If { condition, then, otherwise } => {
                    let [then, otherwise] = [then, otherwise].map(|node| node.map(|node| self.node_form(node)));
                    let condition = self.typed_noting(self.node_form(*condition), noted);
                    out = self.conditional(out, &condition, then, otherwise, noted);
                }
                Applicator::Dependent(schemas) => {
                    for (key, node) in schemas {
                        let has = self.has_key(self.text(key));
                        out = self.conditional(out, &has, Some(self.node_form(*node)), None, noted);
                    }
                }
            }
        }
        for (key, names) in &keywords.object.dependent_required {
            let key = self.text(key);
            for name in names {
                // Not both: the key there, the name absent.
                let fault = self.lacking(self.text(name), &[key]);
                out = self.without_typed(out, &fault);
            }
        }
        for applicator in &keywords.applicators {
            if let Applicator::Not(target) = applicator {
                out = self.without_typed(out, &self.typed_apart(self.node_form(*target), evaluated));
            }
        }
        if asks {
            self.refuse_unevaluated(&mut out, keywords);
        }
        if asks && evaluated == Evaluated::Ignored {
            self.forget_covers(&mut out);
        }
        out
    }

    /// The objects that have a key.
    fn has_key(&self, key: u32) -> Typed {
        let atom = ObjectAtom { required: Box::from([key]), ..ObjectAtom::default() };
        Typed { objects: vec![self.object_atoms.intern(atom)], ..Typed::default() }
    }

    /// The objects that have some keys but not another.
    fn lacking(&self, absent: u32, present: &[u32]) -> Typed {
        let groups = self.property(absent, self.form(Form::False));
        let mut objects = Vec::new();
        self.keep_object(ObjectAtom { groups, required: present.into(), ..ObjectAtom::default() }, &mut objects);
        Typed { objects, ..Typed::default() }
    }

    /// The keywords that bear on one type each.
    fn typed_assertions(&self, keywords: &Keywords, evaluated: Evaluated) -> Typed {
        let types = keywords.types;
        let mut out = Typed {
            null: types.contains(Type::Null),
            booleans: if types.contains(Type::Boolean) { 0b11 } else { 0 },
            ..Typed::default()
        };
        if types.contains(Type::Number) {
            self.keep_number(NumberAtom::of_rules(&keywords.number, types.integer_only()), &mut out.numbers);
        }
        if types.contains(Type::String) {
            let rules = &keywords.string;
            let any = StringAtom::of(self.langs.any());
            let mut atom = StringAtom { min: rules.min_length, max: rules.max_length, ..any };
            // What has no automaton was refused when the root was compiled.
            if let Some((regex, _)) = &rules.pattern {
                atom = self.meet_strings(atom, StringAtom::of(self.pattern_lang(regex)));
            }
            for (format, _) in &rules.formats {
                let none = |_| self.langs.none();
                let lang = self.langs.format(*format).unwrap_or_else(none);
                let wide = self.langs.not(self.langs.not_format(*format).unwrap_or_else(none));
                atom = self.meet_strings(atom, StringAtom { lang, wide, ..any });
            }
            self.keep_string(atom, &mut out.strings);
        }
        if types.contains(Type::Array) && evaluated != Evaluated::StringsOnly {
            self.keep_array(self.array_assertions(keywords, evaluated), &mut out.arrays);
        }
        if types.contains(Type::Object) && evaluated != Evaluated::StringsOnly {
            self.keep_object(self.object_assertions(keywords, evaluated), &mut out.objects);
            // Names that were narrowed have no complement here.
            let names =
                keywords.object.names.map(|node| self.typed_noting(self.node_form(node), Evaluated::StringsOnly));
            let is_narrowed = |atom: &u32| {
                let atom = self.string_atoms.get(*atom);
                atom.lang != atom.wide
            };
            out.cut |= names.is_some_and(|names| names.cut || names.strings.iter().any(is_narrowed));
        }
        out
    }

    pub(super) fn pattern_lang(&self, regex: &formwork_grammar::Regex) -> Lang {
        self.langs.regex(regex, Anchor::Search).unwrap_or_else(|_| self.langs.none())
    }

    fn array_assertions(&self, keywords: &Keywords, evaluated: Evaluated) -> ArrayAtom {
        let rules = &keywords.array;
        let group = ArrayGroup {
            prefix: rules.prefix.iter().map(|n| self.node_form(*n)).collect(),
            rest: rules.rest.map_or_else(|| self.form(Form::True), |n| self.node_form(n)),
        };
        let contains = rules.contains.iter().map(|contains| {
            let form = self.node_form(contains.node);
            Counted { form, from: 0, min: contains.min, max: contains.max }
        });
        let cover = (evaluated == Evaluated::Noted).then(|| {
            let evaluating = rules.contains.iter().filter(|contains| contains.evaluates);
            self.array_covers.intern(ArrayCover {
                prefix: to_u32(rules.prefix.len()),
                all: rules.rest.is_some(),
                matching: evaluating.map(|contains| self.node_form(contains.node)).collect(),
            })
        });
        ArrayAtom {
            groups: self.array_group(group),
            min: rules.min_items,
            max: rules.max_items,
            contains: contains.collect(),
            unique: rules.unique,
            repeats: false,
            cover,
        }
    }

    fn object_assertions(&self, keywords: &Keywords, evaluated: Evaluated) -> ObjectAtom {
        let rules = &keywords.object;
        let patterns: Box<[(Lang, FormId)]> =
            rules.patterns.iter().map(|p| (self.pattern_lang(&p.regex), self.node_form(p.node))).collect();
        let properties: Box<[(u32, FormId)]> =
            rules.properties.iter().map(|(k, n)| (self.text(k), self.node_form(*n))).collect();
        let cover = (evaluated == Evaluated::Noted).then(|| {
            self.object_covers.intern(ObjectCover {
                names: properties.iter().map(|(name, _)| *name).collect(),
                patterns: patterns.iter().map(|(lang, _)| *lang).collect(),
                all: rules.additional.is_some(),
            })
        });
        let group = ObjectGroup {
            properties,
            patterns,
            additional: rules.additional.map_or_else(|| self.form(Form::True), |n| self.node_form(n)),
        };
        let mut required: Vec<u32> = rules.required.iter().map(|k| self.text(k)).collect();
        required.sort_unstable();
        ObjectAtom {
            groups: self.object_group(group),
            required: required.into(),
            names: rules.names.map(|node| self.strings_of(self.node_form(node))),
            min: rules.min_properties,
            max: rules.max_properties,
            not: Box::default(),
            cover,
        }
    }

    /// The group as a list of one, or none where it says nothing.
    pub(super) fn object_group(&self, group: ObjectGroup) -> Box<[u32]> {
        if group.properties.is_empty() && group.patterns.is_empty() && self.is_true(group.additional) {
            return Box::default();
        }
        Box::from([self.object_groups.intern(group)])
    }

    /// The group that asks a form of one property, and nothing of others.
    pub(super) fn property(&self, key: u32, form: FormId) -> Box<[u32]> {
        let properties = Box::from([(key, form)]);
        self.object_group(ObjectGroup { properties, patterns: Box::default(), additional: self.form(Form::True) })
    }

    /// The group as a list of one, or none where it says nothing.
    pub(super) fn array_group(&self, group: ArrayGroup) -> Box<[u32]> {
        if group.prefix.is_empty() && self.is_true(group.rest) {
            return Box::default();
        }
        Box::from([self.array_groups.intern(group)])
    }

    /// The strings of a form, as one language.
    fn strings_of(&self, form: FormId) -> Lang {
        let typed = self.typed_noting(form, Evaluated::StringsOnly);
        typed.strings.iter().fold(self.langs.none(), |all, atom| {
            let StringAtom { lang, min, max, .. } = *self.string_atoms.get(*atom);
            let window = self.langs.of_length(min, max).unwrap_or_else(|_| {
                self.note_undecided();
                self.langs.none()
            });
            self.langs.or(all, self.langs.and(lang, window))
        })
    }

    /// A value of a form, as the form's own parts spell it.
    fn typed_spelled(&self, form: FormId, value: &Value) -> Typed {
        let typed = self.typed(form);
        let mut out = Typed::default();
        match value {
            Value::Number(number) => {
                for atom in &typed.numbers {
                    if let Some(number) = self.number_in(*atom, number) {
                        self.keep_number(number, &mut out.numbers);
                    }
                }
            }
            Value::Array(items) => {
                for atom in typed.arrays.iter().filter(|atom| self.is_array_of(**atom, items)) {
                    let item = |(index, item): (u32, &Value)| self.spelled_form(self.item_form(*atom, index), item);
                    self.keep_array(self.array_of((0..).zip(items).map(item)), &mut out.arrays);
                }
            }
            Value::Object(members) => {
                for atom in typed.objects.iter().filter(|atom| self.is_object_of(**atom, members)) {
                    let member = |(key, value): (&String, &Value)| {
                        let key = self.text(key);
                        (key, self.spelled_form(self.named_form(self.object_atoms.get(*atom), key), value))
                    };
                    self.keep_object(self.object_of(members.iter().map(member)), &mut out.objects);
                }
            }
            Value::Null | Value::Bool(_) | Value::String(_) if self.is_value_of(form, value) => {
                return self.typed_values(std::slice::from_ref(value));
            }
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
        for list in [&mut out.numbers, &mut out.arrays, &mut out.objects] {
            dedup(list);
        }
        out
    }

    /// An array of these items and no others.
    fn array_of(&self, items: impl Iterator<Item = FormId>) -> ArrayAtom {
        let group = ArrayGroup { prefix: items.collect(), rest: self.form(Form::False) };
        let len = to_u32(group.prefix.len());
        let groups = Box::from([self.array_groups.intern(group)]);
        ArrayAtom { groups, min: len, max: Some(len), ..ArrayAtom::default() }
    }

    /// An object of these members and no others.
    fn object_of(&self, members: impl Iterator<Item = (u32, FormId)>) -> ObjectAtom {
        let properties: Box<[_]> = members.collect();
        let mut required: Vec<u32> = properties.iter().map(|(k, _)| *k).collect();
        required.sort_unstable();
        let group = ObjectGroup { properties, patterns: Box::default(), additional: self.form(Form::False) };
        let groups = Box::from([self.object_groups.intern(group)]);
        ObjectAtom { groups, required: required.into(), ..ObjectAtom::default() }
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
                    } else {
                        self.note_undecided();
                        out.cut = true;
                    }
                }
                Value::String(text) => strings.push(text),
                Value::Array(items) => {
                    self.keep_array(self.array_of(items.iter().map(|v| self.value_form(v))), &mut out.arrays);
                }
                Value::Object(members) => {
                    let members = members.iter().map(|(k, v)| (self.text(k), self.value_form(v)));
                    self.keep_object(self.object_of(members), &mut out.objects);
                }
            }
        }
        if !strings.is_empty() {
            let lang = self.langs.literals(strings);
            self.keep_string(StringAtom::of(lang), &mut out.strings);
        }
        for list in [&mut out.numbers, &mut out.arrays, &mut out.objects] {
            dedup(list);
        }
        out
    }

    /// `anyOf`. Where it matters which branches hold, since they evaluate different members, each set of branches that may hold
    /// together is an alternative; which of them hold besides only allows more, and is another set's alternative.
    fn any_branch(&self, nodes: &[NodeId], evaluated: Evaluated) -> Typed {
        let branches: Vec<Arc<Typed>> =
            nodes.iter().map(|node| self.typed_noting(self.node_form(*node), evaluated)).collect();
        let mut out = branches.iter().fold(Typed::default(), |all, branch| self.either(all, branch));
        if evaluated != Evaluated::Noted {
            return out;
        }
        let covering: Vec<&Arc<Typed>> = branches.iter().filter(|branch| self.covers_something(branch)).collect();
        if covering.len() > MAX_BRANCH_SETS {
            self.note_undecided();
            out.cut = true;
        }
        let sets = covering.len().min(MAX_BRANCH_SETS);
        for set in 1_u32..1 << sets {
            if set.count_ones() < 2 {
                continue;
            }
            let mut chosen = (0..sets).filter(|i| set >> i & 1 == 1).map(|i| covering[i]);
            let Some(first) = chosen.next() else { continue };
            let all = chosen.fold((**first).clone(), |all, branch| self.both(&all, branch));
            out = self.either(out, &all);
        }
        out
    }

    /// `oneOf`: each branch, with the others excluded.
    fn one_branch(&self, base: &Typed, nodes: &[NodeId], evaluated: Evaluated) -> Typed {
        let branches: Vec<Arc<Typed>> =
            nodes.iter().map(|node| self.typed_noting(self.node_form(*node), evaluated)).collect();
        let plain: Vec<Arc<Typed>> =
            nodes.iter().map(|node| self.typed_apart(self.node_form(*node), evaluated)).collect();
        let rivals = self.rivals(&plain);
        let mut out = Typed::default();
        for (i, branch) in branches.iter().enumerate() {
            let mut only = self.both(base, branch);
            for other in rivals(i) {
                only = self.without_typed(only, &plain[other]);
            }
            out = self.either(out, &only);
        }
        out
    }

    /// For each of several forms, the others that some value may satisfy with it. Most unions name a key whose value tells their
    /// branches apart: then these are few, and found without looking at every pair.
    fn rivals(&self, branches: &[Arc<Typed>]) -> impl Fn(usize) -> Vec<usize> {
        let told_apart = branches.first().and_then(|first| {
            let keys = &self.object_atoms.get(*first.objects.first()?).required;
            keys.iter().find_map(|key| self.branches_by_value(branches, *key))
        });
        let count = branches.len();
        move |branch| match &told_apart {
            None => (0..count).filter(|other| *other != branch).collect(),
            Some((values, by_value)) => {
                let mut rivals: Vec<usize> = values[branch].iter().flat_map(|value| by_value[value].clone()).collect();
                rivals.sort_unstable();
                rivals.dedup();
                rivals.retain(|other| *other != branch);
                rivals
            }
        }
    }

    /// The values that a key has in each branch, and the branches by value; `None` where not every branch is of objects that need the key
    /// with one of finitely many values.
    fn branches_by_value(&self, branches: &[Arc<Typed>], key: u32) -> Option<(Vec<Vec<String>>, BranchesByValue)> {
        let mut by_value = BranchesByValue::default();
        let mut values = Vec::with_capacity(branches.len());
        for (index, branch) in branches.iter().enumerate() {
            let only_objects = Typed { objects: branch.objects.clone(), ..Typed::default() };
            if **branch != only_objects {
                return None;
            }
            let mut own = Vec::new();
            for atom in &branch.objects {
                let atom = self.object_atoms.get(*atom);
                atom.required.binary_search(&key).ok()?;
                own.extend(self.sketch(self.named_form(atom, key)).values()?.iter().cloned());
            }
            for value in &own {
                by_value.entry(value.clone()).or_default().push(index);
            }
            values.push(own);
        }
        Some((values, by_value))
    }

    /// Alternatives that hold where both forms do: every pair of atoms, met.
    pub(super) fn both(&self, a: &Typed, b: &Typed) -> Typed {
        let mut cut = a.cut || b.cut;
        let out = Typed {
            null: a.null && b.null,
            booleans: a.booleans & b.booleans,
            numbers: self.pairs(&a.numbers, &b.numbers, &mut cut, |x, y, out| {
                if let Some(atom) = self.number_atoms.get(x).meet(self.number_atoms.get(y)) {
                    self.keep_number(atom, out);
                }
            }),
            strings: self.pairs(&a.strings, &b.strings, &mut cut, |x, y, out| {
                self.keep_string(self.meet_strings(*self.string_atoms.get(x), *self.string_atoms.get(y)), out);
            }),
            arrays: self.pairs(&a.arrays, &b.arrays, &mut cut, |x, y, out| {
                self.keep_array(self.meet_arrays(self.array_atoms.get(x), self.array_atoms.get(y)), out);
            }),
            objects: self.pairs(&a.objects, &b.objects, &mut cut, |x, y, out| {
                self.keep_object(self.meet_objects(self.object_atoms.get(x), self.object_atoms.get(y)), out);
            }),
            cut: false,
        };
        Typed { cut, ..out }
    }

    /// Of so many alternatives, each to be paired with so many others: how many can be.
    pub(super) fn workable(&self, work: &mut Work, alternatives: usize, others: usize) -> usize {
        // A schema that takes too long is refused: nothing that is still found of it matters.
        let most = if self.takes_too_long() { 0 } else { (work.0 / others.max(1)).max(Work::FEW) };
        let taken = most.min(alternatives);
        let pairs = taken.saturating_mul(others);
        work.0 = work.0.saturating_sub(pairs);
        self.count_steps(pairs);
        if taken < alternatives {
            self.note_undecided();
        }
        taken
    }

    fn pairs(&self, a: &[u32], b: &[u32], cut: &mut bool, mut meet: impl FnMut(u32, u32, &mut Vec<u32>)) -> Vec<u32> {
        let mut out = Vec::new();
        let left = self.workable(&mut Work::default(), a.len(), b.len());
        *cut |= left < a.len();
        for &x in a.iter().take(left) {
            for &y in b {
                if x == y {
                    out.push(x);
                } else {
                    meet(x, y, &mut out);
                }
            }
            if self.too_many(&mut out) {
                *cut = true;
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
            self.note_undecided();
        }
        cut
    }

    pub(super) fn either(&self, mut a: Typed, b: &Typed) -> Typed {
        a.null |= b.null;
        a.booleans |= b.booleans;
        a.cut |= b.cut;
        for (list, more) in [
            (&mut a.numbers, &b.numbers),
            (&mut a.strings, &b.strings),
            (&mut a.arrays, &b.arrays),
            (&mut a.objects, &b.objects),
        ] {
            list.extend(more);
            dedup(list);
            a.cut |= self.too_many(list);
        }
        a
    }

    pub(super) fn keep_number(&self, atom: NumberAtom, out: &mut Vec<u32>) {
        let id = self.within_table(self.number_atoms.intern(atom));
        // One that the vocabulary can't spell is kept: others, of which it is left out, have more spellings.
        if self.has_numbers(id) {
            out.push(id);
        }
    }

    pub(super) fn keep_string(&self, atom: StringAtom, out: &mut Vec<u32>) {
        // One that can't be written is kept where it is meant: it has a complement.
        let live = self.langs.start(atom.wide).is_some_and(|s| self.langs.can_finish(s, atom.min, atom.max));
        if live && self.spells("\"") {
            out.push(self.string_atoms.intern(atom));
        }
    }

    pub(super) fn keep_array(&self, mut atom: ArrayAtom, out: &mut Vec<u32>) {
        let Some(most) = self.most_items_spelled() else { return };
        atom.max = least(atom.max, Some(most).filter(|most| *most < u32::MAX));
        if !self.is_array_contradiction(&atom) {
            out.push(self.array_atoms.intern(atom));
        }
    }

    pub(super) fn keep_object(&self, mut atom: ObjectAtom, out: &mut Vec<u32>) {
        let Some(most) = self.most_members_spelled() else { return };
        atom.max = least(atom.max, Some(most).filter(|most| *most < u32::MAX));
        if !self.is_object_contradiction(&atom) {
            out.push(self.object_atoms.intern(atom));
        }
    }

    pub(super) fn text(&self, text: &str) -> u32 {
        self.texts.intern(text.into())
    }
}

/// The least of two bounds.
pub(super) fn least(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Leaves out repeats and keeps the order.
pub(super) fn dedup<T: Copy + Eq + Hash>(list: &mut Vec<T>) {
    let mut seen = FxHashSet::default();
    list.retain(|id| seen.insert(*id));
}
