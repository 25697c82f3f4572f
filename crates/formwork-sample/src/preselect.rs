//! Which tokens can matter to a step at all, so that a large vocabulary isn't carried through stages that would drop it.
//!
//! Where the first stage that truncates is `top_k`, `min_p` or the choice of the best, only tokens above some logit can be
//! left after it. Temperature keeps their order, and penalties and biases touch few tokens, which are always kept. The bound
//! comes from the maxima of blocks of tokens: the r-th largest of them is no greater than the r-th largest logit.

use formwork_automaton::TokenId;

use crate::candidates::{Candidate, Candidates};
use crate::input::StepInput;
use crate::order::StageName;
use crate::resolved::ResolvedParams;
use crate::stage::Scratch;

/// Tokens per block; a mask's word has as many.
const BLOCK: usize = 32;

/// What the stages up to the first that truncates can leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Preselection {
    /// Any token.
    All,
    /// Among the tokens that no stage touches, those that are as good as the one of this rank, 1 for the best.
    Rank(usize),
    /// Those, and such as are at most `below` under the best one.
    Below { rank: usize, below: f64 },
}

impl Preselection {
    /// `stages` are those that will run; `greedy` says that the best is taken when they have, and none of them truncates.
    pub(crate) fn new(params: &ResolvedParams, stages: impl Iterator<Item = StageName>, greedy: bool) -> Self {
        if params.allowed_token_ids.is_some() {
            return Self::All;
        }
        let mut temperature = 1.0;
        for stage in stages {
            match stage {
                StageName::Temperature => temperature = params.temperature,
                StageName::LogitBias | StageName::Penalties | StageName::Dry => {}
                StageName::TopK => return Self::Rank(params.top_k),
                StageName::MinP => {
                    // A little more than exact, so that rounding in the stage itself decides alone.
                    let below = -params.min_p.ln() * temperature * (1.0 + 1e-9) + 1e-6;
                    return Self::Below { rank: params.min_keep, below };
                }
                _ => return Self::All,
            }
        }
        if greedy { Self::Rank(1) } else { Self::All }
    }

    /// Fills the candidates with the legal tokens that can matter; false where that would not be fewer than all.
    pub(crate) fn gather(
        self,
        candidates: &mut Candidates,
        params: &ResolvedParams,
        step: &StepInput<'_>,
        scratch: &mut Scratch,
    ) -> bool {
        let (rank, below) = match self {
            Self::All => return false,
            Self::Rank(rank) => (rank, None),
            Self::Below { rank, below } => (rank, Some(below)),
        };
        let vocab_size = step.logits.len();
        if rank >= vocab_size / BLOCK {
            return false;
        }
        touch(params, step, scratch);
        let touched = scratch.tally.touched().len();
        block_maxima(step, &mut scratch.maxima);
        scratch.ranking.clone_from(&scratch.maxima);
        let Some(worst) = nth_largest(&mut scratch.ranking, rank + touched) else {
            return false;
        };
        let mut bound = f64::from(worst);
        if let Some(below) = below {
            // The best of the untouched ones is at least this good, and the best of all no worse.
            let Some(best) = nth_largest(&mut scratch.ranking, 1 + touched) else {
                return false;
            };
            bound = bound.min(f64::from(best) - below);
        }
        let matters =
            |id: usize, logit: f32| f64::from(logit) >= bound && step.legal.is_none_or(|mask| is_set(mask, id));
        scratch.selected.clear();
        for (block, max) in scratch.maxima.iter().enumerate() {
            if f64::from(*max) >= bound {
                let range = block * BLOCK..vocab_size.min((block + 1) * BLOCK);
                for id in range {
                    if matters(id, step.logits[id]) {
                        scratch.selected.extend(TokenId::from_index(id));
                    }
                }
            }
        }
        let legal = |id: u32| step.legal.is_none_or(|mask| is_set(mask, id as usize));
        scratch.selected.extend(scratch.tally.touched().iter().filter(|id| legal(**id)).map(|id| TokenId::new(*id)));
        scratch.selected.sort_unstable();
        scratch.selected.dedup();
        candidates.refill(
            scratch
                .selected
                .iter()
                .map(|token| Candidate { logit: f64::from(step.logits[token.index()]), id: token.get() }),
        );
        true
    }
}

fn is_set(mask: &[u32], id: usize) -> bool {
    mask.get(id / 32).is_some_and(|word| word >> (id % 32) & 1 != 0)
}

/// Notes the tokens whose logit some stage may change.
fn touch(params: &ResolvedParams, step: &StepInput<'_>, scratch: &mut Scratch) {
    scratch.tally.reset(step.logits.len());
    let history = params.acting(StageName::Penalties).is_some() || params.acting(StageName::Dry).is_some();
    let (prompt, output): (&[TokenId], &[TokenId]) =
        if history { (step.history.prompt, step.history.output) } else { (&[], &[]) };
    let ends: &[TokenId] = if params.min_tokens > 0 { step.eos } else { &[] };
    let words = params.bad_words.iter().filter_map(|word| word.last());
    for token in prompt.iter().chain(output).chain(ends).chain(words).chain(params.logit_bias.keys()) {
        scratch.tally.update(*token, |_| 1);
    }
}

/// The largest legal logit of each block; −∞ where it has none.
fn block_maxima(step: &StepInput<'_>, maxima: &mut Vec<f32>) {
    maxima.clear();
    let blocks = step.logits.chunks(BLOCK);
    let Some(mask) = step.legal else {
        maxima.extend(blocks.map(max));
        return;
    };
    maxima.extend(mask.iter().zip(blocks).map(|(&word, block)| {
        match word {
            0 => f32::NEG_INFINITY,
            u32::MAX => max(block),
            word => block
                .iter()
                .enumerate()
                .filter(|(bit, _)| word >> bit & 1 != 0)
                .fold(f32::NEG_INFINITY, |max, (_, &z)| if z > max { z } else { max }),
        }
    }));
}

/// The largest of them, in lanes that become vector code.
fn max(logits: &[f32]) -> f32 {
    const LANES: usize = 8;
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let mut rows = logits.chunks_exact(LANES);
    for row in &mut rows {
        for (lane, &z) in lanes.iter_mut().zip(row) {
            *lane = larger(*lane, z);
        }
    }
    let rest = rows.remainder().iter().copied();
    lanes.into_iter().chain(rest).fold(f32::NEG_INFINITY, larger)
}

/// The n-th largest, 1 for the largest; `None` where there are not more than n.
fn nth_largest(values: &mut [f32], n: usize) -> Option<f32> {
    let index = n.checked_sub(1)?;
    if n >= values.len() {
        return None;
    }
    let (_, nth, _) = values.select_nth_unstable_by(index, |a, b| b.total_cmp(a));
    Some(*nth)
}
