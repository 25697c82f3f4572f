//! A text under a constraint, byte by byte.

use formwork::{CompiledConstraint, Matcher};
use serde::Serialize;

/// What bytes alone say about a text.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) complete: bool,
    pub(super) rejected_at: Option<usize>,
    /// The part of the text that the constraint itself reads: all of it but the blanks that are let pass after its end.
    pub(super) core: usize,
    pub(super) completion: Option<Completion>,
}

/// Text that makes the longest accepted prefix whole.
#[derive(Debug, Serialize)]
pub(super) struct Completion {
    /// Missing where nothing satisfies the constraint.
    completion: Option<String>,
    /// Offset of the byte that it goes on from: where the accepted prefix ends inside a character, that character's start.
    completion_at: usize,
}

impl Verdict {
    /// The verdict under a constraint that nothing satisfies.
    pub(super) fn nothing_accepted(complete: bool) -> Self {
        let completion = complete.then_some(Completion { completion: None, completion_at: 0 });
        Self { complete: false, rejected_at: Some(0), core: 0, completion }
    }
}

/// Judges a text; after a complete one, up to `trailing` blanks are let pass.
pub(super) fn judge(constraint: &CompiledConstraint, text: &str, trailing: usize, complete: bool) -> Verdict {
    let bytes = text.as_bytes();
    let mut matcher = constraint.matcher();
    let rejected_at = match matcher.advance_bytes(bytes) {
        Ok(()) => None,
        Err(error) => Some(error.byte_offset().unwrap_or(0)),
    };
    let accepted = rejected_at.unwrap_or(bytes.len());
    if rejected_at.is_some() {
        matcher = at(constraint, &bytes[..accepted]);
    }
    let mut verdict = Verdict { complete: matcher.is_accepting(), rejected_at, core: bytes.len(), completion: None };
    let rest = &bytes[accepted..];
    if rejected_at.is_some() {
        let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).count().min(trailing);
        let passes = verdict.complete && blanks > 0;
        verdict.complete = passes && blanks == rest.len();
        if verdict.complete {
            verdict.rejected_at = None;
            verdict.core = accepted;
        } else if passes {
            verdict.rejected_at = Some(accepted + blanks);
        }
    }
    if complete {
        let completion_at = text.floor_char_boundary(accepted);
        if completion_at < accepted {
            matcher = at(constraint, &bytes[..completion_at]);
        }
        let completion = matcher.shortest_completion().bytes().and_then(|bytes| String::from_utf8(bytes).ok());
        verdict.completion = Some(Completion { completion, completion_at });
    }
    verdict
}

/// The matcher after a prefix that is known to be accepted.
fn at(constraint: &CompiledConstraint, prefix: &[u8]) -> Matcher {
    let mut matcher = constraint.matcher();
    // An accepted prefix is accepted again; were it not, the matcher would stand at the start.
    let _ = matcher.advance_bytes(prefix);
    matcher
}
