//! Random choices for walks.

use formwork::TokenId;

/// A generator for walks (xorshift64*): which walk is taken only has to differ from one to the next.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        // Zero is the one state that it never leaves.
        Self(seed ^ 0x9E37_79B9_7F4A_7C15)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

/// One of the tokens, each as likely as any other.
pub(crate) fn pick(
    random: &mut Random,
    tokens: impl Iterator<Item = TokenId>,
    keep: impl Fn(TokenId) -> bool,
) -> Option<TokenId> {
    let tokens: Vec<TokenId> = tokens.filter(|token| keep(*token)).collect();
    let index = random.next() % (tokens.len() as u64).max(1);
    tokens.get(usize::try_from(index).ok()?).copied()
}
