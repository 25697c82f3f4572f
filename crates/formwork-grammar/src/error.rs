//! What is wrong with a constraint's text, where, and what to do about it.

use std::fmt;

use thiserror::Error;

/// Why a schema was refused.
///
/// ```
/// let error = formwork_grammar::parse_schema(r#"{"type": "strnig"}"#, &Default::default()).unwrap_err();
/// assert_eq!(error.code(), "invalid_keyword");
/// assert_eq!(error.pointer(), Some("/type"));
/// ```
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Kind>);

/// Where in the text an error stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A JSON pointer into the schema.
    Pointer(String),
    /// A line and a column, both from 1.
    LineColumn(usize, usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pointer(p) if p.is_empty() => f.write_str("at the schema's root"),
            Self::Pointer(p) => write!(f, "at {p}"),
            Self::LineColumn(line, column) => write!(f, "at line {line}, column {column}"),
        }
    }
}

#[derive(Debug, Error)]
enum Kind {
    #[error("the schema is not JSON at line {line}, column {column}: {reason}")]
    NotJson { line: usize, column: usize, reason: String, place: Place },
    #[error("{} is {found}, but must be an object or a boolean", schema_at(place))]
    NotASchema { place: Place, found: &'static str },
    #[error("`{keyword}` {place} is not valid: {reason}")]
    InvalidKeyword { place: Place, keyword: String, reason: String },
    #[error("`{keyword}` {place} is not supported: {reason}")]
    UnsupportedKeyword { place: Place, keyword: String, reason: String },
    #[error("the pattern {place} can't be used: {reason}")]
    Pattern { place: Place, reason: String, code: &'static str },
    #[error("`{keyword}` {place} points to {target:?}, {reason}")]
    UnresolvedReference { place: Place, keyword: String, target: String, reason: String },
    #[error("the references {cycle} lead back to themselves without reading anything, so they mean nothing")]
    ReferenceCycle { place: Place, cycle: String },
    #[error("{} exceeds the limit `{limit}` ({value})", schema_at(place))]
    Limit { place: Place, limit: &'static str, value: u64 },
}

/// "the schema at /items"; the root's is just "the schema".
fn schema_at(place: &Place) -> String {
    match place {
        Place::Pointer(pointer) if pointer.is_empty() => "the schema".to_owned(),
        place => format!("the schema {place}"),
    }
}

impl Error {
    /// A stable name for the kind of error, in `snake_case`.
    pub fn code(&self) -> &'static str {
        match &*self.0 {
            Kind::NotJson { .. } => "not_json",
            Kind::NotASchema { .. } => "not_a_schema",
            Kind::InvalidKeyword { .. } => "invalid_keyword",
            Kind::UnsupportedKeyword { .. } => "unsupported_keyword",
            Kind::Pattern { code, .. } => code,
            Kind::UnresolvedReference { .. } => "unresolved_reference",
            Kind::ReferenceCycle { .. } => "reference_cycle",
            Kind::Limit { .. } => "limit_exceeded",
        }
    }

    /// Where the fault stands.
    pub fn place(&self) -> &Place {
        match &*self.0 {
            Kind::NotJson { place, .. }
            | Kind::NotASchema { place, .. }
            | Kind::InvalidKeyword { place, .. }
            | Kind::UnsupportedKeyword { place, .. }
            | Kind::Pattern { place, .. }
            | Kind::UnresolvedReference { place, .. }
            | Kind::ReferenceCycle { place, .. }
            | Kind::Limit { place, .. } => place,
        }
    }

    /// The JSON pointer of the fault, where it has one.
    pub fn pointer(&self) -> Option<&str> {
        match self.place() {
            Place::Pointer(p) => Some(p),
            Place::LineColumn(..) => None,
        }
    }

    /// A way out, where one is known.
    pub fn help(&self) -> Option<&'static str> {
        match &*self.0 {
            Kind::UnsupportedKeyword { .. } => {
                Some("remove the keyword, or set `lenient` to leave it to the validation of the result")
            }
            Kind::UnresolvedReference { .. } => {
                Some("put the target under `$defs`, or supply its document in `documents`; nothing is fetched")
            }
            Kind::Limit { limit: "nodes", .. } => Some("raise the limit in `limits`, or simplify the schema"),
            Kind::Limit { .. } => Some("simplify the schema"),
            _ => None,
        }
    }

    /// Whether the schema is right but can't be enforced, so that validation can take over.
    pub(crate) fn is_beyond_reach(&self) -> bool {
        match &*self.0 {
            Kind::UnsupportedKeyword { .. } => true,
            Kind::Pattern { code, .. } => *code != "regex_syntax",
            _ => false,
        }
    }

    pub(crate) fn not_json(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or(&text).to_owned();
        let (line, column) = (error.line(), error.column());
        Self(Box::new(Kind::NotJson { line, column, reason, place: Place::LineColumn(line, column) }))
    }

    pub(crate) fn not_a_schema(pointer: &str, found: &'static str) -> Self {
        Self(Box::new(Kind::NotASchema { place: Place::Pointer(pointer.to_owned()), found }))
    }

    pub(crate) fn invalid(pointer: &str, keyword: &str, reason: impl Into<String>) -> Self {
        Self(Box::new(Kind::InvalidKeyword {
            place: Place::Pointer(pointer.to_owned()),
            keyword: keyword.to_owned(),
            reason: reason.into(),
        }))
    }

    pub(crate) fn unsupported(pointer: &str, keyword: &str, reason: impl Into<String>) -> Self {
        Self(Box::new(Kind::UnsupportedKeyword {
            place: Place::Pointer(pointer.to_owned()),
            keyword: keyword.to_owned(),
            reason: reason.into(),
        }))
    }

    pub(crate) fn pattern(pointer: &str, code: &'static str, reason: String) -> Self {
        Self(Box::new(Kind::Pattern { place: Place::Pointer(pointer.to_owned()), reason, code }))
    }

    pub(crate) fn unresolved(pointer: &str, keyword: &str, target: &str, reason: &str) -> Self {
        Self(Box::new(Kind::UnresolvedReference {
            place: Place::Pointer(pointer.to_owned()),
            keyword: keyword.to_owned(),
            target: target.to_owned(),
            reason: reason.to_owned(),
        }))
    }

    /// A cycle of references, its first pointer again at its end; of a long one, the middle is left out.
    pub(crate) fn cycle(pointers: &[&str]) -> Self {
        const SHOWN: usize = 4;
        let mut named: Vec<String> = pointers.iter().take(SHOWN).map(|p| shown(p)).collect();
        let rest = pointers.get(SHOWN..).unwrap_or_default();
        if rest.len() > SHOWN {
            named.push(format!("({} more)", rest.len() - SHOWN));
        }
        named.extend(rest.iter().skip(rest.len().saturating_sub(SHOWN)).map(|p| shown(p)));
        Self(Box::new(Kind::ReferenceCycle {
            place: Place::Pointer(pointers.first().copied().unwrap_or_default().to_owned()),
            cycle: named.join(" → "),
        }))
    }

    pub(crate) fn limit(pointer: &str, limit: &'static str, value: u64) -> Self {
        Self(Box::new(Kind::Limit { place: Place::Pointer(pointer.to_owned()), limit, value }))
    }
}

/// A pointer as a reference to it is written; one in another document has that document's URI before it.
fn shown(pointer: &str) -> String {
    let own = pointer.is_empty() || pointer.starts_with('/');
    if own { format!("#{pointer}") } else { pointer.to_owned() }
}

#[cfg(test)]
mod tests {
    use crate::{Limits, SchemaOptions, parse_schema};

    fn said(schema: &str) -> String {
        let options = SchemaOptions::default().limits(Limits { nodes: 1, ..Limits::default() });
        parse_schema(schema, &options).unwrap_err().to_string()
    }

    #[test]
    fn the_schema_is_named_once() {
        assert_eq!(said("3"), "the schema is a number, but must be an object or a boolean");
        assert_eq!(said(r#"{"items": 3}"#), "the schema at /items is a number, but must be an object or a boolean");
        assert_eq!(said(r#"{"items": {}}"#), "the schema at /items exceeds the limit `nodes` (1)");
    }
}
