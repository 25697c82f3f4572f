//! `top_k`: the k best, or with `keep` also all that equal the k-th.

use crate::candidates::Candidates;
use crate::params::TopKTies;

pub(crate) fn apply(candidates: &mut Candidates, k: usize, ties: TopKTies) {
    let mut count = k;
    if ties == TopKTies::Keep
        && let Some(worst) = k.checked_sub(1).and_then(|rank| candidates.ranked(rank))
    {
        while candidates.ranked(count).is_some_and(|next| next.logit >= worst.logit) {
            count += 1;
        }
    }
    candidates.keep_best(count);
}
