//! xtc: when the step's second random number says so, the likely tokens go, except the least likely of them.

use crate::candidates::{Candidate, Candidates, better_first};

pub(crate) fn apply(candidates: &mut Candidates, probability: f64, threshold: f64, u_xtc: f64) {
    if u_xtc >= probability {
        return;
    }
    let total = candidates.total();
    let best = candidates.best_logit();
    let likely = |c: &Candidate| (c.logit - best).exp() / total >= threshold;
    let least = candidates.items().iter().filter(|c| likely(c)).max_by(|a, b| better_first(a, b)).copied();
    if let Some(least) = least {
        // With one likely token it is the least likely one, and nothing goes.
        candidates.retain(|c| c.id == least.id || !likely(&c));
    }
}
