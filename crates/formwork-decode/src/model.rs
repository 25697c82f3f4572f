//! What the loop needs of a model: logits for the next position.

use std::convert::Infallible;
use std::error::Error;

use formwork_automaton::TokenId;

/// A model that remembers what it was fed.
pub trait Model {
    /// Why a step failed.
    type Error: Error + Send + Sync + 'static;

    /// How many logits a step gives: one per token id.
    fn vocab_size(&self) -> usize;

    /// The most tokens that it can be fed; `None` where there is no bound.
    fn context_len(&self) -> Option<usize> {
        None
    }

    /// Feeds tokens after those fed before, and gives the logits of the position after the last of them.
    ///
    /// The first call feeds the whole prompt; `ids` is empty only there, for an empty prompt.
    ///
    /// # Errors
    /// Whatever keeps the model from computing; the generation then ends with `error`.
    fn forward(&mut self, ids: &[TokenId]) -> Result<&[f32], Self::Error>;
}

impl<M: Model + ?Sized> Model for &mut M {
    type Error = M::Error;

    fn vocab_size(&self) -> usize {
        (**self).vocab_size()
    }

    fn context_len(&self) -> Option<usize> {
        (**self).context_len()
    }

    fn forward(&mut self, ids: &[TokenId]) -> Result<&[f32], M::Error> {
        (**self).forward(ids)
    }
}

/// A model made of a function from all tokens so far (prompt and output) to the next position's logits.
///
/// ```
/// use formwork_automaton::TokenId;
/// use formwork_decode::{Model, model_from_fn};
/// let mut model = model_from_fn(3, |prefix| vec![prefix.len() as f32, 0.0, 0.0]);
/// assert_eq!(model.forward(&[TokenId::new(1), TokenId::new(2)])?, [2.0, 0.0, 0.0]);
/// assert_eq!(model.forward(&[TokenId::new(0)])?, [3.0, 0.0, 0.0]);
/// # Ok::<(), std::convert::Infallible>(())
/// ```
pub fn model_from_fn<F>(vocab_size: usize, logits: F) -> FnModel<F>
where
    F: FnMut(&[TokenId]) -> Vec<f32>,
{
    FnModel { vocab_size, prefix: Vec::new(), row: Vec::new(), logits }
}

/// See [`model_from_fn`].
#[derive(Clone)]
pub struct FnModel<F> {
    vocab_size: usize,
    prefix: Vec<TokenId>,
    row: Vec<f32>,
    logits: F,
}

impl<F: FnMut(&[TokenId]) -> Vec<f32>> Model for FnModel<F> {
    type Error = Infallible;

    fn vocab_size(&self) -> usize {
        self.vocab_size
    }

    fn forward(&mut self, ids: &[TokenId]) -> Result<&[f32], Infallible> {
        self.prefix.extend_from_slice(ids);
        self.row = (self.logits)(&self.prefix);
        Ok(&self.row)
    }
}

impl<F> std::fmt::Debug for FnModel<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FnModel").field("vocab_size", &self.vocab_size).finish_non_exhaustive()
    }
}
