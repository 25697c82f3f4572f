//! The keys and values of a sequence: appended in place, cut back for free, shared by clones until one of them writes.

use std::sync::Arc;

use candle_core::{DType, Tensor};

use super::weights::Weights;

/// Room is added in steps of this many tokens at least.
const STEP: usize = 256;

/// The keys and values of one sequence.
#[derive(Clone)]
pub(super) struct KvCache {
    buffers: Arc<Buffers>,
    len: usize,
    max_len: usize,
}

/// One pair of tensors for each layer: batch of one × `capacity` × key heads × head length.
struct Buffers {
    layers: Vec<(Tensor, Tensor)>,
    capacity: usize,
}

impl KvCache {
    pub(super) fn new(max_len: usize) -> Self {
        Self { buffers: Arc::new(Buffers { layers: Vec::new(), capacity: 0 }), len: 0, max_len }
    }

    /// Tokens in the cache.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Forgets all tokens after the first `len`; what they left in the buffers is overwritten before it is read.
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Makes room for `added` tokens in buffers that no other sequence shares.
    pub(super) fn reserve(&mut self, added: usize, weights: &Weights) -> candle_core::Result<()> {
        let needed = self.len + added;
        if needed <= self.buffers.capacity && Arc::get_mut(&mut self.buffers).is_some() {
            return Ok(());
        }
        let capacity = if needed <= self.buffers.capacity {
            self.buffers.capacity
        } else {
            let grown = needed.max(self.buffers.capacity / 2 * 3);
            grown.next_multiple_of(STEP).min(self.max_len)
        };
        let config = &weights.config;
        let shape = (1, capacity, config.kv_heads, config.head_len);
        let mut layers = Vec::with_capacity(config.layers);
        for index in 0..config.layers {
            let keys = Tensor::zeros(shape, DType::F32, &weights.candle_device)?;
            let values = Tensor::zeros(shape, DType::F32, &weights.candle_device)?;
            if self.len > 0 {
                let (old_keys, old_values) = &self.buffers.layers[index];
                keys.slice_set(&old_keys.narrow(1, 0, self.len)?, 1, 0)?;
                values.slice_set(&old_values.narrow(1, 0, self.len)?, 1, 0)?;
            }
            layers.push((keys, values));
        }
        self.buffers = Arc::new(Buffers { layers, capacity });
        Ok(())
    }

    /// Writes a layer's new keys and values after the sequence and returns all of them, the new ones included. The
    /// sequence itself grows only with [`advance`](Self::advance).
    pub(super) fn append(
        &mut self,
        layer: usize,
        key: &Tensor,
        value: &Tensor,
    ) -> candle_core::Result<(Tensor, Tensor)> {
        let (keys, values) = &self.buffers.layers[layer];
        keys.slice_set(key, 1, self.len)?;
        values.slice_set(value, 1, self.len)?;
        let seen = self.len + key.dim(1)?;
        Ok((keys.narrow(1, 0, seen)?, values.narrow(1, 0, seen)?))
    }

    /// Counts `added` tokens, written to every layer, as part of the sequence.
    pub(super) fn advance(&mut self, added: usize) {
        self.len += added;
    }
}
