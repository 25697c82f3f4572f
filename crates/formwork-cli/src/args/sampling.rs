//! The flags that say how tokens are drawn, by the names that requests use.

use std::collections::BTreeMap;

use clap::Args;
use formwork::TokenId;
use formwork::sample::{OrderEntry, SamplingParams, StageName};
use serde_json::json;

use crate::error::Error;

/// How tokens are drawn. Without any flag: from the model's own distribution, over what the constraint allows.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sampling")]
pub(crate) struct SamplingArgs {
    /// Divides the logits; 0 always takes the best token [default: 1].
    #[arg(long, value_name = "T")]
    temperature: Option<f64>,
    /// Keeps the K best tokens [default: all].
    #[arg(long, value_name = "K")]
    top_k: Option<usize>,
    /// Keeps the best tokens up to this mass [default: 1].
    #[arg(long, value_name = "P")]
    top_p: Option<f64>,
    /// Keeps tokens with at least this part of the best one's probability [default: 0].
    #[arg(long, value_name = "P")]
    min_p: Option<f64>,
    /// How many tokens --top-p, --min-p and --typical-p leave at the least [default: 1].
    #[arg(long, value_name = "N")]
    min_keep: Option<usize>,
    /// Keeps the most typical tokens up to this mass [default: 1].
    #[arg(long, value_name = "P")]
    typical_p: Option<f64>,
    /// Keeps tokens within so many standard deviations of the best logit [default: off].
    #[arg(long, value_name = "N")]
    top_n_sigma: Option<f64>,
    /// How often the most likely tokens are left out [default: 0].
    #[arg(long, value_name = "P")]
    xtc_probability: Option<f64>,
    /// From which probability on they are [default: 0.1].
    #[arg(long, value_name = "P")]
    xtc_threshold: Option<f64>,
    /// Makes tokens of prompt and output less likely [default: 1].
    #[arg(long, value_name = "R")]
    repetition_penalty: Option<f64>,
    /// Taken from the logit of tokens in the output [default: 0].
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    presence_penalty: Option<f64>,
    /// Taken from it once per occurrence [default: 0].
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    frequency_penalty: Option<f64>,
    /// How many tokens at the end of its scope a penalty looks at [default: all].
    #[arg(long, value_name = "N")]
    penalty_last_n: Option<usize>,
    /// No run of so many tokens comes twice [default: 0].
    #[arg(long, value_name = "N")]
    no_repeat_ngram_size: Option<usize>,
    /// Weight of the penalty on continuing a repeated run [default: 0].
    #[arg(long, value_name = "X")]
    dry_multiplier: Option<f64>,
    /// Its growth with each token of the run [default: 1.75].
    #[arg(long, value_name = "X")]
    dry_base: Option<f64>,
    /// From which length on runs are penalised [default: 2].
    #[arg(long, value_name = "N")]
    dry_allowed_length: Option<usize>,
    /// Added to a token's logit; -inf forbids it. Repeat it for more tokens.
    #[arg(long, value_name = "ID=BIAS")]
    logit_bias: Vec<String>,
    /// Tokens that come before the end may.
    #[arg(long, value_name = "N")]
    min_tokens: Option<usize>,
    /// The order of the stages, as in `temperature,top_k+top_p,min_p` (`+` joins stages that see the same distribution).
    #[arg(long, value_name = "STAGES")]
    order: Option<String>,
    /// The order and conventions of an engine: default, huggingface, vllm or llama.cpp.
    #[arg(long, value_name = "ENGINE")]
    preset: Option<String>,
    /// Takes that engine's default values too.
    #[arg(long, requires = "preset")]
    preset_defaults: bool,
}

macro_rules! set {
    ($params:ident from $args:ident: $($name:ident),* $(,)?) => {
        $(if let Some(value) = $args.$name {
            $params = $params.$name(value);
        })*
    };
}

impl SamplingArgs {
    /// The parameters that were given.
    pub(crate) fn params(&self) -> Result<SamplingParams, Error> {
        let mut params = SamplingParams::default();
        set!(params from self: temperature, top_k, top_p, min_p, min_keep, typical_p, top_n_sigma, xtc_probability,
            xtc_threshold, repetition_penalty, presence_penalty, frequency_penalty, penalty_last_n, no_repeat_ngram_size,
            dry_multiplier, dry_base, dry_allowed_length, min_tokens);
        if let Some(order) = &self.order {
            params = params.order(stages(order)?);
        }
        if let Some(name) = &self.preset {
            let preset = serde_json::from_value(json!(name)).map_err(|_| {
                Error::usage(format!(
                    "--preset {name} is no engine; the engines are default, huggingface, vllm and llama.cpp"
                ))
            })?;
            params = params.preset(preset).preset_defaults(self.preset_defaults);
        }
        if !self.logit_bias.is_empty() {
            params = params.logit_bias(biases(&self.logit_bias)?);
        }
        params.validate().map_err(Error::sampling)?;
        Ok(params)
    }
}

fn stages(order: &str) -> Result<Vec<OrderEntry>, Error> {
    order.split(',').filter(|entry| !entry.trim().is_empty()).map(entry).collect()
}

fn entry(text: &str) -> Result<OrderEntry, Error> {
    let stage = |name: &str| name.trim().parse::<StageName>().map_err(Error::sampling);
    let mut stages = text.split('+').map(stage).collect::<Result<Vec<_>, _>>()?;
    Ok(if stages.len() == 1 { OrderEntry::Stage(stages.remove(0)) } else { OrderEntry::Together(stages) })
}

fn biases(given: &[String]) -> Result<BTreeMap<TokenId, f64>, Error> {
    let read = |text: &String| {
        let (id, bias) = text.split_once('=')?;
        Some((TokenId::new(id.trim().parse().ok()?), bias.trim().parse::<f64>().ok()?))
    };
    given
        .iter()
        .map(|text| {
            read(text).ok_or_else(|| {
                Error::usage(format!(
                    "--logit-bias {text} is not ID=BIAS with two numbers; write 42=-1.5 or 42=-inf, say"
                ))
            })
        })
        .collect()
}
