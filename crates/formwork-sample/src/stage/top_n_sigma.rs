//! `top_n_sigma`: z[i] ≥ max − n·σ, where σ is the population deviation of the logits in play.

use crate::candidates::Candidates;

pub(crate) fn apply(candidates: &mut Candidates, n: f64) {
    #[expect(clippy::cast_precision_loss, reason = "vocabularies are far below 2^53")]
    let count = candidates.len() as f64;
    let items = candidates.items();
    let mean = items.iter().map(|c| c.logit).sum::<f64>() / count;
    let variance = items.iter().map(|c| (c.logit - mean).powi(2)).sum::<f64>() / count;
    let cut = candidates.best_logit() - n * variance.sqrt();
    candidates.retain(|c| c.logit >= cut);
}
