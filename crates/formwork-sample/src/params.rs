//! What a request may set about sampling.

use std::collections::BTreeMap;

use formwork_automaton::TokenId;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::order::OrderEntry;
use crate::preset::Preset;
use crate::resolved::ResolvedParams;
use crate::wire;

/// Sampling parameters as a request gives them: what is `None` takes its preset's or the neutral value.
///
/// ```
/// use formwork_sample::SamplingParams;
/// let params = SamplingParams::default().temperature(0.7).top_k(40);
/// assert_eq!(params.resolve()?.temperature, 0.7);
/// let read: SamplingParams = serde_json::from_str(r#"{"temperature": 0.7, "top_k": 40}"#)?;
/// assert_eq!(read, params);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SamplingParams {
    /// The engine whose order and conventions to follow.
    pub preset: Option<Preset>,
    /// Whether to take that engine's default values too.
    pub preset_defaults: Option<bool>,
    /// In which order the stages act.
    pub order: Option<Vec<OrderEntry>>,
    /// Divides the logits; 0 always takes the best token; neutral: 1.
    pub temperature: Option<f64>,
    /// How many of the best to keep; neutral: 0.
    pub top_k: Option<usize>,
    /// What becomes of tokens that are equal to the k-th.
    pub top_k_ties: Option<TopKTies>,
    /// The mass of the best prefix to keep; neutral: 1.
    pub top_p: Option<f64>,
    /// The least probability to keep, as a part of the best one's; neutral: 0.
    pub min_p: Option<f64>,
    /// How many tokens `top_p`, `min_p` and `typical_p` leave at the least; 1 where not given.
    pub min_keep: Option<usize>,
    /// The mass of the most typical tokens to keep; neutral: 1.
    pub typical_p: Option<f64>,
    /// How many standard deviations below the best logit to keep; neutral: 0.
    pub top_n_sigma: Option<f64>,
    /// How often `xtc` acts; neutral: 0.
    pub xtc_probability: Option<f64>,
    /// From which probability on `xtc` leaves tokens out; 0.1 where not given.
    pub xtc_threshold: Option<f64>,
    /// Divides positive and multiplies other logits of tokens seen; neutral: 1.
    pub repetition_penalty: Option<f64>,
    /// Taken from the logit of tokens seen; neutral: 0.
    pub presence_penalty: Option<f64>,
    /// Taken from the logit of tokens seen, once per time; neutral: 0.
    pub frequency_penalty: Option<f64>,
    /// What each of the three penalties looks at.
    pub penalty_scope: Option<PenaltyScopes>,
    /// How many tokens at the end of each scope count; all where not given.
    pub penalty_last_n: Option<usize>,
    /// The length of runs of tokens that may not come twice; neutral: 0.
    pub no_repeat_ngram_size: Option<usize>,
    /// Weight of the penalty on continuing a repeated run; neutral: 0.
    pub dry_multiplier: Option<f64>,
    /// By how much that penalty grows with each token of the run; 1.75 where not given.
    pub dry_base: Option<f64>,
    /// From which length on runs are penalised; 2 where not given.
    pub dry_allowed_length: Option<usize>,
    /// Tokens that end a run and are never penalised by `dry`.
    #[serde(deserialize_with = "wire::read_ids")]
    pub dry_breakers: Option<Vec<TokenId>>,
    /// Added to the logits of single tokens; −∞ (`"-inf"` in JSON) forbids one.
    #[serde(deserialize_with = "wire::read_bias")]
    pub logit_bias: Option<BTreeMap<TokenId, f64>>,
    /// Runs of tokens that may not come, each spelt as token ids.
    #[serde(deserialize_with = "wire::read_id_lists")]
    pub bad_words: Option<Vec<Vec<TokenId>>>,
    /// The only tokens that may come.
    #[serde(deserialize_with = "wire::read_ids")]
    pub allowed_token_ids: Option<Vec<TokenId>>,
    /// How many tokens come before the end may.
    pub min_tokens: Option<usize>,
}

/// What `top_k` does with tokens that are exactly as good as the k-th.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TopKTies {
    /// k tokens stay; among equal ones those of lower id.
    #[default]
    Exact,
    /// All that are equal to the k-th stay too.
    Keep,
}

/// The tokens that a penalty looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PenaltyScope {
    /// Prompt and output.
    All,
    /// The output alone.
    Output,
}

/// The scope of each penalty; what is `None` takes its preset's: by default `all` for repetition, `output` for the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct PenaltyScopes {
    /// Of `repetition_penalty`.
    pub repetition: Option<PenaltyScope>,
    /// Of `presence_penalty`.
    pub presence: Option<PenaltyScope>,
    /// Of `frequency_penalty`.
    pub frequency: Option<PenaltyScope>,
}

impl PenaltyScopes {
    /// The same scope for all three.
    pub const fn same(scope: PenaltyScope) -> Self {
        Self { repetition: Some(scope), presence: Some(scope), frequency: Some(scope) }
    }
}

macro_rules! setters {
    ($($name:ident: $type:ty),* $(,)?) => {
        impl SamplingParams {
            $(
                #[doc = concat!("Sets [`", stringify!($name), "`](Self#structfield.", stringify!($name), ").")]
                #[must_use]
                pub fn $name(mut self, $name: $type) -> Self {
                    self.$name = Some($name);
                    self
                }
            )*
        }
    };
}

setters! {
    preset: Preset,
    preset_defaults: bool,
    order: Vec<OrderEntry>,
    temperature: f64,
    top_k: usize,
    top_k_ties: TopKTies,
    top_p: f64,
    min_p: f64,
    min_keep: usize,
    typical_p: f64,
    top_n_sigma: f64,
    xtc_probability: f64,
    xtc_threshold: f64,
    repetition_penalty: f64,
    presence_penalty: f64,
    frequency_penalty: f64,
    penalty_scope: PenaltyScopes,
    penalty_last_n: usize,
    no_repeat_ngram_size: usize,
    dry_multiplier: f64,
    dry_base: f64,
    dry_allowed_length: usize,
    dry_breakers: Vec<TokenId>,
    logit_bias: BTreeMap<TokenId, f64>,
    bad_words: Vec<Vec<TokenId>>,
    allowed_token_ids: Vec<TokenId>,
    min_tokens: usize,
}

impl SamplingParams {
    /// Fills in what was left open, and checks every value.
    ///
    /// # Errors
    /// Names the parameter whose value is out of range, a stage that `order` names twice, or a parameter whose stage `order`
    /// does not name.
    pub fn resolve(&self) -> Result<ResolvedParams, Error> {
        ResolvedParams::new(self)
    }

    /// Whether [`resolve`](Self::resolve) would succeed.
    ///
    /// # Errors
    /// Those of [`resolve`](Self::resolve).
    pub fn validate(&self) -> Result<(), Error> {
        self.resolve().map(drop)
    }
}
