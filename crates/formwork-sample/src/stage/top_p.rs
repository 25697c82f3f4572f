//! `top_p`: best first, the shortest prefix whose sum reaches p, the crossing token included.

use crate::candidates::Candidates;

pub(crate) fn apply(candidates: &mut Candidates, top_p: f64, min_keep: usize) {
    let total = candidates.total();
    let best = candidates.best_logit();
    let mut sum = 0.0;
    let mut count = 0;
    while let Some(candidate) = candidates.ranked(count) {
        sum += (candidate.logit - best).exp() / total;
        count += 1;
        if sum >= top_p && count >= min_keep {
            break;
        }
    }
    candidates.keep_best(count);
}
