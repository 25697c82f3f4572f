//! A step as JSON gives it, to `formwork explain` and in the worked cases.

use formwork_automaton::TokenId;
use serde::Deserialize;

use crate::error::Error;
use crate::explain::Explanation;
use crate::history::History;
use crate::input::StepInput;
use crate::params::SamplingParams;
use crate::random::Draws;
use crate::sampler::Sampler;
use crate::wire;

/// One step: logits, what is allowed, what came before, parameters and random numbers.
///
/// ```
/// use formwork_sample::ExplainRequest;
/// let request: ExplainRequest = serde_json::from_str(
///     r#"{"logits": [1.0, 2.0, "-inf"], "allowed": [0, 2], "params": {"temperature": 0.7}, "u": 0.5}"#,
/// )?;
/// assert_eq!(request.explain()?.chosen, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExplainRequest {
    /// One per token id; `"-inf"` for −∞.
    #[serde(deserialize_with = "wire::read_logits")]
    pub logits: Vec<f32>,
    /// The ids that the constraint allows; all where not given.
    #[serde(default, deserialize_with = "wire::read_ids")]
    pub allowed: Option<Vec<TokenId>>,
    /// What came before.
    #[serde(default)]
    pub history: RequestHistory,
    /// The sampling parameters.
    #[serde(default)]
    pub params: SamplingParams,
    /// The number in [0, 1) that decides the token.
    pub u: f64,
    /// The number in [0, 1) that decides whether `xtc` acts.
    #[serde(default)]
    pub u_xtc: f64,
    /// Ids that end the text, for `min_tokens`.
    #[serde(default, deserialize_with = "wire::read_id_list")]
    pub eos: Vec<TokenId>,
}

/// The tokens before the step.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct RequestHistory {
    /// The prompt's.
    #[serde(deserialize_with = "wire::read_id_list")]
    pub prompt: Vec<TokenId>,
    /// Those generated so far.
    #[serde(deserialize_with = "wire::read_id_list")]
    pub output: Vec<TokenId>,
}

impl ExplainRequest {
    /// The step, stage by stage.
    ///
    /// # Errors
    /// A parameter or random number out of range, an allowed id without a logit, and everything that
    /// [`Sampler::sample`] refuses.
    pub fn explain(&self) -> Result<Explanation, Error> {
        for (name, u) in [("u", self.u), ("u_xtc", self.u_xtc)] {
            if !(0.0..1.0).contains(&u) {
                return Err(Error::parameter_value(name, u, "from 0 to below 1"));
            }
        }
        let mask = self.allowed.as_deref().map(|ids| self.mask(ids)).transpose()?;
        let draws = Draws { u: self.u, u_xtc: self.u_xtc };
        let step = StepInput::new(&self.logits, draws)
            .legal(mask.as_deref())
            .history(History { prompt: &self.history.prompt, output: &self.history.output })
            .eos(&self.eos);
        Sampler::new(&self.params)?.explain(&step)
    }

    fn mask(&self, allowed: &[TokenId]) -> Result<Vec<u32>, Error> {
        let mut mask = vec![0; self.logits.len().div_ceil(32)];
        for token in allowed {
            if token.index() >= self.logits.len() {
                return Err(Error::parameter_value("allowed", token, "an id that has a logit"));
            }
            mask[token.index() / 32] |= 1 << (token.get() % 32);
        }
        Ok(mask)
    }
}
