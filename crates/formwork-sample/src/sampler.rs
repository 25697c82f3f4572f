//! The sampler: from one step's logits to a token.

use formwork_automaton::TokenId;

use crate::candidates::{Candidate, Candidates};
use crate::error::Error;
use crate::history::History;
use crate::input::{StepInput, check_logits};
use crate::order::{OrderEntry, StageName};
use crate::params::SamplingParams;
use crate::preselect::Preselection;
use crate::relaxed::RelaxedSet;
use crate::resolved::ResolvedParams;
use crate::stage::{self, Scratch, Surroundings};

/// Draws tokens by one request's parameters. Its memory is reused: after the first steps it allocates nothing.
///
/// It holds no random state (see [`Draws`](crate::Draws)), so one sampler may serve several sequences of a request.
///
/// ```
/// use formwork_sample::{Draws, Sampler, SamplingParams, StepInput};
/// let mut sampler = Sampler::new(&SamplingParams::default().temperature(0.5))?;
/// let logits = [2.0, 1.0, 0.0];
/// let step = StepInput::new(&logits, Draws { u: 0.9, u_xtc: 0.0 });
/// assert_eq!(sampler.sample(&step)?.token.get(), 1);
/// // The same with a constraint that allows only tokens 0 and 2:
/// assert_eq!(sampler.sample(&step.legal(Some(&[0b101])))?.token.get(), 0);
/// # Ok::<(), formwork_sample::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sampler {
    params: ResolvedParams,
    plan: Vec<Planned>,
    preselection: Preselection,
    pub(crate) candidates: Candidates,
    pub(crate) scratch: Scratch,
}

/// An entry of the order without its neutral stages.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    /// As explanations name it.
    pub(crate) name: String,
    stages: Vec<StageName>,
}

/// A drawn token.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sampled {
    /// Its id.
    pub token: TokenId,
    /// The natural logarithm of its probability after every stage.
    pub final_logprob: f64,
    /// Rules lifted for this step.
    pub relaxed: RelaxedSet,
}

impl Sampler {
    /// A sampler for a request's parameters.
    ///
    /// # Errors
    /// Those of [`SamplingParams::resolve`].
    pub fn new(params: &SamplingParams) -> Result<Self, Error> {
        params.resolve().map(Self::from)
    }

    /// The parameters it follows.
    pub const fn params(&self) -> &ResolvedParams {
        &self.params
    }

    /// Draws the step's token.
    ///
    /// # Errors
    /// Logits that are NaN, +∞ or all −∞; no legal token with a finite logit; a ban of the user's that leaves none; a stage
    /// that takes a logit beyond what an f64 holds. Nothing is drawn then.
    pub fn sample(&mut self, step: &StepInput<'_>) -> Result<Sampled, Error> {
        check_logits(step.logits)?;
        self.candidates.clear();
        let selected = self.preselection.gather(&mut self.candidates, &self.params, step, &mut self.scratch);
        // Nothing found among those that can matter: gathering all finds or names the reason.
        let around = if selected && !self.candidates.is_empty() {
            self.scratch.relaxed = RelaxedSet::default();
            Surroundings::new(step)
        } else {
            self.begin(step)?
        };
        for at in 0..self.plan.len() {
            if !can_skip(&self.plan[at..], &self.params) {
                self.run(at, around)?;
            }
        }
        self.finish(step.draws.u)
    }

    /// Takes a token that the constraint leaves no alternative to, without logits. The user's bans hold for it as for any
    /// other, and rules that would forbid it are lifted as in [`sample`](Self::sample).
    ///
    /// # Errors
    /// A ban of the user's forbids the token.
    pub fn force(&mut self, token: TokenId, history: History<'_>, eos: &[TokenId]) -> Result<Sampled, Error> {
        let around = Surroundings {
            history,
            eos,
            u_xtc: 1.0,
            vocab_size: token.index() + 1,
            lifted: RelaxedSet::default(),
            constrained: true,
        };
        let only = Candidate { logit: 0.0, id: token.get() };
        self.candidates.refill(std::iter::once(only));
        self.scratch.relaxed = RelaxedSet::default();
        for at in 0..self.plan.len() {
            self.run(at, around)?;
        }
        self.finish(0.0)
    }

