//! The conventions of other engines: their order, what they do with ties, what their penalties look at; on request also
//! their default values.

use serde::{Deserialize, Serialize};

use crate::order::{DEFAULT, OrderEntry, StageName};
use crate::params::{PenaltyScope, PenaltyScopes, SamplingParams, TopKTies};

/// An engine to sample like. The grammar comes first in every one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub enum Preset {
    /// Formwork's own conventions.
    #[default]
    #[serde(rename = "default")]
    Default,
    /// Transformers' `generate` when it samples.
    #[serde(rename = "huggingface")]
    HuggingFace,
    /// vLLM.
    #[serde(rename = "vllm")]
    Vllm,
    /// llama.cpp.
    #[serde(rename = "llama.cpp")]
    LlamaCpp,
}

impl Preset {
    pub(crate) fn order(self) -> Vec<OrderEntry> {
        use StageName::{Dry, LogitBias, MinP, Penalties, Temperature, TopK, TopNSigma, TopP, TypicalP, Xtc};
        let order: &[StageName] = match self {
            Self::Default => &DEFAULT,
            Self::HuggingFace => &[LogitBias, Penalties, Temperature, TopK, TopP, MinP, TypicalP],
            Self::Vllm => &[LogitBias, Penalties, Temperature, MinP, TopK, TopP],
            Self::LlamaCpp => &[LogitBias, Penalties, Dry, TopNSigma, TopK, TypicalP, TopP, MinP, Xtc, Temperature],
        };
        order.iter().copied().map(OrderEntry::Stage).collect()
    }

    pub(crate) const fn top_k_ties(self) -> TopKTies {
        match self {
            Self::Default | Self::LlamaCpp => TopKTies::Exact,
            Self::HuggingFace | Self::Vllm => TopKTies::Keep,
        }
    }

    pub(crate) const fn penalty_scope(self) -> PenaltyScopes {
        match self {
            Self::Default | Self::HuggingFace | Self::Vllm => PenaltyScopes {
                repetition: Some(PenaltyScope::All),
                presence: Some(PenaltyScope::Output),
                frequency: Some(PenaltyScope::Output),
            },
            Self::LlamaCpp => PenaltyScopes::same(PenaltyScope::All),
        }
    }

    /// The engine's default values, where they are not neutral.
    pub(crate) fn values(self) -> SamplingParams {
        match self {
            Self::Default | Self::Vllm => SamplingParams::default(),
            Self::HuggingFace => SamplingParams::default().top_k(50),
            Self::LlamaCpp => {
                SamplingParams::default().temperature(0.8).top_k(40).top_p(0.95).min_p(0.05).penalty_last_n(64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_sets_no_values_unless_asked() {
        let params = SamplingParams::default().preset(Preset::LlamaCpp);
        let resolved = params.resolve().unwrap();
        assert_eq!(resolved.top_k, 0);
        assert_eq!(resolved.order.last(), Some(&OrderEntry::Stage(StageName::Temperature)));
        let resolved = params.preset_defaults(true).top_k(3).resolve().unwrap();
        assert_eq!(resolved.top_k, 3, "what the request says wins");
        assert_eq!(resolved.penalty_last_n, Some(64));
        assert!((resolved.min_p - 0.05).abs() < 1e-12);
    }

    #[test]
    fn conventions_follow_the_engine() {
        let resolve = |name: &str| {
            let text = format!(r#"{{"preset": "{name}"}}"#);
            let params: SamplingParams = serde_json::from_str(&text).unwrap();
            params.resolve().unwrap()
        };
        assert_eq!(resolve("vllm").top_k_ties, TopKTies::Keep);
        assert_eq!(resolve("huggingface").top_k_ties, TopKTies::Keep);
        assert_eq!(resolve("llama.cpp").penalty_scope.presence, PenaltyScope::All);
        assert_eq!(resolve("default").order, SamplingParams::default().resolve().unwrap().order);
    }
}
