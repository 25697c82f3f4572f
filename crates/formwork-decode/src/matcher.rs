//! The constraint that the mask crate's matchers are, with masks cut down to a budget.

use std::sync::Arc;

use formwork_automaton::{Automaton, Frames, Mark, State, Step, Symbol, TokenId};
use formwork_mask::{Matcher, Vocabulary};
use rustc_hash::FxHashMap;

use crate::constraint::{Constraint, ConstraintError};

/// Up to how many allowed tokens are sorted for a walk as they come; for more, all tokens are sorted once.
const FEW: usize = 4096;

/// A [`Matcher`] as the loop's constraint.
///
/// It remembers the shortest completion that it has found, token by token, so that a budget that once held a completion
/// holds one to the end: another completion may have fewer bytes, yet need more tokens.
#[derive(Debug)]
pub struct MatcherConstraint {
    matcher: Matcher,
    /// The shortest known completion from here on, with the token that ends the text.
    plan: Option<Vec<TokenId>>,
    /// Whether a completion was looked for at this position.
    planned: bool,
    /// The last mask within a budget, and for how many remaining tokens.
    row: Vec<u32>,
    row_remaining: Option<usize>,
    /// Text tokens by their bytes, shared by clones.
    sorted: Arc<[TokenId]>,
}

impl MatcherConstraint {
    /// The constraint of a matcher, from where it stands.
    pub fn new(matcher: Matcher) -> Self {
        Self { matcher, plan: None, planned: false, row: Vec::new(), row_remaining: None, sorted: Arc::default() }
    }

    /// The matcher.
    pub const fn matcher(&self) -> &Matcher {
        &self.matcher
    }

    fn plan(&mut self) -> Result<&[TokenId], ConstraintError> {
        if !self.planned {
            let found = completion(&mut self.matcher)?;
            if self.plan.as_ref().is_none_or(|plan| found.len() < plan.len()) {
                self.plan = Some(found);
            }
            self.planned = true;
        }
        Ok(self.plan.as_deref().unwrap_or_default())
    }

    /// Takes the tokens that don't fit out of the row.
    fn cut_row(&mut self, remaining: usize) -> Result<(), ConstraintError> {
        let vocabulary = self.matcher.constraint().vocabulary().clone();
        let (text, special): (Vec<_>, Vec<_>) =
            set_bits(&self.row).partition(|token| vocabulary.bytes(*token).is_some());
        for token in special {
            if !self.fits(token, remaining)? {
                clear(&mut self.row, token);
            }
        }
        let legal = if text.len() <= FEW {
            sorted_by_bytes(&vocabulary, text.into_iter())
        } else {
            if self.sorted.is_empty() {
                let all = vocabulary.ids().filter(|token| vocabulary.bytes(*token).is_some());
                self.sorted = sorted_by_bytes(&vocabulary, all).into();
            }
            self.sorted.iter().copied().filter(|token| is_set(&self.row, *token)).collect()
        };
        let mut walk = Walk::new(&self.matcher);
        let longest = vocabulary.longest_token().max(1);
        for token in legal {
            let bytes = vocabulary.bytes(token).unwrap_or_default();
            let fits = match walk.to(bytes) {
                None => false,
                Some(cost) if cost < remaining => true,
                // No token spells more bytes than the longest.
                Some(cost) if cost.div_ceil(longest) > remaining => false,
                Some(_) => {
                    if let Some(fits) = walk.known() {
                        fits
                    } else {
                        let fits = self.fits(token, remaining)?;
                        walk.learn(fits);
                        fits
                    }
                }
            };
            if !fits {
                clear(&mut self.row, token);
            }
        }
        Ok(())
    }
}

impl Clone for MatcherConstraint {
    fn clone(&self) -> Self {
        Self {
            matcher: self.matcher.fork(),
            plan: self.plan.clone(),
            planned: self.planned,
            row: Vec::new(),
            row_remaining: None,
            sorted: Arc::clone(&self.sorted),
        }
    }
}

impl Constraint for MatcherConstraint {
    fn mask(&mut self) -> Result<&[u32], ConstraintError> {
        Ok(self.matcher.mask()?.words())
    }

    fn mask_within(&mut self, remaining: usize) -> Result<&[u32], ConstraintError> {
        if self.row_remaining != Some(remaining) {
            self.row.clear();
            self.row.extend_from_slice(self.matcher.mask()?.words());
            let kept = match self.plan()? {
                [first, rest @ ..] if rest.len() <= remaining => Some(*first),
                _ => None,
            };
            self.cut_row(remaining)?;
            if let Some(first) = kept {
                set(&mut self.row, first);
            }
            self.row_remaining = Some(remaining);
        }
        Ok(&self.row)
    }

    fn advance(&mut self, token: TokenId) -> Result<(), ConstraintError> {
        self.matcher.advance(token)?;
        self.plan = match self.plan.take() {
            Some(mut plan) if plan.first() == Some(&token) => {
                plan.remove(0);
                Some(plan)
            }
            _ => None,
        };
        self.planned = false;
        self.row_remaining = None;
        Ok(())
    }

    fn masks_computed(&self) -> u64 {
        self.matcher.masks_computed()
    }

