//! `min_p`: p[i] ≥ `min_p` · p[best].

use crate::candidates::Candidates;

pub(crate) fn apply(candidates: &mut Candidates, min_p: f64, min_keep: usize) {
    let best = candidates.best_logit();
    // The denominator is the same on both sides, and exp(0) = 1.
    let stays = |logit: f64| (logit - best).exp() >= min_p;
    let staying = candidates.items().iter().filter(|c| stays(c.logit)).count();
    if staying < min_keep {
        candidates.keep_best(min_keep);
    } else {
        candidates.retain(|c| stays(c.logit));
    }
}
