//! Beams: what a step offers them, and how they are scored.

use formwork_automaton::TokenId;
use serde::{Deserialize, Serialize};

use crate::candidates::{Candidate, Candidates};
use crate::error::Error;
use crate::input::check_logits;
use crate::logprob::log_sum_exp;
use crate::stage::grammar;

/// What a beam's score sums over its path, forced tokens included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BeamScore {
    /// `raw` log-probabilities: the best beam maximises p(text | legal).
    #[default]
    Raw,
    /// `grammar` log-probabilities, renormalised over the legal tokens of each step.
    Grammar,
}

/// How a score is corrected for its beam's length, so that long beams can win.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LengthCorrection {
    /// score / length^α; α = 0 corrects nothing.
    Power(f64),
    /// score / ((5 + length) / 6)^α, as GNMT does.
    Gnmt(f64),
}

impl Default for LengthCorrection {
    fn default() -> Self {
        Self::Power(0.0)
    }
}

impl LengthCorrection {
    /// A sum of log-probabilities, corrected for a beam of `length` tokens.
    ///
    /// ```
    /// use formwork_sample::LengthCorrection;
    /// assert_eq!(LengthCorrection::Power(1.0).apply(-6.0, 3), -2.0);
    /// assert_eq!(LengthCorrection::Gnmt(1.0).apply(-6.0, 7), -3.0);
    /// assert_eq!(LengthCorrection::default().apply(-6.0, 3), -6.0);
    /// ```
    pub fn apply(self, sum: f64, length: usize) -> f64 {
        // Beams are far shorter than 2³² tokens, and an empty one has nothing to correct.
        let length = f64::from(u32::try_from(length.max(1)).unwrap_or(u32::MAX));
        match self {
            Self::Power(alpha) => sum / length.powf(alpha),
            Self::Gnmt(alpha) => sum / ((5.0 + length) / 6.0).powf(alpha),
        }
    }

    /// The best score that a live beam can still end with: sums only fall, and at which length the correction helps most
    /// depends on its sign.
    pub fn best_attainable(self, sum: f64, length: usize, max_length: usize) -> f64 {
        self.apply(sum, length).max(self.apply(sum, max_length.max(length)))
    }

    /// # Errors
    /// An α that is not finite.
    pub fn validate(self) -> Result<(), Error> {
        let (Self::Power(alpha) | Self::Gnmt(alpha)) = self;
        if alpha.is_finite() {
            return Ok(());
        }
        Err(Error::parameter_value("length_penalty", alpha, "a finite number"))
    }
}

/// A token that a beam can go on with.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BeamToken {
    /// Its id.
    pub token: TokenId,
    /// Its log-probability over the whole vocabulary.
    pub raw: f64,
    /// Its log-probability over the legal tokens.
    pub grammar: f64,
}

impl BeamToken {
    /// The one that counts.
    pub const fn score(&self, by: BeamScore) -> f64 {
        match by {
            BeamScore::Raw => self.raw,
            BeamScore::Grammar => self.grammar,
        }
    }
}

/// The `count` best legal tokens to go on with, best first; equal ones by lower id. `legal` is a mask as in
/// [`StepInput`](crate::StepInput).
///
/// # Errors
/// Logits that are NaN, +∞ or all −∞; no legal token with a finite logit.
pub fn beam_tokens(logits: &[f32], legal: Option<&[u32]>, count: usize) -> Result<Vec<BeamToken>, Error> {
    check_logits(logits)?;
    let mut candidates = Candidates::default();
    grammar::gather(&mut candidates, logits, legal)?;
    let over_all = log_sum_exp(logits.iter().copied());
    let over_legal = candidates.best_logit() + candidates.total().ln();
    candidates.keep_best(count);
    let tokens = (0..candidates.len()).filter_map(|rank| candidates.ranked(rank));
    let best: Vec<Candidate> = tokens.collect();
    Ok(best
        .into_iter()
        .map(|c| BeamToken { token: TokenId::new(c.id), raw: c.logit - over_all, grammar: c.logit - over_legal })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_offers_its_best_legal_tokens() {
        // ln 4, ln 2, ln 1, ln 1: 4/8, 2/8, 1/8, 1/8; without the first 2/4, 1/4, 1/4.
        let logits = [4.0_f32.ln(), 2.0_f32.ln(), 0.0, 0.0];
        let tokens = beam_tokens(&logits, Some(&[0b1110]), 2).unwrap();
        let close = |a: f64, b: f64| (a - b.ln()).abs() < 1e-6;
        assert_eq!(tokens.iter().map(|t| t.token.get()).collect::<Vec<_>>(), [1, 2]);
        assert!(close(tokens[0].raw, 0.25) && close(tokens[0].grammar, 0.5));
        assert!(close(tokens[1].score(BeamScore::Raw), 0.125) && close(tokens[1].score(BeamScore::Grammar), 0.25));
        assert_eq!(beam_tokens(&logits, Some(&[0]), 2).unwrap_err().code(), "nothing_legal");
    }

    #[test]
    fn bounds_hold_for_both_signs() {
        for alpha in [-1.0, 0.0, 0.7, 2.0] {
            for correction in [LengthCorrection::Power(alpha), LengthCorrection::Gnmt(alpha)] {
                let bound = correction.best_attainable(-3.0, 4, 20);
                for length in 4..=20 {
                    assert!(correction.apply(-3.0, length) <= bound + 1e-12);
                    assert!(correction.apply(-5.0, length) <= bound + 1e-12);
                }
            }
        }
        assert_eq!(LengthCorrection::Power(f64::NAN).validate().unwrap_err().code(), "invalid_parameter");
    }
}
