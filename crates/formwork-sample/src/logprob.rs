//! Log-probabilities, each with its stage.

use serde::Serialize;

use crate::error::Error;
use crate::input::StepInput;
use crate::sampler::{Sampled, Sampler};
use crate::stage::grammar::legal_tokens;

/// The natural logarithms of one token's probability, at the four stages that reports know.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LogProbs {
    /// Over the whole vocabulary, before anything.
    pub raw: f64,
    /// Over the legal tokens.
    pub grammar: f64,
    /// Over the legal tokens after bias, penalties and temperature in their order, truncation left out.
    pub scaled: f64,
    /// After every stage.
    #[serde(rename = "final")]
    pub final_: f64,
}

impl std::ops::AddAssign for LogProbs {
    /// Sums up a path, stage by stage.
    fn add_assign(&mut self, other: Self) {
        self.raw += other.raw;
        self.grammar += other.grammar;
        self.scaled += other.scaled;
        self.final_ += other.final_;
    }
}

impl Sampler {
    /// The four log-probabilities of a token that this step drew. Costs a few passes over the vocabulary.
    ///
    /// # Errors
    /// Those of [`sample`](Self::sample); a token that was not among the legal ones.
    pub fn log_probs(&mut self, step: &StepInput<'_>, sampled: &Sampled) -> Result<LogProbs, Error> {
        let token = sampled.token;
        let missing = || Error::not_a_candidate(token.get());
        let logit = *step.logits.get(token.index()).ok_or_else(missing)?;
        if logit == f32::NEG_INFINITY {
            return Err(missing());
        }
        let raw = f64::from(logit) - log_sum_exp(step.logits.iter().copied());
        let grammar = match step.legal {
            None => raw,
            Some(mask) => f64::from(logit) - log_sum_exp(legal_tokens(step.logits, mask).map(|(_, z)| *z)),
        };
        let scaled = if self.scales() { self.scaled_log_prob(step, sampled)? } else { grammar };
        Ok(LogProbs { raw, grammar, scaled, final_: sampled.final_logprob })
    }

    fn scaled_log_prob(&mut self, step: &StepInput<'_>, sampled: &Sampled) -> Result<f64, Error> {
        let token = sampled.token;
        let mut around = self.begin(step)?;
        // A rule lifted because truncation had left little stays lifted for the step.
        around.lifted = sampled.relaxed;
        self.run_scaling(around)?;
        let logit = self
            .candidates
            .items()
            .iter()
            .find(|c| c.id == token.get())
            .map(|c| c.logit)
            .ok_or_else(|| Error::not_a_candidate(token.get()))?;
        Ok(logit - self.candidates.best_logit() - self.candidates.total().ln())
    }
}

pub(crate) fn log_sum_exp(logits: impl Iterator<Item = f32> + Clone) -> f64 {
    let max = f64::from(logits.clone().fold(f32::NEG_INFINITY, f32::max));
    let sum: f64 = logits.map(|z| (f64::from(z) - max).exp()).sum();
    max + sum.ln()
}
