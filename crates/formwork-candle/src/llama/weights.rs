//! The weights of a llama-family model, loaded and checked tensor by tensor.

use std::collections::HashSet;

use candle_core::Tensor;

use super::config::Config;
use super::parts::{Joined, Linear, Norm};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::model_file::ModelFile;
use crate::tensors::TensorReader;

/// All weights; the same for every sequence.
pub(super) struct Weights {
    pub(super) config: Config,
    pub(super) device: Device,
    pub(super) candle_device: candle_core::Device,
    pub(super) embedding: Linear,
    pub(super) layers: Vec<Layer>,
    pub(super) output_norm: Norm,
    pub(super) output: Linear,
    /// Angle per position of each pair of numbers in a head.
    pub(super) frequencies: Vec<f32>,
}

/// One layer's weights.
pub(super) struct Layer {
    pub(super) attention_norm: Norm,
    pub(super) query_key_value: Joined,
    pub(super) output: Linear,
    pub(super) feed_forward_norm: Norm,
    gate_up: Joined,
    down: Linear,
}

impl Layer {
    pub(super) fn feed_forward(&self, normed: &Tensor) -> candle_core::Result<Tensor> {
        let [gate, up] = &self.gate_up.forward(normed)?[..] else {
            candle_core::bail!("two projections are one matrix")
        };
        self.down.forward(&(gate.silu()? * up)?)
    }
}

impl Weights {
    pub(super) fn load(file: &ModelFile, device: Device) -> Result<Self> {
        let candle_device = device.to_candle()?;
        let mut tensors = TensorReader::new(file.header(), file.handle(), device, &candle_device);
        let rows = tensors.entry("token_embd.weight")?.dims[0];
        let config = Config::read(&file.header().metadata, rows)?;
        let hidden = config.hidden_len;

        let embedding = Linear::load(&mut tensors, "token_embd.weight", [rows, hidden])?;
        let output = if tensors.has("output.weight") {
            Linear::load(&mut tensors, "output.weight", [rows, hidden])?
        } else {
            // Tied: the output is the embedding.
            embedding.clone()
        };
        let norm = |tensors: &mut TensorReader<'_>, name: &str| {
            Ok::<_, Error>(Norm::new(tensors.vector(name, hidden)?, config.norm_epsilon))
        };
        let output_norm = norm(&mut tensors, "output_norm.weight")?;
        let attention = config.heads * config.head_len;
        let attention_kv = config.kv_heads * config.head_len;
        let mut layers = Vec::new();
        for index in 0..config.layers {
            let name = |part: &str| format!("blk.{index}.{part}.weight");
            let projections =
                [(name("attn_q"), attention), (name("attn_k"), attention_kv), (name("attn_v"), attention_kv)];
            let gate_up = ["ffn_gate", "ffn_up"].map(|part| (name(part), config.feed_forward_len));
            layers.push(Layer {
                query_key_value: Joined::load(&mut tensors, &projections, hidden)?,
                gate_up: Joined::load(&mut tensors, &gate_up, hidden)?,
                output: Linear::load(&mut tensors, &name("attn_output"), [hidden, attention])?,
                down: Linear::load(&mut tensors, &name("ffn_down"), [hidden, config.feed_forward_len])?,
                attention_norm: norm(&mut tensors, &name("attn_norm"))?,
                feed_forward_norm: norm(&mut tensors, &name("ffn_norm"))?,
            });
        }
        let pairs = config.head_len / 2;
        let factors =
            if tensors.has("rope_freqs.weight") { Some(tensors.numbers("rope_freqs.weight", pairs)?) } else { None };
        refuse_leftovers(file, tensors.taken())?;
        Ok(Self {
            frequencies: frequencies(&config, factors.as_deref()),
            config,
            device,
            candle_device,
            embedding,
            layers,
            output_norm,
            output,
        })
    }
}

/// The rotary embedding's angles per position; a model with a stretched context divides each by a factor of its own.
#[expect(clippy::cast_precision_loss, reason = "a head has some hundred numbers")]
fn frequencies(config: &Config, factors: Option<&[f32]>) -> Vec<f32> {
    (0..config.head_len / 2)
        .map(|pair| {
            let exponent = (2 * pair) as f32 / config.head_len as f32;
            let factor = factors.and_then(|f| f.get(pair)).copied().unwrap_or(1.0);
            1.0 / config.rope_base.powf(exponent) / config.rope_divisor / factor
        })
        .collect()
}

/// A tensor that nothing asked for belongs to a model that computes something else: its output would be wrong.
fn refuse_leftovers(file: &ModelFile, taken: &HashSet<String>) -> Result<()> {
    let header = file.header();
    match header.tensors.iter().find(|t| !taken.contains(&t.name)) {
        Some(tensor) => Err(Error::unsupported(file.path(), format!("the tensor {}", tensor.name))),
        None => Ok(()),
    }
}
