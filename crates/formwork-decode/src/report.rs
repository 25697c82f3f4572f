//! The report: the text, how it ended, and everything needed to check and to repeat it.

use formwork_sample::{LogProbs, Relaxed, ResolvedParams};
use serde::{Deserialize, Serialize};

use crate::error::Failure;
use crate::parse::Parse;
use crate::stop::StopConditions;
use crate::timing::Timing;
use crate::validation::Validation;

/// A finished generation. Written as JSON it is the report.
///
/// How it ended, whether the text parses and whether its content is valid are three fields filled by three separate pieces of
/// code; none is inferred from another.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Generation {
    /// What was generated, without the stop string unless asked.
    pub text: String,
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// What it stopped at, for `stop_string` and `stop_token`.
    pub stop: Option<Stop>,
    /// What went wrong, for `error`.
    pub error: Option<Failure>,
    /// Whether the text is JSON, where it should be.
    pub parse: Parse,
    /// Whether its content fits the schema, where there is one.
    pub validation: Validation,
    /// Rules that were lifted, and where.
    pub relaxed: Vec<RelaxedStep>,
    /// What the person should know.
    pub warnings: Vec<String>,
    /// Tokens used, and masks computed.
    pub usage: Usage,
    /// Time spent.
    pub timing_us: Timing,
    /// What it takes to get the same text again.
    pub reproduce: Reproduce,
}

/// Why a generation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// The constraint is satisfied and nothing may follow.
    Grammar,
    /// A token that ends the text.
    Eos,
    /// A stop string.
    StopString,
    /// A stop token.
    StopToken,
    /// The budget is used up.
    MaxTokens,
    /// Somebody stopped it.
    Cancelled,
    /// It failed.
    Error,
}

/// What a generation stopped at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Stop {
    /// A stop string.
    String {
        /// It.
        string: String,
        /// The byte of the generated text at which it begins.
        at: usize,
    },
    /// A stop token.
    Token {
        /// Its id.
        token_id: u32,
        /// The byte of the generated text at which its text begins or would begin.
        at: usize,
    },
}

/// A rule that was lifted for one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RelaxedStep {
    /// The output position.
    pub step: usize,
    /// The rule's name.
    pub stage: Relaxed,
}

/// How many tokens were used, and masks computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Usage {
    /// The prompt's.
    pub prompt_tokens: usize,
    /// Generated ones, with forced ones and the one that ended the text.
    pub completion_tokens: usize,
    /// Those without an alternative.
    pub forced_tokens: usize,
    /// Those that a draft proposed and the model confirmed.
    pub draft_accepted: usize,
    /// Masks that were computed: neither kept from before nor taken from an artefact.
    pub masks_computed: u64,
}

/// Where the logits and masks came from; filled in by who loaded them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Provenance {
    /// The model.
    pub model: Option<ModelInfo>,
    /// SHA-256 of the tokenizer, in hexadecimal.
    pub tokenizer_sha256: Option<String>,
    /// SHA-256 of the constraint, in hexadecimal.
    pub constraint_sha256: Option<String>,
    /// How long the constraint took to compile, in microseconds.
    #[serde(skip)]
    pub compile_us: Option<u64>,
}

impl Provenance {
    /// Sets the model.
    #[must_use]
    pub fn model(mut self, model: ModelInfo) -> Self {
        self.model = Some(model);
        self
    }

    /// Sets the tokenizer's SHA-256.
    #[must_use]
    pub fn tokenizer_sha256(mut self, sha256: impl Into<String>) -> Self {
        self.tokenizer_sha256 = Some(sha256.into());
        self
    }

    /// Sets the constraint's SHA-256.
    #[must_use]
    pub fn constraint_sha256(mut self, sha256: impl Into<String>) -> Self {
        self.constraint_sha256 = Some(sha256.into());
        self
    }

    /// Sets how long the constraint took to compile.
    #[must_use]
    pub const fn compile_us(mut self, compile_us: u64) -> Self {
        self.compile_us = Some(compile_us);
        self
    }
}

/// A model, as reports name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ModelInfo {
    /// Its name or path.
    pub id: String,
    /// SHA-256 of its weights, in hexadecimal.
    pub sha256: String,
    /// The number format that it computes in.
    pub dtype: String,
    /// Where it ran.
    pub device: String,
}

/// What it takes to get the same text again.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Reproduce {
    /// Formwork's version.
    pub formwork: &'static str,
    /// Model, tokenizer and constraint.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The prompt's tokens.
    pub prompt_ids: Vec<u32>,
    /// The sampling parameters with nothing left open.
    pub params: ResolvedParams,
    /// The stop conditions.
    pub stop: StopConditions,
    /// The budget.
    pub max_tokens: usize,
    /// The seed, given or drawn.
    pub seed: u64,
    /// The sequence's index in its request.
    pub sequence: u64,
    /// The generator's name.
    pub rng: &'static str,
    /// The generated tokens.
    pub output_ids: Vec<u32>,
    /// How each of them came about.
    pub steps: Vec<Step>,
}

/// How one token came about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// The token's id.
    pub id: u32,
    /// The random number of its position, used or not.
    pub u: f64,
    /// Whether it had no alternative.
    pub forced: bool,
    /// Its log-probabilities, where they were asked for.
    pub logprob: Option<LogProbs>,
}

impl Generation {
    /// The log-probabilities of the whole sequence, where they were asked for: the sums over its steps.
    pub fn joint_logprob(&self) -> Option<LogProbs> {
        let mut steps = self.reproduce.steps.iter().map(|step| step.logprob);
        let mut joint = steps.next()??;
        for logprob in steps {
            joint += logprob?;
        }
        Some(joint)
    }
}
