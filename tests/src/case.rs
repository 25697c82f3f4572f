//! What a case says.

use std::fmt;

use serde_json::Value;

/// One constraint and what is expected of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file's name without its ending.
    pub file: String,
    /// The case's name, unique in its file.
    pub name: String,
    /// Why it must be so, in one line.
    pub why: String,
    /// The constraint.
    pub constraint: Constraint,
    /// The constraint options, spelled as in requests; `null` where the case gives none.
    pub options: Value,
    /// Whether an independent validator agrees with the case; where it doesn't, `why` says so.
    pub cross_check: bool,
    /// What is expected.
    pub expect: Expectation,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} / {}", self.constraint.kind(), self.file, self.name)
    }
}

/// A constraint's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// A JSON Schema (or text that should be one).
    Schema(String),
    /// A regular expression that the whole text must match.
    Regex(String),
}

impl Constraint {
    /// The kind's name, which is also its folder's.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Schema(_) => "schema",
            Self::Regex(_) => "regex",
        }
    }
}

/// What is expected of a constraint.
#[derive(Clone, Debug)]
pub enum Expectation {
    /// It compiles, and decides these texts.
    Language {
        /// Texts that are accepted whole.
        accept: Vec<String>,
        /// Texts that are not.
        reject: Vec<Rejected>,
    },
    /// It is refused.
    Error(ExpectedError),
}

/// A text that is not accepted.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// The text.
    pub text: String,
    /// Offset of the first byte after which no completion exists; `None` where the text only lacks its end.
    pub at: Option<usize>,
    /// Whether the value is valid all the same, and only its spelling (blanks, order, escapes, digits) is not allowed.
    pub valid: bool,
}

/// The error that a constraint causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedError {
    /// Its stable name.
    pub code: String,
    /// Where it stands.
    pub place: Option<Place>,
}

/// Where an error stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A JSON pointer into the schema.
    Pointer(String),
    /// A line and a column, both from 1.
    LineColumn(usize, usize),
}
