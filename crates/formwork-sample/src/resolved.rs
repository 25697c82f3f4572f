//! Parameters with nothing left open: what the sampler follows and reports print.

use std::collections::BTreeMap;

use formwork_automaton::TokenId;
use serde::Serialize;

use crate::error::Error;
use crate::order::{self, OrderEntry, StageName};
use crate::params::{PenaltyScope, SamplingParams, TopKTies};
use crate::preset::Preset;
use crate::wire;

/// Every parameter's value after presets and defaults; made by [`SamplingParams::resolve`].
///
/// Written as JSON it has the names of [`SamplingParams`], so that a report's parameters can be read back as a request's.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the fields are those of `SamplingParams`, described there")]
#[non_exhaustive]
pub struct ResolvedParams {
    pub preset: Preset,
    pub preset_defaults: bool,
    pub order: Vec<OrderEntry>,
    pub temperature: f64,
    pub top_k: usize,
    pub top_k_ties: TopKTies,
    pub top_p: f64,
    pub min_p: f64,
    pub min_keep: usize,
    pub typical_p: f64,
    pub top_n_sigma: f64,
    pub xtc_probability: f64,
    pub xtc_threshold: f64,
    pub repetition_penalty: f64,
    pub presence_penalty: f64,
    pub frequency_penalty: f64,
    pub penalty_scope: ResolvedScopes,
    pub penalty_last_n: Option<usize>,
    pub no_repeat_ngram_size: usize,
    pub dry_multiplier: f64,
    pub dry_base: f64,
    pub dry_allowed_length: usize,
    #[serde(serialize_with = "wire::write_ids")]
    pub dry_breakers: Vec<TokenId>,
    #[serde(serialize_with = "wire::write_bias")]
    pub logit_bias: BTreeMap<TokenId, f64>,
    #[serde(serialize_with = "wire::write_id_lists")]
    pub bad_words: Vec<Vec<TokenId>>,
    #[serde(serialize_with = "wire::write_optional_ids")]
    pub allowed_token_ids: Option<Vec<TokenId>>,
    pub min_tokens: usize,
}

/// What each penalty looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResolvedScopes {
    /// Of `repetition_penalty`.
    pub repetition: PenaltyScope,
    /// Of `presence_penalty`.
    pub presence: PenaltyScope,
    /// Of `frequency_penalty`.
    pub frequency: PenaltyScope,
}

impl ResolvedParams {
    pub(crate) fn new(given: &SamplingParams) -> Result<Self, Error> {
        let preset = given.preset.unwrap_or_default();
        let preset_defaults = given.preset_defaults.unwrap_or(false);
        let engine = if preset_defaults { preset.values() } else { SamplingParams::default() };
        macro_rules! pick {
            ($name:ident or $neutral:expr) => {
                given.$name.or(engine.$name).unwrap_or($neutral)
            };
        }
        let scopes = given.penalty_scope.unwrap_or_default();
        let engine_scopes = preset.penalty_scope();
        let scope = |given: Option<PenaltyScope>, engine: Option<PenaltyScope>| {
            given.or(engine).unwrap_or(PenaltyScope::Output)
        };
        let resolved = Self {
            preset,
            preset_defaults,
            order: given.order.clone().unwrap_or_else(|| preset.order()),
            temperature: pick!(temperature or 1.0),
            top_k: pick!(top_k or 0),
            top_k_ties: given.top_k_ties.unwrap_or(preset.top_k_ties()),
            top_p: pick!(top_p or 1.0),
            min_p: pick!(min_p or 0.0),
            min_keep: pick!(min_keep or 1),
            typical_p: pick!(typical_p or 1.0),
            top_n_sigma: pick!(top_n_sigma or 0.0),
            xtc_probability: pick!(xtc_probability or 0.0),
            xtc_threshold: pick!(xtc_threshold or 0.1),
            repetition_penalty: pick!(repetition_penalty or 1.0),
            presence_penalty: pick!(presence_penalty or 0.0),
            frequency_penalty: pick!(frequency_penalty or 0.0),
            penalty_scope: ResolvedScopes {
                repetition: scope(scopes.repetition, engine_scopes.repetition),
                presence: scope(scopes.presence, engine_scopes.presence),
                frequency: scope(scopes.frequency, engine_scopes.frequency),
            },
            penalty_last_n: given.penalty_last_n.or(engine.penalty_last_n),
            no_repeat_ngram_size: pick!(no_repeat_ngram_size or 0),
            dry_multiplier: pick!(dry_multiplier or 0.0),
            dry_base: pick!(dry_base or 1.75),
            dry_allowed_length: pick!(dry_allowed_length or 2),
            dry_breakers: given.dry_breakers.clone().unwrap_or_default(),
            logit_bias: given.logit_bias.clone().unwrap_or_default(),
            bad_words: given.bad_words.clone().unwrap_or_default(),
            allowed_token_ids: given.allowed_token_ids.clone(),
            min_tokens: pick!(min_tokens or 0),
        };
        resolved.check()?;
        Ok(resolved)
    }

