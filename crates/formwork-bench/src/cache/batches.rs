//! Many sequences on one constraint, a row each for every step.

use std::collections::BTreeMap;
use std::time::Instant;

use formwork::{Batch, CompiledConstraint, Matcher, TokenId};

use super::report::BatchFigures;
use crate::masks::figures::Figures;
use crate::masks::instances::Case;
use crate::masks::measure::nanoseconds;

/// Matchers of a batch.
pub(super) const MATCHERS: u32 = 64;

/// Turns over a schema after which every whole row that will be made is there.
const WARMING: usize = 2;

/// Steps of each schema.
const STEPS: usize = 32;

/// Fills batches on each number of threads, on constraints just compiled and then on the same again.
pub(super) fn fills(
    compiled: &[&(&Case, CompiledConstraint)],
    threads: &[usize],
    compile: impl Fn(&Case) -> Option<CompiledConstraint>,
) -> BTreeMap<usize, BatchFigures> {
    let figures = threads.iter().map(|&threads| {
        let batch = Batch::new(threads);
        let (mut cold, mut warm) = (Vec::new(), Vec::new());
        for (case, _) in compiled {
            let Some(fresh) = compile(case) else { continue };
            steps(&batch, case, &fresh, &mut cold);
            for _ in 0..WARMING {
                steps(&batch, case, &fresh, &mut Vec::new());
            }
            steps(&batch, case, &fresh, &mut warm);
        }
        (threads, BatchFigures { threads: batch.threads(), cold_us: Figures::of(cold), warm_us: Figures::of(warm) })
    });
    figures.collect()
}

/// A sequence on its way through an instance.
struct Sequence<'a> {
    matcher: Matcher,
    tokens: &'a [u32],
}

/// Lets the matchers go through the instances, and notes for each step what a mask took.
fn steps(batch: &Batch, case: &Case, compiled: &CompiledConstraint, times: &mut Vec<u32>) {
    let instances: Vec<&[u32]> =
        case.instances.iter().filter(|instance| instance.valid).map(|instance| &instance.tokens[..]).collect();
    if instances.is_empty() {
        return;
    }
    let mut sequences: Vec<Sequence<'_>> = instances
        .iter()
        .cycle()
        .take(MATCHERS as usize)
        .enumerate()
        .map(|(index, tokens)| {
            // Each somewhere else, as sequences are that did not begin together.
            let mut matcher = compiled.matcher();
            let at = index * 7 % tokens.len().max(1);
            let begun = &tokens[..at];
            matcher.try_advance(&begun.iter().copied().map(TokenId::new).collect::<Vec<_>>());
            Sequence { matcher, tokens }
        })
        .collect();
    let mut rows = vec![0; MATCHERS as usize * compiled.vocabulary().row_words()];
    for _ in 0..STEPS {
        let mut matchers: Vec<&mut Matcher> = sequences.iter_mut().map(|sequence| &mut sequence.matcher).collect();
        let start = Instant::now();
        let filled = batch.fill_masks(&mut matchers, &mut rows);
        times.push(nanoseconds(start) / MATCHERS);
        if filled.is_err() {
            return;
        }
        for Sequence { matcher, tokens } in &mut sequences {
            let next = tokens.get(matcher.steps()).copied().map(TokenId::new);
            if next.is_none_or(|token| matcher.advance(token).is_err()) {
                *matcher = compiled.matcher();
            }
        }
    }
}
