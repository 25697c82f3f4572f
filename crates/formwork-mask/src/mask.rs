//! A row of bits: which tokens of a vocabulary are allowed.

use formwork_automaton::TokenId;

/// Which tokens are allowed: one bit per token id, packed into 32-bit words, least significant bit first.
///
/// ```
/// # use formwork_mask::Mask;
/// # use formwork_automaton::TokenId;
/// let mut mask = Mask::none(100);
/// mask.allow(TokenId::new(33));
/// assert!(mask.allows(TokenId::new(33)));
/// assert_eq!(mask.words(), [0, 2, 0, 0]);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Mask {
    words: Vec<u32>,
    tokens: usize,
}

impl Mask {
    /// A mask for a vocabulary of `tokens` rows that allows none of them.
    pub fn none(tokens: usize) -> Self {
        Self { words: vec![0; tokens.div_ceil(32)], tokens }
    }

    /// How many rows the vocabulary has.
    pub fn vocabulary_len(&self) -> usize {
        self.tokens
    }

    /// Whether the token is allowed; `false` for an id beyond the vocabulary.
    #[inline]
    pub fn allows(&self, token: TokenId) -> bool {
        self.words.get(token.index() / 32).is_some_and(|word| word >> (token.get() % 32) & 1 == 1)
    }

    /// Allows one more token; an id beyond the vocabulary changes nothing.
    #[inline]
    pub fn allow(&mut self, token: TokenId) {
        if token.index() < self.tokens
            && let Some(word) = self.words.get_mut(token.index() / 32)
        {
            *word |= 1 << (token.get() % 32);
        }
    }

    /// How many tokens are allowed.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether no token is allowed.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The allowed token, where there is exactly one.
    pub fn only(&self) -> Option<TokenId> {
        let mut allowed = self.iter();
        let first = allowed.next()?;
        allowed.next().is_none().then_some(first)
    }

    /// The allowed tokens, in order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = TokenId> + '_ {
        self.words
            .iter()
            .enumerate()
            .filter(|&(_, &word)| word != 0)
            .flat_map(|(index, &word)| bits(word).filter_map(move |bit| TokenId::from_index(index * 32 + bit as usize)))
    }

    /// The packed bits: ⌈vocabulary/32⌉ words; token *i* is bit *i* mod 32 of word *i* / 32.
    #[doc(alias = "bitmask")]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Makes this mask equal to `other`, a mask of the same vocabulary.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.words.clone_from(&other.words);
        self.tokens = other.tokens;
    }

    /// Makes this a mask for a vocabulary of `tokens` rows that allows none of them.
    pub(crate) fn reset(&mut self, tokens: usize) {
        self.words.clear();
        self.words.resize(tokens.div_ceil(32), 0);
        self.tokens = tokens;
    }

    /// Forbids every token.
    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Allows the token with this id, and says whether it was forbidden before.
    #[inline]
    pub(crate) fn insert(&mut self, id: u32) -> bool {
        let Some(word) = self.words.get_mut((id / 32) as usize) else {
            return false;
        };
        let bit = 1 << (id % 32);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Adds the tokens of another mask of the same vocabulary.
    pub(crate) fn add(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// Adds the tokens that two other masks of the same vocabulary have in common.
    pub(crate) fn add_both(&mut self, a: &Self, b: &Self) {
        self.words.iter_mut().zip(a.words.iter().zip(&b.words)).for_each(|(word, (a, b))| *word |= a & b);
    }

    /// Takes the tokens of another mask of the same vocabulary out.
    pub(crate) fn take_out(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    /// Takes a token out.
    pub(crate) fn remove(&mut self, id: u32) {
        if let Some(word) = self.words.get_mut((id / 32) as usize) {
            *word &= !(1 << (id % 32));
        }
    }

    /// Bytes held on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.words.capacity() * size_of::<u32>()
    }
}

/// The positions of a word's set bits.
fn bits(mut word: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        if word == 0 {
            return None;
        }
        let bit = word.trailing_zeros();
        word &= word - 1;
        Some(bit)
    })
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mask({} of {})", self.count(), self.tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn behaves_like_a_set(ids in proptest::collection::btree_set(0_u32..200, 0..40), tokens in 1_usize..200) {
            let mut mask = Mask::none(tokens);
            for &id in &ids {
                mask.allow(TokenId::new(id));
            }
            let kept: Vec<u32> = ids.iter().copied().filter(|&id| (id as usize) < tokens).collect();
            prop_assert_eq!(mask.iter().map(TokenId::get).collect::<Vec<_>>(), kept.clone());
            prop_assert_eq!(mask.count(), kept.len());
            prop_assert_eq!(mask.is_empty(), kept.is_empty());
            prop_assert_eq!(mask.only().is_some(), kept.len() == 1);
            prop_assert_eq!(mask.words().len(), tokens.div_ceil(32));
        }
    }
}
