//! Everything that one step depends on.

use formwork_automaton::TokenId;

use crate::error::Error;
use crate::history::History;
use crate::random::Draws;

/// One step's input: the model's logits and what goes with them.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StepInput<'a> {
    /// One logit per token id.
    pub logits: &'a [f32],
    /// Bit i of word i/32: whether the constraint allows token i. Tokens without a bit are not allowed; without a constraint
    /// all are.
    pub legal: Option<&'a [u32]>,
    /// What came before.
    pub history: History<'a>,
    /// Tokens that end the text, for `min_tokens`.
    pub eos: &'a [TokenId],
    /// The step's random numbers.
    pub draws: Draws,
}

impl<'a> StepInput<'a> {
    /// A step without constraint and history.
    pub const fn new(logits: &'a [f32], draws: Draws) -> Self {
        Self { logits, legal: None, history: History { prompt: &[], output: &[] }, eos: &[], draws }
    }

    /// Sets the tokens that the constraint allows.
    #[must_use]
    pub const fn legal(mut self, legal: Option<&'a [u32]>) -> Self {
        self.legal = legal;
        self
    }

    /// Sets what came before.
    #[must_use]
    pub const fn history(mut self, history: History<'a>) -> Self {
        self.history = history;
        self
    }

    /// Sets the tokens that end the text.
    #[must_use]
    pub const fn eos(mut self, eos: &'a [TokenId]) -> Self {
        self.eos = eos;
        self
    }
}

/// Refuses logits that are NaN or +∞, and such where none is finite.
pub(crate) fn check_logits(logits: &[f32]) -> Result<(), Error> {
    // No early exit: straight loops over 128k floats become vector code.
    let mut good = true;
    let mut some = false;
    for &z in logits {
        good &= z < f32::INFINITY;
        some |= z > f32::NEG_INFINITY;
    }
    if !good {
        let bad = logits.iter().copied().enumerate().find(|(_, z)| z.is_nan() || *z == f32::INFINITY);
        if let Some((id, value)) = bad {
            return Err(Error::bad_logit(id, value));
        }
    }
    if !some {
        return Err(Error::all_minus_infinity(logits.len()));
    }
    Ok(())
}
