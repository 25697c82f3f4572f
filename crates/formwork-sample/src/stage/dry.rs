//! dry: takes from the logit of a token that would continue a run that has stood before, more the longer the run.

use formwork_automaton::TokenId;

use super::{Scratch, Surroundings};
use crate::candidates::Candidates;
use crate::resolved::ResolvedParams;

/// Penalties stay finite however long the run: a token this far down is never drawn, yet stays legal.
const LARGEST_PENALTY: f64 = 1e30;

/// For the longest k such that the last k tokens stood before an earlier occurrence of i, and k ≥ the allowed length:
/// z\[i\] −= multiplier · base^(k − allowed length). A breaker ends a match and is never penalised.
pub(crate) fn apply(
    candidates: &mut Candidates,
    params: &ResolvedParams,
    around: Surroundings<'_>,
    scratch: &mut Scratch,
) {
    scratch.tally.reset(around.vocab_size);
    around.history.reversed(&mut scratch.tokens);
    let tokens = &scratch.tokens;
    let is_breaker = |token: &TokenId| params.dry_breakers.contains(token);
    let longest = tokens.iter().position(is_breaker).unwrap_or(tokens.len());
    common_prefixes(tokens, &mut scratch.lengths);
    // `tokens[i - 1]` is an earlier token, and what stood before it begins (backwards) at i.
    for (i, token) in (1..).zip(tokens) {
        let Some(&length) = scratch.lengths.get(i) else {
            break;
        };
        let length = length.min(longest);
        if length >= params.dry_allowed_length && !is_breaker(token) {
            let length = u32::try_from(length).unwrap_or(u32::MAX);
            scratch.tally.update(*token, |k| k.max(length));
        }
    }
    let allowed = i32::try_from(params.dry_allowed_length).unwrap_or(i32::MAX);
    let tally = &scratch.tally;
    candidates.change_some(
        tally.touched(),
        |id| tally.get(id) > 0,
        |c| {
            let k = i32::try_from(tally.get(c.id)).unwrap_or(i32::MAX);
            let penalty = params.dry_multiplier * params.dry_base.powi(k.saturating_sub(allowed));
            c.logit -= penalty.min(LARGEST_PENALTY);
        },
    );
}

/// For each i the length of the longest common prefix of `tokens` and `tokens[i..]`, in linear time (the Z function).
fn common_prefixes(tokens: &[TokenId], lengths: &mut Vec<usize>) {
    lengths.clear();
    lengths.resize(tokens.len(), 0);
    // `tokens[start..end]` is the match found so far that reaches furthest.
    let (mut start, mut end) = (0, 0);
    for i in 1..tokens.len() {
        let mut length = if i < end { lengths[i - start].min(end - i) } else { 0 };
        while i + length < tokens.len() && tokens[length] == tokens[i + length] {
            length += 1;
        }
        lengths[i] = length;
        if i + length > end {
            (start, end) = (i, i + length);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn common_prefixes_are_those_found_by_comparing(ids in proptest::collection::vec(0u32..3, 0..40)) {
            let tokens: Vec<_> = ids.into_iter().map(TokenId::new).collect();
            let mut lengths = Vec::new();
            common_prefixes(&tokens, &mut lengths);
            for i in 1..tokens.len() {
                let naive = tokens.iter().zip(&tokens[i..]).take_while(|(a, b)| a == b).count();
                prop_assert_eq!(lengths[i], naive);
            }
        }
    }
}
