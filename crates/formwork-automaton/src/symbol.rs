//! What an automaton reads: bytes of text, and special tokens as symbols of their own.

use std::fmt;

/// A token's id: its index in the vocabulary, as the model counts them.
///
/// ```
/// use formwork_automaton::TokenId;
/// assert_eq!(TokenId::new(7).get(), 7);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(u32);

impl TokenId {
    /// The token with this index.
    pub const fn new(id: u32) -> Self {
        Self(id)
    }

    /// The token with this index; `None` where it does not fit 32 bits.
    pub fn from_index(index: usize) -> Option<Self> {
        u32::try_from(index).ok().map(Self)
    }

    /// The id as a number.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The id as an index into per-token tables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One thing an automaton can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A byte of text.
    Byte(u8),
    /// A special token, which no text can spell.
    Special(TokenId),
}
