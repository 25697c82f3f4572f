//! `typical_p`: by rising |−ln p − H|, the shortest prefix whose sum reaches `typical_p`.

use super::Scratch;
use crate::candidates::{Candidate, Candidates, better_first};

/// How far from the nearest one the first stretch to be sorted reaches; each next one reaches twice as far.
const FIRST_SPAN: f64 = 0.5;

pub(crate) fn apply(candidates: &mut Candidates, typical_p: f64, min_keep: usize, scratch: &mut Scratch) {
    let best = candidates.best_logit();
    let total = candidates.total();
    let log_total = total.ln();
    let surprise = |logit: f64| log_total - (logit - best);
    let prob = |logit: f64| (logit - best).exp() / total;
    let entropy: f64 = candidates.items().iter().map(|c| prob(c.logit) * surprise(c.logit)).sum();
    let rated = &mut scratch.rated;
    rated.clear();
    rated.extend(candidates.items().iter().map(|c| ((surprise(c.logit) - entropy).abs(), *c)));
    let mut sum = 0.0;
    let mut count = 0;
    let mut sorted = 0;
    let mut span = FIRST_SPAN;
    while count < rated.len() {
        if count == sorted {
            sorted += sort_nearest(&mut rated[sorted..], span);
            span *= 2.0;
        }
        sum += prob(rated[count].1.logit);
        count += 1;
        if sum >= typical_p && count >= min_keep {
            break;
        }
    }
    candidates.replace_by(rated.iter().take(count).map(|(_, c)| *c));
}

/// Moves those that are at most `span` further from the entropy than the nearest one to the front, nearest first (equal ones
/// as candidates stand), and says how many they are: at least one, so that sorting goes only as far as the sum needs.
fn sort_nearest(rated: &mut [(f64, Candidate)], span: f64) -> usize {
    let nearest = rated.iter().fold(f64::INFINITY, |min, r| min.min(r.0));
    let mut chosen = 0;
    for i in 0..rated.len() {
        if rated[i].0 <= nearest + span {
            rated.swap(i, chosen);
            chosen += 1;
        }
    }
    rated[..chosen].sort_unstable_by(|(a, x), (b, y)| a.total_cmp(b).then_with(|| better_first(x, y)));
    chosen
}
