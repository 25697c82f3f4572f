//! `logit_bias`: z[i] += b[i], where −∞ stays −∞; the user's other bans act here as biases of −∞.

use formwork_automaton::TokenId;

use super::{Scratch, Surroundings};
use crate::candidates::{Candidate, Candidates};
use crate::error::Error;
use crate::relaxed::Relaxed;
use crate::resolved::ResolvedParams;

pub(crate) fn apply(
    candidates: &mut Candidates,
    params: &ResolvedParams,
    around: Surroundings<'_>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    if let Some(allowed) = &params.allowed_token_ids {
        scratch.tally.reset(around.vocab_size);
        for &token in allowed {
            scratch.tally.update(token, |_| 1);
        }
        candidates.retain(|c| scratch.tally.get(c.id) > 0);
        refuse_empty(candidates, "allowed_token_ids", around)?;
    }
    if !params.bad_words.is_empty() {
        scratch.tally.reset(around.vocab_size);
        for word in &params.bad_words {
            if let Some((last, before)) = word.split_last()
                && around.history.ends_with(before)
            {
                scratch.tally.update(*last, |_| 1);
            }
        }
        if !scratch.tally.touched().is_empty() {
            candidates.retain(|c| scratch.tally.get(c.id) == 0);
            refuse_empty(candidates, "bad_words", around)?;
        }
    }
    if !params.logit_bias.is_empty() {
        add(candidates, params, around, scratch);
        refuse_empty(candidates, "logit_bias", around)?;
    }
    if around.history.output.len() < params.min_tokens && !around.lifted.contains(Relaxed::MinTokens) {
        let ends = |c: Candidate| around.eos.contains(&TokenId::new(c.id));
        if candidates.items().iter().all(|c| ends(*c)) {
            scratch.relaxed.insert(Relaxed::MinTokens);
        } else {
            candidates.retain(|c| !ends(c));
        }
    }
    Ok(())
}

fn add(candidates: &mut Candidates, params: &ResolvedParams, around: Surroundings<'_>, scratch: &mut Scratch) {
    let bias = |id: u32| params.logit_bias.get(&TokenId::new(id)).copied();
    scratch.tally.reset(around.vocab_size);
    for &token in params.logit_bias.keys() {
        scratch.tally.update(token, |_| 1);
    }
    let tally = &scratch.tally;
    candidates.change_some(tally.touched(), |id| tally.get(id) > 0, |c| c.logit += bias(c.id).unwrap_or(0.0));
    if params.logit_bias.values().any(|b| b.is_infinite()) {
        candidates.retain(|c| c.logit > f64::NEG_INFINITY);
    }
}

fn refuse_empty(candidates: &Candidates, ban: &'static str, around: Surroundings<'_>) -> Result<(), Error> {
    if candidates.is_empty() {
        return Err(Error::banned(ban, around.constrained));
    }
    Ok(())
}