    fn is_accepting(&self) -> bool {
        self.matcher.is_accepting()
    }

    fn is_finished(&mut self) -> bool {
        self.matcher.is_finished()
    }

    fn needed(&mut self) -> Result<usize, ConstraintError> {
        self.plan().map(<[TokenId]>::len)
    }

    fn needed_at_most(&mut self) -> usize {
        let cost = self.matcher.automaton().witness_cost(self.matcher.frames(), self.matcher.state());
        // Every token has a byte at least, and one more may have to end the text.
        let bound = cost.saturating_add(1);
        self.plan.as_ref().map_or(bound, |plan| plan.len().min(bound))
    }

    fn fits(&mut self, token: TokenId, remaining: usize) -> Result<bool, ConstraintError> {
        if let Some([first, rest @ ..]) = self.plan.as_deref()
            && *first == token
            && rest.len() <= remaining
        {
            return Ok(true);
        }
        self.matcher.advance(token)?;
        let cost = self.matcher.automaton().witness_cost(self.matcher.frames(), self.matcher.state());
        let fits =
            if cost < remaining { Ok(true) } else { completion(&mut self.matcher).map(|c| c.len() <= remaining) };
        self.matcher.rollback(1)?;
        fits
    }
}

/// The automaton's shortest completion in the fewest tokens, with the token that ends the text where more could follow.
fn completion(matcher: &mut Matcher) -> Result<Vec<TokenId>, ConstraintError> {
    if matcher.is_finished() {
        return Ok(Vec::new());
    }
    let mut tokens = matcher.completion_tokens()?;
    for (taken, token) in tokens.iter().enumerate() {
        if let Err(err) = matcher.advance(*token) {
            matcher.rollback(taken)?;
            return Err(err.into());
        }
    }
    let taken = tokens.len();
    if !matcher.is_finished() {
        tokens.extend(matcher.constraint().vocabulary().eos().first());
    }
    matcher.rollback(taken)?;
    Ok(tokens)
}

/// Follows tokens through the automaton, each from where it parts from the one before.
struct Walk {
    automaton: Arc<dyn Automaton>,
    seq: Frames,
    /// The states after each byte of `bytes`, the first before any.
    path: Vec<(State, Mark)>,
    bytes: Vec<u8>,
    /// What is known about states that no data of their own goes with.
    known: FxHashMap<State, bool>,
}

impl Walk {
    fn new(matcher: &Matcher) -> Self {
        let seq = matcher.frames().clone();
        Self {
            automaton: Arc::clone(matcher.automaton()),
            path: vec![(matcher.state(), seq.mark())],
            seq,
            bytes: Vec::new(),
            known: FxHashMap::default(),
        }
    }

    /// Goes to the end of `bytes` and gives the completion's cost there in bytes; `None` where they can't be read.
    fn to(&mut self, bytes: &[u8]) -> Option<usize> {
        let common = self.bytes.iter().zip(bytes).take_while(|(a, b)| a == b).count();
        self.bytes.truncate(common);
        self.path.truncate(common + 1);
        let (mut state, mark) = *self.path.last()?;
        self.seq.truncate(mark);
        for &byte in &bytes[common..] {
            let Step::To(next) = self.automaton.step(&mut self.seq, state, Symbol::Byte(byte)) else {
                return None;
            };
            state = next;
            self.bytes.push(byte);
            self.path.push((state, self.seq.mark()));
        }
        Some(self.automaton.witness_cost(&self.seq, state))
    }

    /// The state here, if it says everything: frames, keys or text of its own would not be part of it.
    fn plain(&self) -> Option<State> {
        let (_, begin) = self.path.first()?;
        let (state, mark) = self.path.last()?;
        (mark == begin).then_some(*state)
    }

    fn known(&self) -> Option<bool> {
        self.known.get(&self.plain()?).copied()
    }

    fn learn(&mut self, fits: bool) {
        if let Some(state) = self.plain() {
            self.known.insert(state, fits);
        }
    }
}

fn sorted_by_bytes(vocabulary: &Vocabulary, tokens: impl Iterator<Item = TokenId>) -> Vec<TokenId> {
    let mut tokens: Vec<_> = tokens.collect();
    tokens.sort_unstable_by(|a, b| vocabulary.bytes(*a).cmp(&vocabulary.bytes(*b)));
    tokens
}

fn set_bits(row: &[u32]) -> impl Iterator<Item = TokenId> + '_ {
    row.iter().enumerate().filter(|(_, word)| **word != 0).flat_map(|(index, &word)| {
        (0..32).filter(move |bit| word >> bit & 1 != 0).filter_map(move |bit| TokenId::from_index(index * 32 + bit))
    })
}

fn is_set(row: &[u32], token: TokenId) -> bool {
    row.get(token.index() / 32).is_some_and(|word| word >> (token.get() % 32) & 1 != 0)
}

fn set(row: &mut [u32], token: TokenId) {
    if let Some(word) = row.get_mut(token.index() / 32) {
        *word |= 1 << (token.get() % 32);
    }
}

fn clear(row: &mut [u32], token: TokenId) {
    if let Some(word) = row.get_mut(token.index() / 32) {
        *word &= !(1 << (token.get() % 32));
    }
}
