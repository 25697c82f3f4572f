//! Rules that were lifted for a step because they would have left nothing to choose from.

use serde::{Serialize, Serializer};

/// A rule that can be lifted for a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Relaxed {
    /// `no_repeat_ngram_size` would have banned every legal token.
    NoRepeatNgramSize,
    /// `min_tokens` would have banned the only way on.
    MinTokens,
    /// The stages of an inner list of `order` had no token in common; the best one was kept.
    EmptyIntersection,
}

impl Relaxed {
    const ALL: [Self; 3] = [Self::NoRepeatNgramSize, Self::MinTokens, Self::EmptyIntersection];

    /// The name used in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoRepeatNgramSize => "no_repeat_ngram_size",
            Self::MinTokens => "min_tokens",
            Self::EmptyIntersection => "empty_intersection",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::NoRepeatNgramSize => 1,
            Self::MinTokens => 2,
            Self::EmptyIntersection => 4,
        }
    }
}

impl Serialize for Relaxed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The rules lifted in one step.
///
/// ```
/// use formwork_sample::RelaxedSet;
/// assert_eq!(RelaxedSet::default().iter().count(), 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelaxedSet(u8);

impl RelaxedSet {
    pub(crate) fn insert(&mut self, relaxed: Relaxed) {
        self.0 |= relaxed.bit();
    }

    pub(crate) const fn contains(self, relaxed: Relaxed) -> bool {
        self.0 & relaxed.bit() != 0
    }

    /// Whether none was.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Them, in a fixed order.
    pub fn iter(self) -> impl Iterator<Item = Relaxed> {
        Relaxed::ALL.into_iter().filter(move |relaxed| self.contains(*relaxed))
    }
}
