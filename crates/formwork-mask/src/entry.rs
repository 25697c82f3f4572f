//! What one row of a vocabulary is.

/// One row of a vocabulary, as [`Vocabulary::from_tokens`](crate::Vocabulary::from_tokens) takes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenEntry {
    /// A token that stands for these bytes; they need not be whole characters.
    Text(Vec<u8>),
    /// A special token with its name: no text spells it.
    Special(String),
    /// A row that the model has but no token uses (a hole, or padding at the end): never allowed.
    Unused,
}
