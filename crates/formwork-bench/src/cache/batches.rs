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

/// Each sample is the smallest of so many passes, each over a constraint of its own.
const PASSES: usize = 3;

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
            let (mut first, mut later) = (Vec::new(), Vec::new());
            for _ in 0..PASSES {
                let Some(fresh) = compile(case) else { break };
                keep_smaller(&mut first, steps(&batch, case, &fresh));
                for _ in 0..WARMING {
                    steps(&batch, case, &fresh);
                }
                keep_smaller(&mut later, steps(&batch, case, &fresh));
            }
            cold.append(&mut first);
            warm.append(&mut later);
        }
        (threads, BatchFigures { threads: batch.threads(), cold_us: Figures::of(cold), warm_us: Figures::of(warm) })
    });
    figures.collect()
}

/// Takes the smaller time of each step.
fn keep_smaller(times: &mut Vec<u32>, other: Vec<u32>) {
    if times.is_empty() {
        *times = other;
    } else {
        times.iter_mut().zip(other).for_each(|(time, other)| *time = other.min(*time));
    }
}

/// A sequence on its way through an instance.
struct Sequence<'a> {
    matcher: Matcher,
    tokens: &'a [u32],
}

/// Lets the matchers go through the instances, and tells for each step what a mask took.
fn steps(batch: &Batch, case: &Case, compiled: &CompiledConstraint) -> Vec<u32> {
    let mut times = Vec::new();
    let instances: Vec<&[u32]> =
        case.instances.iter().filter(|instance| instance.valid).map(|instance| &instance.tokens[..]).collect();
    if instances.is_empty() {
        return times;
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
    let mut rows = vec![0; sequences.len() * compiled.vocabulary().row_words()];
    for _ in 0..STEPS {
        let mut matchers: Vec<&mut Matcher> = sequences.iter_mut().map(|sequence| &mut sequence.matcher).collect();
        let start = Instant::now();
        let filled = batch.fill_masks(&mut matchers, &mut rows);
        times.push(nanoseconds(start) / MATCHERS);
        if filled.is_err() {
            break;
        }
        for Sequence { matcher, tokens } in &mut sequences {
            let next = tokens.get(matcher.steps()).copied().map(TokenId::new);
            if next.is_none_or(|token| matcher.advance(token).is_err()) {
                *matcher = compiled.matcher();
            }
        }
    }
    times
}
