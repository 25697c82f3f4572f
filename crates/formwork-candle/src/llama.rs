//! The llama family: one model file on candle's quantised building blocks, with a key-value cache of its own.
//!
//! candle-transformers has a quantised llama too. This one can do what generation under a constraint needs and that one
//! can't: cut the sequence back, fork it, and return the logits of several positions at once; it shares the key and value
//! heads instead of repeating them, and its context ends where the model's does.

mod attention;
mod config;
mod kv_cache;
mod parts;
mod weights;

use std::fmt;
use std::sync::Arc;

use candle_core::Tensor;
use formwork_automaton::TokenId;

use self::attention::Attention;
use self::kv_cache::KvCache;
use self::weights::Weights;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::model_file::ModelFile;

/// Tokens computed together; a longer prompt goes through in pieces, so that memory grows with the context's length and
/// not with its square.
const CHUNK: usize = 256;

/// A llama-family model and one sequence in it.
///
/// The sequence grows with [`forward`](Self::forward), and shrinks with [`truncate`](Self::truncate). A clone shares the
/// weights, and the sequence so far until one of the two goes on.
#[derive(Clone)]
pub struct Llama {
    weights: Arc<Weights>,
    cache: KvCache,
    logits: Vec<f32>,
}

impl Llama {
    pub(crate) fn load(file: &ModelFile, device: Device) -> Result<Self> {
        let weights = Weights::load(file, device)?;
        let cache = KvCache::new(weights.config.context_len);
        Ok(Self { weights: Arc::new(weights), cache, logits: Vec::new() })
    }

    /// Number of logits that each position gets.
    pub fn vocab_size(&self) -> usize {
        self.weights.config.vocab_size
    }

    /// Most tokens that a sequence can have.
    pub fn context_len(&self) -> usize {
        self.weights.config.context_len
    }

    /// Number of tokens in the sequence.
    pub fn position(&self) -> usize {
        self.cache.len()
    }

    /// Where the model computes.
    pub fn device(&self) -> Device {
        self.weights.device
    }

    /// Appends tokens and returns the logits after the last of them: one for each token of the vocabulary.
    ///
    /// # Errors
    ///
    /// No tokens, a token outside the vocabulary, more tokens than the context holds, or a failed computation; the
    /// sequence is then as before.
    pub fn forward(&mut self, ids: &[TokenId]) -> Result<&[f32]> {
        self.forward_positions(ids, 1)
    }

    /// Appends tokens and returns the logits after each of the last `positions` of them (all, where there are fewer),
    /// row by row: `vocab_size` numbers each.
    ///
    /// # Errors
    ///
    /// As [`forward`](Self::forward).
    pub fn forward_positions(&mut self, ids: &[TokenId], positions: usize) -> Result<&[f32]> {
        let start = self.position();
        self.check(ids)?;
        match self.append(ids, positions.clamp(1, ids.len())) {
            Ok(logits) => {
                self.logits = logits;
                Ok(&self.logits)
            }
            Err(source) => {
                self.cache.truncate(start);
                Err(Error::compute(self.weights.device, source))
            }
        }
    }

    /// Cuts the sequence back to its first `len` tokens.
    ///
    /// # Errors
    ///
    /// The sequence is shorter than `len`.
    pub fn truncate(&mut self, len: usize) -> Result<()> {
        let position = self.position();
        if len > position {
            return Err(Error::truncate_beyond(len, position));
        }
        self.cache.truncate(len);
        Ok(())
    }

    /// Empties the sequence.
    pub fn clear(&mut self) {
        self.cache.truncate(0);
    }

    fn check(&self, ids: &[TokenId]) -> Result<()> {
        let Self { weights, cache, .. } = self;
        let config = &weights.config;
        if ids.is_empty() {
            return Err(Error::empty_prompt());
        }
        if ids.len() > config.context_len - cache.len() {
            return Err(Error::context_full(cache.len(), ids.len(), config.context_len));
        }
        match ids.iter().find(|id| id.index() >= config.vocab_size) {
            Some(&id) => Err(Error::token_out_of_range(id, config.vocab_size)),
            None => Ok(()),
        }
    }

    fn append(&mut self, ids: &[TokenId], positions: usize) -> candle_core::Result<Vec<f32>> {
        let weights = &*self.weights;
        let cache = &mut self.cache;
        cache.reserve(ids.len(), weights)?;
        // Rows of hidden state whose logits are asked for, chunk by chunk.
        let mut asked = Vec::new();
        let first_asked = ids.len() - positions;
        let mut done = 0;
        for chunk in ids.chunks(CHUNK) {
            let hidden = forward_chunk(weights, cache, chunk)?;
            done += chunk.len();
            if done > first_asked {
                let rows = chunk.len().min(done - first_asked);
                asked.push(hidden.narrow(0, chunk.len() - rows, rows)?);
            }
        }
        let hidden = match asked.as_slice() {
            [one] => one.contiguous()?,
            several => Tensor::cat(several, 0)?,
        };
        weights.logits(&hidden)?.flatten_all()?.to_vec1()
    }
}

/// Runs the layers over new tokens and returns their hidden states, one row each.
fn forward_chunk(weights: &Weights, cache: &mut KvCache, ids: &[TokenId]) -> candle_core::Result<Tensor> {
    let position = cache.len();
    let attention = Attention::new(weights, position, ids.len())?;
    let mut hidden = weights.embed(ids)?;
    for (index, layer) in weights.layers.iter().enumerate() {
        let normed = layer.attention_norm.forward(&hidden)?;
        hidden = (attention.forward(layer, index, &normed, cache)? + hidden)?;
        let normed = layer.feed_forward_norm.forward(&hidden)?;
        hidden = (layer.feed_forward(&normed)? + hidden)?;
    }
    cache.advance(ids.len());
    hidden.squeeze(0)
}

impl Weights {
    /// The hidden state of tokens before the first layer: one row each, in a batch of one.
    fn embed(&self, ids: &[TokenId]) -> candle_core::Result<Tensor> {
        let ids: Vec<u32> = ids.iter().map(|id| id.get()).collect();
        let ids = Tensor::new(ids, &self.candle_device)?;
        self.embedding.embedding(&ids)?.unsqueeze(0)
    }

    /// Logits of hidden states, row by row.
    fn logits(&self, hidden: &Tensor) -> candle_core::Result<Tensor> {
        self.output.forward(&self.output_norm.forward(hidden)?)
    }
}

impl fmt::Debug for Llama {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Llama")
            .field("config", &self.weights.config)
            .field("device", &self.weights.device)
            .field("position", &self.position())
            .finish_non_exhaustive()
    }
}
