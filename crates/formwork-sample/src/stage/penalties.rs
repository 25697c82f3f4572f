//! penalties: repetition, presence, frequency and n-grams, in this order, each over its own scope.

use super::{Scratch, Surroundings};
use crate::candidates::Candidates;
use crate::params::PenaltyScope;
use crate::relaxed::Relaxed;
use crate::resolved::ResolvedParams;

pub(crate) fn apply(
    candidates: &mut Candidates,
    params: &ResolvedParams,
    around: Surroundings<'_>,
    scratch: &mut Scratch,
) {
    let scopes = params.penalty_scope;
    #[expect(clippy::float_cmp, reason = "neutral is that exact number")]
    if params.repetition_penalty != 1.0 {
        let r = params.repetition_penalty;
        over_scope(candidates, params, scopes.repetition, around, scratch, |z, _| if z > 0.0 { z / r } else { z * r });
    }
    if params.presence_penalty != 0.0 {
        let presence = params.presence_penalty;
        over_scope(candidates, params, scopes.presence, around, scratch, |z, _| z - presence);
    }
    if params.frequency_penalty != 0.0 {
        let frequency = params.frequency_penalty;
        over_scope(candidates, params, scopes.frequency, around, scratch, |z, count| z - frequency * f64::from(count));
    }
    if params.no_repeat_ngram_size > 0 && !around.lifted.contains(Relaxed::NoRepeatNgramSize) {
        ban_ngrams(candidates, params.no_repeat_ngram_size, around, scratch);
    }
}

/// Changes the logit of each distinct token of the scope; `change` gets its count too.
fn over_scope(
    candidates: &mut Candidates,
    params: &ResolvedParams,
    scope: PenaltyScope,
    around: Surroundings<'_>,
    scratch: &mut Scratch,
    change: impl Fn(f64, u32) -> f64,
) {
    scratch.tally.reset(around.vocab_size);
    for token in around.history.scope(scope, params.penalty_last_n) {
        scratch.tally.update(token, |count| count.saturating_add(1));
    }
    let tally = &scratch.tally;
    candidates.change_some(tally.touched(), |id| tally.get(id) > 0, |c| c.logit = change(c.logit, tally.get(c.id)));
}

/// Bans what would repeat an n-gram of prompt and output; lifted where that would leave nothing.
fn ban_ngrams(candidates: &mut Candidates, n: usize, around: Surroundings<'_>, scratch: &mut Scratch) {
    scratch.tally.reset(around.vocab_size);
    // Last token first: position i stands before position i − 1 in the text.
    around.history.reversed(&mut scratch.tokens);
    let Some(tail) = scratch.tokens.get(..n - 1) else {
        return;
    };
    for (i, window) in scratch.tokens.windows(n).enumerate() {
        // The window's first token is the n-gram's last one. The n − 1 tokens before it must be the text's last ones.
        if &window[1..] == tail {
            scratch.tally.update(scratch.tokens[i], |_| 1);
        }
    }
    if scratch.tally.touched().is_empty() {
        return;
    }
    let banned = |id| scratch.tally.get(id) > 0;
    if candidates.items().iter().all(|c| banned(c.id)) {
        scratch.relaxed.insert(Relaxed::NoRepeatNgramSize);
    } else {
        candidates.retain(|c| !banned(c.id));
    }
}
