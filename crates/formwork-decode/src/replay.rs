//! Reads a report back: the request it came from, and whether another run gave the same.

use formwork_automaton::TokenId;
use formwork_sample::SamplingParams;
use serde::Deserialize;

use crate::error::Error;
use crate::report::{FinishReason, Generation};
use crate::request::GenerateRequest;
use crate::stop::StopConditions;

/// What a report says about how its text came about.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Recorded {
    /// The text.
    pub text: String,
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// What it takes to get it again.
    reproduce: Reproduce,
}

#[derive(Clone, Debug, Deserialize)]
struct Reproduce {
    prompt_ids: Vec<u32>,
    params: SamplingParams,
    #[serde(default)]
    stop: StopConditions,
    max_tokens: usize,
    seed: u64,
    #[serde(default)]
    sequence: u64,
    tokenizer_sha256: Option<String>,
    constraint_sha256: Option<String>,
    model: Option<crate::report::ModelInfo>,
    steps: Vec<RecordedStep>,
}

/// One step of a report.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct RecordedStep {
    /// The token's id.
    pub id: u32,
    /// The step's random number.
    pub u: f64,
    /// Its log-probabilities, where the report has them.
    #[serde(default)]
    logprob: Option<RecordedLogProbs>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
struct RecordedLogProbs {
    raw: f64,
    grammar: f64,
    scaled: f64,
    #[serde(rename = "final")]
    final_: f64,
}

/// How a second run compares with a report.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Comparison {
    /// The same tokens, text and end.
    Same {
        /// The largest difference of two log-probabilities, where both have them.
        largest_difference: Option<f64>,
    },
    /// Not the same.
    Differs {
        /// The first step whose tokens differ, or at which only one run ended.
        step: usize,
        /// Whether the random numbers of that step differ. Where they don't, the probabilities did.
        draw_differs: bool,
        /// The largest difference of two log-probabilities up to that step, where both runs have them.
        largest_difference: Option<f64>,
    },
}

impl Recorded {
    /// Reads a report.
    ///
    /// # Errors
    /// It is not JSON, or lacks what a replay needs.
    pub fn from_report(json: &str) -> Result<Self, Error> {
        serde_json::from_str(json).map_err(Error::report)
    }

    /// The request that gave the report. Log-probabilities are asked for where the report has them.
    pub fn request(&self) -> GenerateRequest {
        let reproduce = &self.reproduce;
        let prompt: Vec<_> = reproduce.prompt_ids.iter().copied().map(TokenId::new).collect();
        GenerateRequest::new(prompt)
            .sampling(reproduce.params.clone())
            .stop(reproduce.stop.clone())
            .max_tokens(reproduce.max_tokens)
            .seed(reproduce.seed)
            .sequence(reproduce.sequence)
            .logprobs(reproduce.steps.iter().any(|step| step.logprob.is_some()))
    }

    /// The model that the report names.
    pub const fn model(&self) -> Option<&crate::report::ModelInfo> {
        self.reproduce.model.as_ref()
    }

    /// SHA-256 of the tokenizer, in hexadecimal.
    pub fn tokenizer_sha256(&self) -> Option<&str> {
        self.reproduce.tokenizer_sha256.as_deref()
    }

    /// SHA-256 of the constraint, in hexadecimal.
    pub fn constraint_sha256(&self) -> Option<&str> {
        self.reproduce.constraint_sha256.as_deref()
    }

    /// The steps.
    pub fn steps(&self) -> &[RecordedStep] {
        &self.reproduce.steps
    }

    /// Compares a second run with the report.
    pub fn compare(&self, again: &Generation) -> Comparison {
        let (old, new) = (&self.reproduce.steps, &again.reproduce.steps);
        let same = old.iter().zip(new).take_while(|(a, b)| a.id == b.id).count();
        let largest_difference = old
            .iter()
            .zip(new)
            .take(same)
            .filter_map(|(a, b)| Some((a.logprob?, b.logprob?)))
            .flat_map(|(a, b)| {
                [
                    (a.raw - b.raw).abs(),
                    (a.grammar - b.grammar).abs(),
                    (a.scaled - b.scaled).abs(),
                    (a.final_ - b.final_).abs(),
                ]
            })
            .reduce(f64::max);
        let ended_alike = same == old.len()
            && same == new.len()
            && self.text == again.text
            && self.finish_reason == again.finish_reason;
        if ended_alike {
            return Comparison::Same { largest_difference };
        }
        let draw_differs = old.get(same).zip(new.get(same)).is_some_and(|(a, b)| a.u.to_bits() != b.u.to_bits());
        Comparison::Differs { step: same, draw_differs, largest_difference }
    }
}
