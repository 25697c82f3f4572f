//! What the loop needs of a vocabulary: each token's bytes, and which tokens end a text.

use formwork_automaton::TokenId;

/// The text of tokens.
pub trait TokenText {
    /// The bytes that a token adds to the text; none for special tokens and ids beyond the vocabulary.
    fn bytes(&self, token: TokenId) -> &[u8];

    /// The tokens that end a text.
    fn eos(&self) -> &[TokenId];
}

impl TokenText for formwork_mask::Vocabulary {
    fn bytes(&self, token: TokenId) -> &[u8] {
        self.bytes(token).unwrap_or_default()
    }

    fn eos(&self) -> &[TokenId] {
        self.eos()
    }
}
