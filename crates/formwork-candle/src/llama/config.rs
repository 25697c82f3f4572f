//! The measures of a llama-family model, read from the file's metadata and checked against each other.

use crate::error::{Error, Result};
use crate::gguf::Metadata;

/// The measures of a model.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Config {
    pub(super) layers: usize,
    pub(super) hidden_len: usize,
    pub(super) feed_forward_len: usize,
    pub(super) heads: usize,
    pub(super) kv_heads: usize,
    pub(super) head_len: usize,
    pub(super) context_len: usize,
    pub(super) vocab_size: usize,
    pub(super) norm_epsilon: f32,
    pub(super) rope_base: f32,
    /// Positions are divided by this (linear scaling of the context).
    pub(super) rope_divisor: f32,
}

impl Config {
    /// Reads the measures; `vocab_size` is the number of rows of the embedding.
    pub(super) fn read(metadata: &Metadata, vocab_size: usize) -> Result<Self> {
        let path = metadata.path();
        let unsupported = |what: String| Err(Error::unsupported(path, what));
        let positive = |key: &str| match metadata.require_size(key)? {
            0 => Err(Error::metadata(path, key, "positive number")),
            n => Ok(n),
        };
        if metadata.size("llama.expert_count")?.unwrap_or(0) > 0 {
            return unsupported("a mixture of experts".to_owned());
        }
        let hidden_len = positive("llama.embedding_length")?;
        let heads = positive("llama.attention.head_count")?;
        let kv_heads = match metadata.size("llama.attention.head_count_kv")? {
            None => heads,
            Some(_) => positive("llama.attention.head_count_kv")?,
        };
        let head_len = match metadata.size("llama.attention.key_length")? {
            None => hidden_len / heads,
            Some(n) => n,
        };
        if !heads.is_multiple_of(kv_heads) || head_len == 0 || !head_len.is_multiple_of(2) {
            return unsupported(format!("{heads} heads of {head_len} numbers over {kv_heads} key heads"));
        }
        let value_len = metadata.size("llama.attention.value_length")?;
        let rope_len = metadata.size("llama.rope.dimension_count")?;
        for (what, len) in [("value heads", value_len), ("a rotation", rope_len)] {
            if let Some(len) = len.filter(|&len| len != head_len) {
                return unsupported(format!("{what} of {len} numbers in heads of {head_len}"));
            }
        }
        let scaling = metadata.text("llama.rope.scaling.type").unwrap_or("none");
        let rope_divisor = match scaling {
            "none" => 1.0,
            "linear" => metadata.float("llama.rope.scaling.factor")?.unwrap_or(1.0),
            other => return unsupported(format!("the context scaling \"{other}\"")),
        };
        let rope_base = metadata.float("llama.rope.freq_base")?.unwrap_or(10_000.0);
        let key = "llama.attention.layer_norm_rms_epsilon";
        let norm_epsilon = metadata.float(key)?.ok_or_else(|| Error::metadata(path, key, "number"))?;
        for (name, number) in
            [("rotation base", rope_base), ("context scaling", rope_divisor), ("norm epsilon", norm_epsilon)]
        {
            if !(number.is_finite() && number > 0.0) {
                return unsupported(format!("the {name} {number}"));
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "models compute in f32")]
        Ok(Self {
            layers: positive("llama.block_count")?,
            hidden_len,
            feed_forward_len: positive("llama.feed_forward_length")?,
            heads,
            kv_heads,
            head_len,
            context_len: positive("llama.context_length")?,
            vocab_size,
            norm_epsilon: norm_epsilon as f32,
            rope_base: rope_base as f32,
            rope_divisor: rope_divisor as f32,
        })
    }
}
