//! What can be said of a form without looking inside containers: enough to see that most branches exclude each other.

use std::sync::Arc;

use formwork_grammar::{
    Applicator, ArrayRules, Keywords, NodeKind, NumberRules, ObjectRules, StringRules, Type, TypeSet,
};
use rustc_hash::FxHashSet;
use serde_json::Value;

use super::JsonAutomaton;
use super::equality::canonical;
use super::form::{Form, FormId};

/// A set of values that holds every value of a form, and perhaps more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sketch {
    /// A bit for each type.
    types: u8,
    /// Where there are finitely many values: their canonical texts.
    values: Option<Arc<FxHashSet<String>>>,
    /// Where there are finitely many strings: theirs.
    strings: Option<Arc<FxHashSet<String>>>,
}

/// A pattern with at most so many texts is a list of them.
const FEW_STRINGS: u64 = 64;
const STRING: u8 = 1 << Type::String as u8;

/// In-place subschemas that a sketch follows, one inside another.
const DEPTH: u32 = 12;

impl Sketch {
    fn all() -> Self {
        Self { types: 0b11_1111, values: None, strings: None }
    }

    fn none() -> Self {
        Self { types: 0, values: None, strings: None }
    }

    /// The canonical texts of all values, where they are finitely many.
    pub(super) fn values(&self) -> Option<&FxHashSet<String>> {
        let strings = self.strings.as_deref().filter(|_| self.types == STRING);
        self.values.as_deref().or(strings)
    }

    /// How many texts it lists.
    pub(super) fn texts(&self) -> usize {
        [&self.values, &self.strings].into_iter().flatten().map(|texts| texts.len()).sum()
    }

    /// Whether there is surely no value.
    pub(super) fn is_empty(&self) -> bool {
        self.types == 0 || self.values.as_ref().is_some_and(|values| values.is_empty())
    }

    fn of_values(values: &[Value]) -> Self {
        let types = values.iter().fold(0, |types, value| types | 1 << type_of(value) as u8);
        Self { types, values: Some(Arc::new(values.iter().map(canonical).collect())), strings: None }
    }

    /// Every value but strings, and these strings.
    fn with_strings(strings: impl IntoIterator<Item = String>) -> Self {
        let strings = strings.into_iter().map(|text| canonical(&Value::String(text))).collect();
        Self { strings: Some(Arc::new(strings)), ..Self::all() }.settled()
    }

    /// Says the same of strings in all its parts.
    fn settled(mut self) -> Self {
        if self.strings.as_ref().is_some_and(|strings| strings.is_empty()) {
            self.types &= !STRING;
        }
        let excluded = |text: &String| {
            let is_string = text.starts_with('"');
            is_string && (self.types & STRING == 0 || self.strings.as_ref().is_some_and(|all| !all.contains(text)))
        };
        if let Some(values) = &self.values
            && values.iter().any(excluded)
        {
            self.values = Some(Arc::new(values.iter().filter(|text| !excluded(text)).cloned().collect()));
        }
        self
    }

    fn meet(&self, other: &Self) -> Self {
        type Texts = Option<Arc<FxHashSet<String>>>;
        let both = |a: &Texts, b: &Texts| match (a, b) {
            (Some(a), Some(b)) => Some(Arc::new(a.intersection(b).cloned().collect())),
            (a, b) => a.as_ref().or(b.as_ref()).cloned(),
        };
        Self {
            types: self.types & other.types,
            values: both(&self.values, &other.values),
            strings: both(&self.strings, &other.strings),
        }
        .settled()
    }

    fn join(&self, other: &Self) -> Self {
        if self.is_empty() {
            return other.clone();
        }
        if other.is_empty() {
            return self.clone();
        }
        let values = match (&self.values, &other.values) {
            (Some(a), Some(b)) => Some(Arc::new(a.union(b).cloned().collect())),
            _ => None,
        };
        let strings = match (&self.strings, &other.strings) {
            (strings, _) if other.types & STRING == 0 => strings.clone(),
            (_, strings) if self.types & STRING == 0 => strings.clone(),
            (Some(a), Some(b)) => Some(Arc::new(a.union(b).cloned().collect())),
            _ => None,
        };
        Self { types: self.types | other.types, values, strings }
    }
}

fn type_of(value: &Value) -> Type {
    match value {
        Value::Null => Type::Null,
        Value::Bool(_) => Type::Boolean,
        Value::Number(_) => Type::Number,
        Value::String(_) => Type::String,
        Value::Array(_) => Type::Array,
        Value::Object(_) => Type::Object,
    }
}

impl JsonAutomaton {
    /// A superset of a form's values; computed without splitting the form by type, so that it may be asked while that is done.
    pub(super) fn sketch(&self, form: FormId) -> Sketch {
        self.sketch_within(form, DEPTH)
    }

