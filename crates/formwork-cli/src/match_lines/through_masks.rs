//! A text under a constraint, token by token through the masks.

use formwork::{CompiledConstraint, Matcher, TokenId, Vocabulary, oracle};
use serde::Serialize;

/// What masks say about a text.
#[derive(Debug, Serialize)]
pub(super) struct Verdict {
    mask_rejected_at: Option<usize>,
    eos_allowed: bool,
    eos_early: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    mask_errors: Option<usize>,
}

impl Verdict {
    /// The verdict under a constraint that nothing satisfies.
    pub(super) fn nothing_allowed(oracle: bool) -> Self {
        Self { mask_rejected_at: Some(0), eos_allowed: false, eos_early: 0, mask_errors: oracle.then_some(0) }
    }

    /// Looks at the mask before a token, and says whether the token may come; without one, at the mask of the text's end.
    fn look(&mut self, matcher: &mut Matcher, token: Option<TokenId>) -> bool {
        let accepting = matcher.is_accepting();
        let constraint = matcher.constraint().clone();
        // No mask: nothing may come.
        let (allowed, eos) = matcher.mask().map_or((false, false), |mask| {
            let eos = constraint.vocabulary().eos().iter().any(|id| mask.allows(*id));
            (token.is_some_and(|token| mask.allows(token)), eos)
        });
        self.eos_early += usize::from(eos && !accepting);
        if let Some(errors) = &mut self.mask_errors {
            *errors += oracle::differences(matcher).len();
        }
        if token.is_none() {
            self.eos_allowed = eos;
        }
        allowed
    }
}

/// Drives a text, split by the longest token each time, through the masks; with `oracle`, each mask is checked.
pub(super) fn drive(constraint: &CompiledConstraint, text: &[u8], oracle: bool) -> Verdict {
    let mut verdict =
        Verdict { mask_rejected_at: None, eos_allowed: false, eos_early: 0, mask_errors: oracle.then_some(0) };
    let (tokens, whole) = split(constraint.vocabulary(), text);
    let mut matcher = constraint.matcher();
    for (index, token) in tokens.iter().enumerate() {
        let allowed = verdict.look(&mut matcher, Some(*token));
        let read = allowed && matcher.advance(*token).is_ok();
        if allowed && !read {
            // The mask promised what stepping refuses.
            verdict.mask_errors = verdict.mask_errors.map(|errors| errors + 1);
        }
        if !read {
            verdict.mask_rejected_at = Some(index);
            return verdict;
        }
    }
    if whole {
        verdict.look(&mut matcher, None);
    } else {
        // What follows is in no token, so no mask can allow it.
        verdict.mask_rejected_at = Some(tokens.len());
    }
    verdict
}

/// Splits a text into tokens, as far as the vocabulary can spell it.
fn split(vocabulary: &Vocabulary, text: &[u8]) -> (Vec<TokenId>, bool) {
    // Taking the longest token each time gives the same tokens for a prefix that ends where one of them does, so the longest prefix
    // that splits is what can be spelled.
    let mut ends = (0..=text.len()).rev();
    let found = ends.find_map(|end| Some((vocabulary.longest_tokens(&text[..end])?, end == text.len())));
    found.unwrap_or_default()
}
