//! What came before the step: prompt and output, and tables over them.

use formwork_automaton::TokenId;

use crate::params::PenaltyScope;

/// The tokens before this step.
#[derive(Clone, Copy, Debug, Default)]
pub struct History<'a> {
    /// The prompt's.
    pub prompt: &'a [TokenId],
    /// Those generated so far, forced ones included.
    pub output: &'a [TokenId],
}

impl<'a> History<'a> {
    /// The last `last_n` tokens of a scope.
    pub(crate) fn scope(self, scope: PenaltyScope, last_n: Option<usize>) -> impl Iterator<Item = TokenId> + 'a {
        let last_n = last_n.unwrap_or(usize::MAX);
        let output = last(self.output, last_n);
        let prompt = match scope {
            PenaltyScope::All => last(self.prompt, last_n - output.len()),
            PenaltyScope::Output => &[],
        };
        prompt.iter().chain(output).copied()
    }

    /// All of it, last token first, into `into`.
    pub(crate) fn reversed(self, into: &mut Vec<TokenId>) {
        into.clear();
        into.extend(self.output.iter().rev());
        into.extend(self.prompt.iter().rev());
    }

    /// Whether it ends with `tail`.
    pub(crate) fn ends_with(self, tail: &[TokenId]) -> bool {
        match tail.len().checked_sub(self.output.len()) {
            None | Some(0) => self.output.ends_with(tail),
            Some(in_prompt) => self.output == &tail[in_prompt..] && self.prompt.ends_with(&tail[..in_prompt]),
        }
    }
}

fn last(tokens: &[TokenId], n: usize) -> &[TokenId] {
    &tokens[tokens.len().saturating_sub(n)..]
}

/// A number per token, and which tokens have one; emptied in the time that it took to fill.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    numbers: Vec<u32>,
    touched: Vec<u32>,
}

impl Tally {
    /// Forgets everything and takes ids below `vocab_size`.
    pub(crate) fn reset(&mut self, vocab_size: usize) {
        for id in self.touched.drain(..) {
            self.numbers[id as usize] = 0;
        }
        if self.numbers.len() < vocab_size {
            self.numbers.resize(vocab_size, 0);
        }
    }

    /// Raises a token's number to what `change` makes of it (never 0). Ids outside the vocabulary can't be drawn and are
    /// not noted.
    pub(crate) fn update(&mut self, token: TokenId, change: impl FnOnce(u32) -> u32) {
        if let Some(number) = self.numbers.get_mut(token.index()) {
            if *number == 0 {
                self.touched.push(token.get());
            }
            *number = change(*number).max(1);
        }
    }

    /// A token's number, 0 where it has none.
    pub(crate) fn get(&self, id: u32) -> u32 {
        self.numbers.get(id as usize).copied().unwrap_or(0)
    }

    /// The ids that have a number.
    pub(crate) fn touched(&self) -> &[u32] {
        &self.touched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: &[u32]) -> Vec<TokenId> {
        ids.iter().copied().map(TokenId::new).collect()
    }

    #[test]
    fn scopes_count_from_the_end() {
        let (prompt, output) = (ids(&[1, 2, 3]), ids(&[4, 5]));
        let history = History { prompt: &prompt, output: &output };
        let scope = |scope, n| -> Vec<u32> { history.scope(scope, n).map(TokenId::get).collect() };
        assert_eq!(scope(PenaltyScope::All, None), [1, 2, 3, 4, 5]);
        assert_eq!(scope(PenaltyScope::All, Some(3)), [3, 4, 5]);
        assert_eq!(scope(PenaltyScope::All, Some(1)), [5]);
        assert_eq!(scope(PenaltyScope::Output, Some(9)), [4, 5]);
        assert!(scope(PenaltyScope::Output, Some(0)).is_empty());
    }

    #[test]
    fn tails_may_begin_in_the_prompt() {
        let (prompt, output) = (ids(&[1, 2, 3]), ids(&[4, 5]));
        let history = History { prompt: &prompt, output: &output };
        for tail in [&[][..], &[5], &[4, 5], &[3, 4, 5], &[1, 2, 3, 4, 5]] {
            assert!(history.ends_with(&ids(tail)), "{tail:?}");
        }
        for tail in [&[4][..], &[2, 4, 5], &[0, 1, 2, 3, 4, 5]] {
            assert!(!history.ends_with(&ids(tail)), "{tail:?}");
        }
    }
}
