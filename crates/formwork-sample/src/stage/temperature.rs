//! temperature: z/T. T = 0 is not a stage but the greedy branch.

use crate::candidates::Candidates;

pub(crate) fn apply(candidates: &mut Candidates, temperature: f64) {
    candidates.change_all(|c| c.logit /= temperature);
}
