//! What the loop needs of a constraint: masks, within a budget where it runs short.

use std::error::Error;

use formwork_automaton::TokenId;

/// Any failure of a constraint, which ends the generation with `error`.
pub type ConstraintError = Box<dyn Error + Send + Sync>;

/// One sequence under a constraint.
///
/// Masks are rows of 32-bit words: bit i of word i/32 is set where token i may come next. The tokens that end a text are among
/// them exactly where it may end.
///
/// A *completion* here is what still has to come until generation may stop: the tokens up to a state after which nothing may
/// follow, or up to an accepting state and one token that ends the text (none where the vocabulary has no such token).
pub trait Constraint {
    /// Which tokens may come next.
    ///
    /// # Errors
    /// Where none can.
    fn mask(&mut self) -> Result<&[u32], ConstraintError>;

    /// Which tokens may come next and leave a completion of at most `remaining` tokens. Not empty where
    /// [`needed`](Self::needed) is at most `remaining` + 1, unless the text may end here and no token ends a text.
    ///
    /// # Errors
    /// Those of [`mask`](Self::mask).
    fn mask_within(&mut self, remaining: usize) -> Result<&[u32], ConstraintError>;

    /// Reads a token.
    ///
    /// # Errors
    /// Where it is not allowed.
    fn advance(&mut self, token: TokenId) -> Result<(), ConstraintError>;

    /// Whether the text may end here.
    fn is_accepting(&self) -> bool;

    /// Whether the text may end here and nothing but the end may follow.
    fn is_finished(&mut self) -> bool;

    /// How many tokens the shortest known completion has.
    ///
    /// # Errors
    /// Where no tokens spell it.
    fn needed(&mut self) -> Result<usize, ConstraintError>;

    /// A bound of [`needed`](Self::needed) that is cheap to find.
    fn needed_at_most(&mut self) -> usize;

    /// Whether an allowed token leaves a completion of at most `remaining` tokens.
    ///
    /// # Errors
    /// Where the token is not allowed.
    fn fits(&mut self, token: TokenId, remaining: usize) -> Result<bool, ConstraintError>;

    /// How many masks were computed for this sequence, not found among those kept.
    fn masks_computed(&self) -> u64 {
        0
    }
}
