//! An inner list of `order`: every stage sees the same distribution, and what all of them keep is kept.

use formwork_automaton::TokenId;

use super::{Scratch, Surroundings};
use crate::candidates::Candidates;
use crate::order::StageName;
use crate::relaxed::Relaxed;
use crate::resolved::ResolvedParams;

pub(crate) fn apply(
    candidates: &mut Candidates,
    stages: &[StageName],
    params: &ResolvedParams,
    around: Surroundings<'_>,
    scratch: &mut Scratch,
) {
    scratch.tally.reset(around.vocab_size);
    let mut copy = std::mem::take(&mut scratch.copy);
    for &stage in stages {
        copy.copy_from(candidates);
        truncate(&mut copy, stage, params, around, scratch);
        for candidate in copy.items() {
            scratch.tally.update(TokenId::new(candidate.id), |count| count + 1);
        }
    }
    scratch.copy = copy;
    let all = u32::try_from(stages.len()).unwrap_or(u32::MAX);
    if candidates.items().iter().any(|c| scratch.tally.get(c.id) == all) {
        candidates.retain(|c| scratch.tally.get(c.id) == all);
    } else {
        // `typical_p` and `xtc` may leave out the best tokens, the others the rest.
        scratch.relaxed.insert(Relaxed::EmptyIntersection);
        candidates.keep_best(1);
    }
}

/// Applies one stage that leaves tokens out.
pub(crate) fn truncate(
    candidates: &mut Candidates,
    stage: StageName,
    params: &ResolvedParams,
    around: Surroundings<'_>,
    scratch: &mut Scratch,
) {
    let min_keep = params.min_keep;
    match stage {
        StageName::TopK => super::top_k::apply(candidates, params.top_k, params.top_k_ties),
        StageName::TopP => super::top_p::apply(candidates, params.top_p, min_keep),
        StageName::MinP => super::min_p::apply(candidates, params.min_p, min_keep),
        StageName::TypicalP => {
            super::typical_p::apply(candidates, params.typical_p, min_keep, scratch);
        }
        StageName::TopNSigma => super::top_n_sigma::apply(candidates, params.top_n_sigma),
        StageName::Xtc => super::xtc::apply(candidates, params.xtc_probability, params.xtc_threshold, around.u_xtc),
        StageName::LogitBias | StageName::Penalties | StageName::Dry | StageName::Temperature => {}
    }
}