    fn sketch_within(&self, form: FormId, depth: u32) -> Sketch {
        let Some(depth) = depth.checked_sub(1) else { return Sketch::all() };
        self.sketches.get_or((form, depth), || self.find_sketch(form, depth))
    }

    fn find_sketch(&self, form: FormId, depth: u32) -> Sketch {
        match self.forms.get(form.0) {
            Form::False => Sketch::none(),
            Form::True => Sketch::all(),
            Form::Value(text) | Form::Spelled(_, text) => {
                serde_json::from_str(text).map_or_else(|_| Sketch::none(), |value| Sketch::of_values(&[value]))
            }
            Form::Node(node) => match &self.schema.node(*node).kind {
                NodeKind::Always => Sketch::all(),
                NodeKind::Never => Sketch::none(),
                NodeKind::Keywords(keywords) => self.sketch_keywords(keywords, depth),
            },
            Form::And(parts) => {
                let all = parts.iter().fold(Sketch::all(), |all, part| all.meet(&self.sketch_within(*part, depth)));
                parts.iter().fold(all, |all, part| match self.forms.get(part.0) {
                    Form::Not(inner) => self.without(all, *inner),
                    _ => all,
                })
            }
            Form::Or(parts) => {
                parts.iter().fold(Sketch::none(), |all, part| all.join(&self.sketch_within(*part, depth)))
            }
            Form::Not(inner) => self.without(Sketch::all(), *inner),
        }
    }

    /// Leaves out the values of a form that is nothing but a list of values, or a type.
    fn without(&self, sketch: Sketch, form: FormId) -> Sketch {
        let excluded = match self.forms.get(form.0) {
            Form::Value(text) | Form::Spelled(_, text) => match serde_json::from_str(text) {
                Ok(value) => Sketch::of_values(&[value]),
                Err(_) => return sketch,
            },
            Form::Node(node) => match &self.schema.node(*node).kind {
                NodeKind::Keywords(keywords) => match plain_values(keywords) {
                    Some(values) => Sketch::of_values(values),
                    None if is_only_types(keywords) => {
                        let types = Type::ALL.into_iter().filter(|t| !keywords.types.contains(*t));
                        let types = types.fold(0, |types, t| types | 1 << t as u8);
                        return Sketch { types: sketch.types & types, ..sketch };
                    }
                    None => return sketch,
                },
                NodeKind::Always | NodeKind::Never => return sketch,
            },
            _ => return sketch,
        };
        match (&sketch.values, &excluded.values) {
            (Some(values), Some(excluded)) => {
                Sketch { values: Some(Arc::new(values.difference(excluded).cloned().collect())), ..sketch }
            }
            _ => sketch,
        }
    }

    fn sketch_keywords(&self, keywords: &Keywords, depth: u32) -> Sketch {
        let types = Type::ALL.into_iter().filter(|t| keywords.types.contains(*t));
        let mut out = Sketch { types: types.fold(0, |types, t| types | 1 << t as u8), ..Sketch::all() };
        if let Some((regex, _)) = &keywords.string.pattern
            && let Some(start) = self.langs.start(self.pattern_lang(regex))
            && let Some(texts) = self.few_texts(start, FEW_STRINGS)
        {
            out = out.meet(&Sketch::with_strings(texts));
        }
        for values in &keywords.values {
            out = out.meet(&Sketch::of_values(values));
        }
        let node = |node| self.sketch_within(self.node_form(node), depth);
        for applicator in &keywords.applicators {
            match applicator {
                Applicator::Ref(target) => out = out.meet(&node(*target)),
                Applicator::AllOf(nodes) => out = nodes.iter().fold(out, |all, n| all.meet(&node(*n))),
                Applicator::AnyOf(nodes) | Applicator::OneOf(nodes) => {
                    out = out.meet(&nodes.iter().fold(Sketch::none(), |all, n| all.join(&node(*n))));
                }
                Applicator::Not(target) => out = self.without(out, self.node_form(*target)),
                Applicator::Properties | Applicator::If { .. } | Applicator::Dependent(_) => {}
            }
        }
        out
    }
}

/// The values of a subschema that is an `enum` or a `const` and nothing else.
fn plain_values(keywords: &Keywords) -> Option<&[Value]> {
    match keywords.values.as_slice() {
        [values] if keywords.types == TypeSet::ALL && has_no_rules(keywords) => Some(values),
        _ => None,
    }
}

/// Whether a subschema is a `type` and nothing else. Integers are no type of their own here.
fn is_only_types(keywords: &Keywords) -> bool {
    !keywords.types.integer_only() && keywords.values.is_empty() && has_no_rules(keywords)
}

fn has_no_rules(keywords: &Keywords) -> bool {
    keywords.applicators.is_empty()
        && keywords.number == NumberRules::default()
        && keywords.string == StringRules::default()
        && keywords.array == ArrayRules::default()
        && keywords.object == ObjectRules::default()
}
