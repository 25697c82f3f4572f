//! Forms: what a value must satisfy, as hash-consed conjunctions and disjunctions of subschemas.

use formwork_grammar::{NodeId, NodeKind};
use serde_json::Value;

use super::JsonAutomaton;

/// A hash-consed [`Form`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct FormId(pub(super) u32);

/// What a value must satisfy. References stay unresolved in it, so that recursion closes by ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// Nothing does.
    False,
    /// Everything does.
    True,
    /// A subschema of the document.
    Node(NodeId),
    /// One JSON value, as its compact text.
    Value(Box<str>),
    /// One JSON value, as its compact text, in spellings that a form has room for.
    Spelled(FormId, Box<str>),
    /// All of them; sorted, at least two.
    And(Box<[FormId]>),
    /// One of them at least; sorted, at least two.
    Or(Box<[FormId]>),
    /// What does not satisfy it.
    Not(FormId),
}

impl JsonAutomaton {
    pub(super) fn form(&self, form: Form) -> FormId {
        FormId(self.forms.intern(form))
    }

    pub(super) fn node_form(&self, node: NodeId) -> FormId {
        match self.schema.node(node).kind {
            NodeKind::Always => self.form(Form::True),
            NodeKind::Never | NodeKind::Keywords(_) => self.form(Form::Node(node)),
        }
    }

    pub(super) fn value_form(&self, value: &Value) -> FormId {
        self.form(Form::Value(value.to_string().into()))
    }

    /// A value of a form, in spellings that the form has room for. A number's own form makes room for all its digits, whatever
    /// the limits are for others.
    pub(super) fn spelled_form(&self, form: FormId, value: &Value) -> FormId {
        if has_number(value) {
            self.form(Form::Spelled(form, value.to_string().into()))
        } else {
            self.value_form(value)
        }
    }

    /// Whether a form is a conjunction with this part, or the part itself.
    pub(super) fn has_part(&self, form: FormId, part: FormId) -> bool {
        form == part || matches!(self.forms.get(form.0), Form::And(parts) if parts.contains(&part))
    }

    /// The conjunction, simplified: nested ones are joined, duplicates and `true` left out.
    pub(super) fn all_of(&self, forms: impl IntoIterator<Item = FormId>) -> FormId {
        let mut parts: Vec<FormId> = Vec::new();
        for id in forms {
            match self.forms.get(id.0) {
                Form::True => {}
                Form::False => return id,
                // `false` keeps its place in the schema, to be named where nothing can satisfy it.
                Form::Node(node) if matches!(self.schema.node(*node).kind, NodeKind::Never) => return id,
                Form::And(inner) => parts.extend(inner),
                Form::Node(_) | Form::Value(_) | Form::Spelled(..) | Form::Or(_) | Form::Not(_) => parts.push(id),
            }
        }
        parts.sort_unstable();
        parts.dedup();
        let contradicts =
            |id: &FormId| matches!(self.forms.get(id.0), Form::Not(inner) if parts.binary_search(inner).is_ok());
        if parts.iter().any(contradicts) {
            return self.form(Form::False);
        }
        // A disjunction says nothing beside one of its parts, and less beside the negation of one.
        let simpler = parts.iter().find_map(|id| {
            let Form::Or(inner) = self.forms.get(id.0) else { return None };
            if inner.iter().any(|part| parts.binary_search(part).is_ok()) {
                return Some((*id, None));
            }
            let possible = |part: &FormId| parts.binary_search(&self.not_form(*part)).is_err();
            let left: Vec<FormId> = inner.iter().copied().filter(possible).collect();
            (left.len() < inner.len()).then(|| (*id, Some(self.any_of(left))))
        });
        if let Some((disjunction, left)) = simpler {
            parts.retain(|id| *id != disjunction);
            parts.extend(left);
            return self.all_of(parts);
        }
        match *parts.as_slice() {
            [] => self.form(Form::True),
            [only] => only,
            _ => self.form(Form::And(parts.into())),
        }
    }

    /// The disjunction, simplified likewise.
    pub(super) fn any_of(&self, forms: impl IntoIterator<Item = FormId>) -> FormId {
        let mut parts: Vec<FormId> = Vec::new();
        for id in forms {
            match self.forms.get(id.0) {
                Form::False => {}
                Form::True => return id,
                Form::Or(inner) => parts.extend(inner),
                Form::Node(_) | Form::Value(_) | Form::Spelled(..) | Form::And(_) | Form::Not(_) => parts.push(id),
            }
        }
        parts.sort_unstable();
        parts.dedup();
        match *parts.as_slice() {
            [] => self.form(Form::False),
            [only] => only,
            _ => self.form(Form::Or(parts.into())),
        }
    }

    /// What does not satisfy a form.
    pub(super) fn not_form(&self, form: FormId) -> FormId {
        match self.forms.get(form.0) {
            Form::False => self.form(Form::True),
            Form::True => self.form(Form::False),
            Form::Not(inner) => *inner,
            Form::Node(node) if matches!(self.schema.node(*node).kind, NodeKind::Never) => self.form(Form::True),
            // So that parts that stand on both sides of a conjunction are seen.
            Form::And(parts) => self.any_of(parts.iter().map(|part| self.not_form(*part))),
            Form::Or(parts) => self.all_of(parts.iter().map(|part| self.not_form(*part))),
            Form::Node(_) | Form::Value(_) | Form::Spelled(..) => self.form(Form::Not(form)),
        }
    }

    /// Whether everything satisfies a form, as far as its own shape says.
    pub(super) fn is_true(&self, form: FormId) -> bool {
        matches!(self.forms.get(form.0), Form::True)
    }
}

/// Whether a value is a number, or holds one.
fn has_number(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::Array(items) => items.iter().any(has_number),
        Value::Object(members) => members.values().any(has_number),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}
