//! Attention: new tokens look at all tokens of the sequence up to themselves.

use candle_core::Tensor;
use candle_nn::attention::{AttnMask, flash_attn};

use super::kv_cache::KvCache;
use super::parts::MANY_ROWS;
use super::weights::{Layer, Weights};
use crate::device::Device;

/// What all layers' attention over the same new tokens has in common.
pub(super) struct Attention<'a> {
    weights: &'a Weights,
    /// Tokens before the new ones.
    position: usize,
    /// New tokens.
    added: usize,
    /// Rotary embedding of the new positions: new tokens × 1 × half a head.
    cos: Tensor,
    sin: Tensor,
    /// Whether two matrix products compute it, or one pass over keys and values.
    by_products: bool,
    /// For products, what hides later tokens from earlier ones, as a summand of the scores.
    mask: Option<Tensor>,
}

impl<'a> Attention<'a> {
    pub(super) fn new(weights: &'a Weights, position: usize, added: usize) -> candle_core::Result<Self> {
        #[expect(clippy::cast_precision_loss, reason = "positions are far below 2²⁴")]
        let angles: Vec<f32> =
            (position..position + added).flat_map(|p| weights.frequencies.iter().map(move |f| p as f32 * f)).collect();
        let table = |function: fn(f32) -> f32| {
            let numbers: Vec<f32> = angles.iter().copied().map(function).collect();
            let shape = (added, 1, weights.frequencies.len());
            Tensor::from_vec(numbers, shape, &weights.candle_device)
        };
        let by_products = weights.device != Device::Cpu || added >= MANY_ROWS;
        let mask =
            if !by_products || added == 1 { None } else { Some(causal_mask(position, added, &weights.candle_device)?) };
        Ok(Self { weights, position, added, cos: table(f32::cos)?, sin: table(f32::sin)?, by_products, mask })
    }

    /// One layer's attention; its new keys and values go into the cache.
    pub(super) fn forward(
        &self,
        layer: &Layer,
        index: usize,
        normed: &Tensor,
        cache: &mut KvCache,
    ) -> candle_core::Result<Tensor> {
        let config = &self.weights.config;
        let (heads, kv_heads, width) = (config.heads, config.kv_heads, config.head_len);
        let by_head = |x: &Tensor, heads: usize| x.contiguous()?.reshape((self.added, heads, 1, width));
        // Each token is a batch of its own to the rotation, so that heads need not be moved before positions.
        let rotate = |x: Tensor| candle_nn::rotary_emb::rope_i(&x, &self.cos, &self.sin);
        let [query, key, value] = &layer.query_key_value.forward(normed)?[..] else {
            candle_core::bail!("three projections are one matrix")
        };
        let query = rotate(by_head(query, heads)?)?.reshape((1, self.added, heads, width))?;
        let key = rotate(by_head(key, kv_heads)?)?.reshape((1, self.added, kv_heads, width))?;
        let value = by_head(value, kv_heads)?.reshape((1, self.added, kv_heads, width))?;
        let (keys, values) = cache.append(index, &key, &value)?;
        #[expect(clippy::cast_precision_loss, reason = "a head has some hundred numbers")]
        let scale = 1.0 / (width as f32).sqrt();
        let mixed = if self.by_products {
            by_products(&query, &keys, &values, scale, self.mask.as_ref())?
        } else {
            let mask = AttnMask::causal_with_offset(self.position);
            flash_attn::<f32>(&query, &keys, &values, scale, mask, None, None)?
        };
        let mixed = mixed.transpose(1, 2)?.reshape((1, self.added, heads * width))?;
        layer.output.forward(&mixed)
    }
}

/// Attention as two matrix products, for many new tokens and for devices without a kernel of its own: batch × heads × new
/// tokens × width.
fn by_products(
    query: &Tensor,
    keys: &Tensor,
    values: &Tensor,
    scale: f32,
    mask: Option<&Tensor>,
) -> candle_core::Result<Tensor> {
    let (_, added, heads, width) = query.dims4()?;
    let kv_heads = keys.dim(2)?;
    let keys = keys.transpose(1, 2)?.contiguous()?;
    let values = values.transpose(1, 2)?.contiguous()?;
    // Query heads that share a key head are rows of one product, so keys and values are never repeated.
    let rows = heads / kv_heads * added;
    let query = query.transpose(1, 2)?.reshape((1, kv_heads, rows, width))?;
    let scores = (query * f64::from(scale))?.matmul(&keys.t()?)?;
    let scores = match mask {
        None => scores,
        Some(mask) => scores.reshape((heads, added, ()))?.broadcast_add(mask)?.reshape((1, kv_heads, rows, ()))?,
    };
    candle_nn::ops::softmax_last_dim(&scores)?.matmul(&values)?.reshape((1, heads, added, width))
}

/// What hides later tokens from earlier ones, as a summand of the scores.
fn causal_mask(position: usize, added: usize, device: &candle_core::Device) -> candle_core::Result<Tensor> {
    let seen = position + added;
    let mask: Vec<f32> = (0..added)
        .flat_map(|row| (0..seen).map(move |column| if column > position + row { f32::NEG_INFINITY } else { 0.0 }))
        .collect();
    Tensor::from_vec(mask, (1, added, seen), device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_computing_agree() {
        let cpu = candle_core::Device::Cpu;
        let (heads, kv_heads, width) = (6, 2, 16);
        for (position, added) in [(0, 1), (9, 1), (0, 7), (12, 5)] {
            let random = |len, heads| Tensor::randn(0_f32, 1.0, (1, len, heads, width), &cpu).unwrap();
            let query = random(added, heads);
            let keys = random(position + added, kv_heads);
            let values = random(position + added, kv_heads);
            let mask = AttnMask::causal_with_offset(position);
            let expected = flash_attn::<f32>(&query, &keys, &values, 0.25, mask, None, None).unwrap();
            let mask = (added > 1).then(|| causal_mask(position, added, &cpu).unwrap());
            let found = by_products(&query, &keys, &values, 0.25, mask.as_ref()).unwrap();
            assert_eq!(found.dims(), expected.dims());
            let difference = (found - expected).unwrap().abs().unwrap().flatten_all().unwrap();
            let largest: f32 = difference.max(0).unwrap().to_scalar().unwrap();
            assert!(largest < 1e-5, "{largest} at {position} + {added}");
        }
    }
}