    fn check(&self) -> Result<(), Error> {
        const FRACTION: &str = "a number from 0 to 1";
        const FINITE: &str = "a finite number";
        const NOT_NEGATIVE: &str = "a finite number, 0 or more";
        const POSITIVE: &str = "a finite number above 0";
        let within = |name, value: f64, good: bool, wanted| {
            if good { Ok(()) } else { Err(Error::parameter_value(name, value, wanted)) }
        };
        let fraction = |name, value: f64| within(name, value, (0.0..=1.0).contains(&value), FRACTION);
        let not_negative = |name, value: f64| within(name, value, value.is_finite() && value >= 0.0, NOT_NEGATIVE);
        let positive = |name, value: f64| within(name, value, value.is_finite() && value > 0.0, POSITIVE);

        not_negative("temperature", self.temperature)?;
        fraction("top_p", self.top_p)?;
        fraction("min_p", self.min_p)?;
        fraction("typical_p", self.typical_p)?;
        not_negative("top_n_sigma", self.top_n_sigma)?;
        fraction("xtc_probability", self.xtc_probability)?;
        fraction("xtc_threshold", self.xtc_threshold)?;
        positive("repetition_penalty", self.repetition_penalty)?;
        within("presence_penalty", self.presence_penalty, self.presence_penalty.is_finite(), FINITE)?;
        within("frequency_penalty", self.frequency_penalty, self.frequency_penalty.is_finite(), FINITE)?;
        not_negative("dry_multiplier", self.dry_multiplier)?;
        positive("dry_base", self.dry_base)?;
        if self.min_keep == 0 {
            return Err(Error::parameter_value("min_keep", 0, "1 or more"));
        }
        if self.dry_allowed_length == 0 {
            return Err(Error::parameter_value("dry_allowed_length", 0, "1 or more"));
        }
        for bias in self.logit_bias.values() {
            within("logit_bias", *bias, *bias < f64::INFINITY, "finite or -inf for every token")?;
        }
        if self.bad_words.iter().any(Vec::is_empty) {
            return Err(Error::parameter_value("bad_words", "[]", "one token or more for every word"));
        }
        order::check(&self.order)?;
        self.check_stages_are_named()
    }

    /// A parameter that no stage of the order would look at is refused rather than ignored.
    fn check_stages_are_named(&self) -> Result<(), Error> {
        let named = |stage| self.order.iter().any(|entry| entry.stages().contains(&stage));
        for stage in StageName::ALL {
            if let (Some(parameter), false) = (self.acting(stage), named(stage)) {
                return Err(Error::stage_not_in_order(parameter, stage));
            }
        }
        Ok(())
    }

    /// A parameter that makes `stage` act; `None` where all of them are neutral.
    pub(crate) fn acting(&self, stage: StageName) -> Option<&'static str> {
        #[expect(clippy::float_cmp, reason = "a neutral value is that exact number, not one near it")]
        let table: &[(bool, &'static str)] = match stage {
            StageName::LogitBias => &[
                (!self.logit_bias.is_empty(), "logit_bias"),
                (!self.bad_words.is_empty(), "bad_words"),
                (self.allowed_token_ids.is_some(), "allowed_token_ids"),
                (self.min_tokens > 0, "min_tokens"),
            ],
            StageName::Penalties => &[
                (self.repetition_penalty != 1.0, "repetition_penalty"),
                (self.presence_penalty != 0.0, "presence_penalty"),
                (self.frequency_penalty != 0.0, "frequency_penalty"),
                (self.no_repeat_ngram_size > 0, "no_repeat_ngram_size"),
            ],
            StageName::Dry => &[(self.dry_multiplier != 0.0, "dry_multiplier")],
            StageName::Temperature => &[(self.temperature != 1.0, "temperature")],
            StageName::TopK => &[(self.top_k > 0, "top_k")],
            StageName::TopP => &[(self.top_p != 1.0, "top_p")],
            StageName::MinP => &[(self.min_p != 0.0, "min_p")],
            StageName::TypicalP => &[(self.typical_p != 1.0, "typical_p")],
            StageName::TopNSigma => &[(self.top_n_sigma != 0.0, "top_n_sigma")],
            StageName::Xtc => &[(self.xtc_probability != 0.0, "xtc_probability")],
        };
        table.iter().find(|(acts, _)| *acts).map(|(_, name)| *name)
    }

    /// Whether the best token is taken without a draw.
    pub fn is_greedy(&self) -> bool {
        self.temperature == 0.0
    }
}