    /// Checks the logits and gathers the legal tokens.
    pub(crate) fn begin<'a>(&mut self, step: &StepInput<'a>) -> Result<Surroundings<'a>, Error> {
        check_logits(step.logits)?;
        self.scratch.relaxed = RelaxedSet::default();
        stage::grammar::gather(&mut self.candidates, step.logits, step.legal)?;
        Ok(Surroundings::new(step))
    }

    /// Takes the best (greedy) or draws.
    pub(crate) fn finish(&mut self, u: f64) -> Result<Sampled, Error> {
        let drawn = if self.params.is_greedy() {
            self.candidates.best().map(|best| (best, 1.0))
        } else {
            self.candidates.draw(u)
        };
        // The stages leave at least one; without candidates there was nothing legal to begin with.
        let (candidate, prob) = drawn.ok_or_else(|| Error::nothing_legal(0))?;
        Ok(Sampled { token: TokenId::new(candidate.id), final_logprob: prob.ln(), relaxed: self.scratch.relaxed })
    }

    pub(crate) fn plan(&self) -> &[Planned] {
        &self.plan
    }

    /// Runs one entry of the plan.
    pub(crate) fn run(&mut self, at: usize, around: Surroundings<'_>) -> Result<(), Error> {
        let Self { params, plan, candidates, scratch, .. } = self;
        match plan[at].stages.as_slice() {
            [stage] => apply(*stage, candidates, params, around, scratch),
            stages => {
                stage::combined::apply(candidates, stages, params, around, scratch);
                Ok(())
            }
        }
    }

    /// Runs the stages that change logits and none that truncates.
    pub(crate) fn run_scaling(&mut self, around: Surroundings<'_>) -> Result<(), Error> {
        for at in 0..self.plan.len() {
            if self.plan[at].scales() {
                self.run(at, around)?;
            }
        }
        Ok(())
    }

    /// Whether some stage changes logits.
    pub(crate) fn scales(&self) -> bool {
        self.plan.iter().any(Planned::scales)
    }
}

impl From<ResolvedParams> for Sampler {
    fn from(params: ResolvedParams) -> Self {
        let plan: Vec<_> = params.order.iter().filter_map(|entry| Planned::new(entry, &params)).collect();
        let first_skipped = (0..plan.len()).find(|at| can_skip(&plan[*at..], &params));
        let runs = &plan[..first_skipped.unwrap_or(plan.len())];
        // A combination acts as one stage that can need any token.
        let single = runs.iter().map(|planned| match planned.stages.as_slice() {
            [stage] => *stage,
            _ => StageName::TopP,
        });
        let greedy = params.is_greedy() && runs.iter().all(Planned::scales);
        let preselection = Preselection::new(&params, single, greedy);
        Self { params, plan, preselection, candidates: Candidates::default(), scratch: Scratch::default() }
    }
}

impl Planned {
    fn new(entry: &OrderEntry, params: &ResolvedParams) -> Option<Self> {
        let acts = |stage: &StageName| {
            params.acting(*stage).is_some() && !(*stage == StageName::Temperature && params.is_greedy())
        };
        let stages: Vec<_> = entry.stages().iter().copied().filter(acts).collect();
        let names: Vec<_> = stages.iter().map(|stage| stage.as_str()).collect();
        (!stages.is_empty()).then(|| Self { name: names.join("+"), stages })
    }

    fn scales(&self) -> bool {
        self.stages.iter().any(|stage| !stage.is_truncating())
    }
}

/// Greedy needs no stage that keeps the best token, if none of the later ones could notice its absence.
fn can_skip(rest: &[Planned], params: &ResolvedParams) -> bool {
    params.is_greedy()
        && rest
            .iter()
            .flat_map(|planned| &planned.stages)
            .all(|stage| matches!(stage, StageName::TopK | StageName::TopP | StageName::MinP | StageName::TopNSigma))
}

/// Applies one stage.
fn apply(
    stage: StageName,
    candidates: &mut Candidates,
    params: &ResolvedParams,
    around: Surroundings<'_>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    match stage {
        StageName::LogitBias => {
            stage::logit_bias::apply(candidates, params, around, scratch)?;
        }
        StageName::Penalties => stage::penalties::apply(candidates, params, around, scratch),
        StageName::Dry => stage::dry::apply(candidates, params, around, scratch),
        StageName::Temperature => stage::temperature::apply(candidates, params.temperature),
        _ => {
            stage::combined::truncate(candidates, stage, params, around, scratch);
            return Ok(());
        }
    }
    match candidates.overflown() {
        Some(c) => Err(Error::overflow(stage, c.id, c.logit)),
        None => Ok(()),
    }
}
