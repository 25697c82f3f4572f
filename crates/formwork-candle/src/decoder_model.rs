//! Lets the generation loop drive the models here.

use formwork_automaton::TokenId;
use formwork_decode::Model;

use crate::error::Error;
use crate::llama::Llama;

impl Model for Llama {
    type Error = Error;

    fn vocab_size(&self) -> usize {
        Self::vocab_size(self)
    }

    fn context_len(&self) -> Option<usize> {
        Some(Self::context_len(self))
    }

    fn forward(&mut self, ids: &[TokenId]) -> Result<&[f32], Error> {
        Self::forward(self, ids)
    }
}
