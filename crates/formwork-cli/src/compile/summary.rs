//! What compiling took, as a table for people and as JSON.

use std::fmt::Write;

use serde::Serialize;

use crate::listed::{Listed, Warning};

/// What a compiled constraint is like.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    /// Rows of the vocabulary.
    pub(super) tokens: usize,
    pub(super) compile_us: f64,
    pub(super) first_mask_us: f64,
    pub(super) shortest_completion_tokens: usize,
    /// States of the automaton so far.
    pub(super) states: usize,
    /// What the automaton's tables hold.
    pub(super) tables: Size,
    /// Distinct masks.
    pub(super) masks: usize,
    /// What they hold.
    pub(super) mask_bytes: Size,
    pub(super) undecided: u64,
    pub(super) narrowed: Vec<Listed>,
    pub(super) relaxed: Vec<Listed>,
    pub(super) warnings: Vec<Warning>,
    pub(super) constraint_sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) precomputed: Option<Ahead>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) artefact: Option<Written>,
}

/// What was computed ahead of time.
#[derive(Debug, Serialize)]
pub(super) struct Ahead {
    /// Mask keys with a mask, and all that were met; those whose masks depend on a sequence's data apart.
    pub(super) covered: usize,
    pub(super) total: usize,
    pub(super) dynamic: usize,
    pub(super) masks: usize,
    #[serde(flatten)]
    pub(super) size: Size,
    /// Places looked at, and how many may be.
    pub(super) states: usize,
    pub(super) max_states: usize,
    /// The bound that was met.
    pub(super) bound: Option<&'static str>,
    pub(super) precompute_us: f64,
}

/// The artefact as it was written, and read again.
#[derive(Debug, Serialize)]
pub(super) struct Written {
    pub(super) path: String,
    pub(super) bytes: usize,
    pub(super) load_us: f64,
}

/// Bytes, and how many they may become where there is a budget.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Size {
    pub(super) bytes: usize,
    pub(super) limit: Option<usize>,
}

impl Summary {
    /// One line of JSON.
    pub(super) fn line(&self) -> String {
        // Plain data with string keys, which serde_json always writes.
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }

    /// A line for each fact.
    pub(super) fn table(&self, place: &str) -> String {
        let mut rows = vec![
            ("constraint", place.to_owned()),
            ("vocabulary", format!("{} tokens", grouped(self.tokens))),
            ("compile", millis(self.compile_us)),
            ("first mask", millis(self.first_mask_us)),
            ("shortest", format!("{} tokens", grouped(self.shortest_completion_tokens))),
            ("states", grouped(self.states)),
            ("tables", self.tables.said()),
            ("masks", format!("{}: {}", grouped(self.masks), self.mask_bytes.said())),
        ];
        if self.undecided > 0 {
            rows.push(("undecided", format!("{} times", self.undecided)));
        }
        if let Some(found) = &self.precomputed {
            let [covered, total, dynamic] = [found.covered, found.total, found.dynamic].map(grouped);
            let bound = found.bound.map_or_else(String::new, |bound| format!("; the bound on {bound} was met"));
            rows.push(("precomputed", format!("{covered} of {total} mask keys, {dynamic} more depend on data{bound}")));
            rows.push(("", format!("{} distinct masks: {}", grouped(found.masks), found.size.said())));
            let [states, most] = [found.states, found.max_states].map(grouped);
            rows.push(("", format!("{states} states of at most {most} in {}", millis(found.precompute_us))));
        }
        if let Some(Written { path, bytes, load_us }) = &self.artefact {
            rows.push(("artefact", format!("{path}: {} bytes, read in {}", grouped(*bytes), millis(*load_us))));
        }
        rows.iter().fold(String::new(), |mut table, (name, value)| {
            // Writing to a string can't fail.
            let _ = writeln!(table, "{name:<13}{value}");
            table
        })
    }
}

impl Size {
    fn said(self) -> String {
        let bytes = grouped(self.bytes);
        match self.limit {
            Some(limit) => format!("{bytes} bytes of at most {}", grouped(limit)),
            None => format!("{bytes} bytes"),
        }
    }
}

fn millis(micros: f64) -> String {
    format!("{:.3} ms", micros / 1000.0)
}

/// A number with commas between its thousands.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(["0", "12", "999", "1,000", "1,234,567"], [0, 12, 999, 1000, 1_234_567].map(grouped)[..]);
    }
}
