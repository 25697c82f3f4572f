//! The protocol: each instance walked token by token, mask and advance timed, the answer checked.

use std::hint::black_box;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::instances::{Case, Instance};
use crate::engine::{Compiled, Engine};

/// What one engine made of one schema.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) name: String,
    pub(crate) verdict: Verdict,
    /// Compiling and the first mask.
    pub(crate) first_mask_ns: u32,
    /// Each mask, in order.
    pub(crate) mask_ns: Vec<u32>,
    /// The advance after each mask; 0 after the last of an instance, where there is none.
    pub(crate) advance_ns: Vec<u32>,
}

/// Whether the answers were right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Verdict {
    Right,
    /// The schema was refused when compiling.
    Refused(String),
    /// Valid instances rejected, invalid ones accepted, or a failure while running.
    Wrong(String),
}

impl Record {
    /// Takes the smaller time of two passes, sample by sample.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.first_mask_ns = self.first_mask_ns.min(other.first_mask_ns);
        for (a, b) in self.mask_ns.iter_mut().zip(&other.mask_ns) {
            *a = (*a).min(*b);
        }
        for (a, b) in self.advance_ns.iter_mut().zip(&other.advance_ns) {
            *a = (*a).min(*b);
        }
        if self.verdict != other.verdict {
            self.verdict = Verdict::Wrong("the two passes gave different answers".into());
        }
    }
}

/// Runs one schema through one engine.
pub(crate) fn measure(engine: &dyn Engine, case: &Case, eos: &[u32]) -> Record {
    let mut record = Record {
        name: case.name.clone(),
        verdict: Verdict::Right,
        first_mask_ns: 0,
        mask_ns: Vec::new(),
        advance_ns: Vec::new(),
    };
    let start = Instant::now();
    let compiled = match engine.compile(&case.schema) {
        Ok(compiled) => compiled,
        Err(reason) => {
            record.verdict = Verdict::Refused(reason);
            return record;
        }
    };
    let first = compiled.sequence().and_then(|mut sequence| sequence.mask().map(|mask| black_box(mask).len()));
    record.first_mask_ns = nanoseconds(start);
    if let Err(reason) = first {
        record.verdict = Verdict::Wrong(format!("no first mask: {reason}"));
        return record;
    }
    for (index, instance) in case.instances.iter().enumerate() {
        match walk(&*compiled, instance, eos, &mut record) {
            Ok(accepted) if accepted == instance.valid => {}
            Ok(accepted) => {
                let (is, verb) = if accepted { ("invalid", "accepted") } else { ("valid", "rejected") };
                record.verdict = Verdict::Wrong(format!("{is} instance {index} {verb}"));
            }
            Err(reason) => record.verdict = Verdict::Wrong(format!("instance {index}: {reason}")),
        }
    }
    record
}

/// Feeds an instance up to its first rejected token, and says whether all of it was accepted and may end there.
fn walk(compiled: &dyn Compiled, instance: &Instance, eos: &[u32], record: &mut Record) -> Result<bool, String> {
    let mut sequence = compiled.sequence()?;
    for &token in &instance.tokens {
        let start = Instant::now();
        let allowed = allows(black_box(sequence.mask()?), token);
        record.mask_ns.push(nanoseconds(start));
        if !allowed {
            record.advance_ns.push(0);
            return Ok(false);
        }
        let start = Instant::now();
        sequence.advance(token)?;
        record.advance_ns.push(nanoseconds(start));
    }
    let start = Instant::now();
    let mask = black_box(sequence.mask()?);
    let may_end = eos.iter().any(|&token| allows(mask, token));
    record.mask_ns.push(nanoseconds(start));
    record.advance_ns.push(0);
    Ok(may_end)
}

fn allows(mask: &[u32], token: u32) -> bool {
    mask.get((token / 32) as usize).is_some_and(|word| word >> (token % 32) & 1 == 1)
}

/// The time since then.
pub(crate) fn nanoseconds(start: Instant) -> u32 {
    u32::try_from(start.elapsed().as_nanos()).unwrap_or(u32::MAX)
}
