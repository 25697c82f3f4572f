//! One file per stage; each takes the candidates and leaves them as the next stage shall see them.

pub(crate) mod combined;
pub(crate) mod dry;
pub(crate) mod grammar;
pub(crate) mod logit_bias;
pub(crate) mod min_p;
pub(crate) mod penalties;
pub(crate) mod temperature;
pub(crate) mod top_k;
pub(crate) mod top_n_sigma;
pub(crate) mod top_p;
pub(crate) mod typical_p;
pub(crate) mod xtc;

use formwork_automaton::TokenId;

use crate::candidates::{Candidate, Candidates};
use crate::history::{History, Tally};
use crate::input::StepInput;
use crate::relaxed::RelaxedSet;

/// What a stage may look at besides the candidates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) history: History<'a>,
    /// Tokens that end the text.
    pub(crate) eos: &'a [TokenId],
    /// The step's second random number.
    pub(crate) u_xtc: f64,
    /// One more than the largest id.
    pub(crate) vocab_size: usize,
    /// Rules that are lifted already.
    pub(crate) lifted: RelaxedSet,
    /// Whether a constraint chose the tokens (for messages).
    pub(crate) constrained: bool,
}

impl<'a> Surroundings<'a> {
    pub(crate) fn new(step: &StepInput<'a>) -> Self {
        Self {
            history: step.history,
            eos: step.eos,
            u_xtc: step.draws.u_xtc,
            vocab_size: step.logits.len(),
            lifted: RelaxedSet::default(),
            constrained: step.legal.is_some(),
        }
    }
}

/// Memory that stages use within a step, kept from step to step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) tally: Tally,
    pub(crate) tokens: Vec<TokenId>,
    pub(crate) lengths: Vec<usize>,
    pub(crate) rated: Vec<(f64, Candidate)>,
    pub(crate) copy: Candidates,
    pub(crate) maxima: Vec<f32>,
    pub(crate) ranking: Vec<f32>,
    pub(crate) selected: Vec<TokenId>,
    pub(crate) relaxed: RelaxedSet,
}
