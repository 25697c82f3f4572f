//! A prompt: what the model reads, as text and as tokens.

use std::fmt;

use formwork_automaton::TokenId;

use crate::chat::Piece;

/// What a model is given to go on from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompt {
    /// The prompt in pieces, control tokens apart.
    pub pieces: Vec<Piece>,
    /// Its tokens.
    pub ids: Vec<TokenId>,
    /// What the person should know about how it was made.
    pub warning: Option<PromptWarning>,
}

impl Prompt {
    /// The prompt as it reads.
    pub fn text(&self) -> String {
        self.pieces.iter().map(Piece::as_str).collect()
    }
}

/// Why a prompt may not be what was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PromptWarning {
    /// The model's file has no chat template; the messages' texts were joined by blank lines.
    NoChatTemplate,
}

impl fmt::Display for PromptWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoChatTemplate => {
                f.write_str("the model's file has no chat template, so it gets the messages as plain text")
            }
        }
    }
}
