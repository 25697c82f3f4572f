//! The answer to one line, as it is written.

use serde::Serialize;
use serde_json::Value;

use super::{through_bytes, through_masks};
use crate::listed::{Listed, Warning};

/// One line's answer.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    id: Value,
    compiled: bool,
    #[serde(flatten)]
    outcome: Outcome,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) warnings: Vec<Warning>,
}

/// What became of the constraint.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Outcome {
    Refused { error: ErrorBody },
    Unsatisfiable { unsatisfiable: Unsatisfiable, texts: Vec<TextAnswer>, narrowed: [(); 0], undecided: u64 },
    Decided(Decided),
}

/// The verdicts under a constraint.
#[derive(Debug, Default, Serialize)]
pub(super) struct Decided {
    pub(super) texts: Vec<TextAnswer>,
    /// Keywords enforced by a narrower language.
    pub(super) narrowed: Vec<Listed>,
    pub(super) undecided: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) walks: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) walk_errors: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) relaxed: Vec<Listed>,
}

/// Why a line could not be served.
#[derive(Debug, Serialize)]
pub(super) struct ErrorBody {
    pub(super) code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pointer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) column: Option<usize>,
    pub(super) message: String,
}

/// A constraint that nothing satisfies.
#[derive(Debug, Serialize)]
pub(super) struct Unsatisfiable {
    pub(super) pointer: Option<String>,
    pub(super) message: String,
}

/// One text's verdicts.
#[derive(Debug, Serialize)]
pub(super) struct TextAnswer {
    complete: bool,
    rejected_at: Option<usize>,
    #[serde(flatten)]
    completion: Option<through_bytes::Completion>,
    #[serde(flatten)]
    masks: Option<through_masks::Verdict>,
}

impl Answer {
    pub(super) fn new(id: Value, outcome: Outcome, warnings: Vec<Warning>) -> Self {
        Self { id, compiled: !matches!(outcome, Outcome::Refused { .. }), outcome, warnings }
    }

    pub(super) fn refused(id: Value, error: ErrorBody) -> Self {
        Self::new(id, Outcome::Refused { error }, Vec::new())
    }

    /// The answer as a line.
    pub(super) fn line(&self) -> Vec<u8> {
        // Everything in an answer is plain data with string keys, which serde_json always writes.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

impl ErrorBody {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, pointer: None, line: None, column: None, message: message.into() }
    }

    pub(super) fn at_pointer(mut self, pointer: Option<&str>) -> Self {
        self.pointer = pointer.map(str::to_owned);
        self
    }

    pub(super) fn at_line(mut self, place: Option<(usize, usize)>) -> Self {
        (self.line, self.column) = place.unzip();
        self
    }
}

impl TextAnswer {
    pub(super) fn new(verdict: through_bytes::Verdict, masks: Option<through_masks::Verdict>) -> Self {
        Self { complete: verdict.complete, rejected_at: verdict.rejected_at, completion: verdict.completion, masks }
    }
}
