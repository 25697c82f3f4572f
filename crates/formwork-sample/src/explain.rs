//! What every stage left, for people and for `formwork explain`.

use serde::Serialize;

use crate::candidates::Candidates;
use crate::error::Error;
use crate::input::StepInput;
use crate::relaxed::Relaxed;
use crate::sampler::Sampler;

/// One step, stage by stage; as JSON it is what `formwork explain` answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The distribution that the token was drawn from.
    #[serde(rename = "final")]
    pub final_: Vec<Probability>,
    /// The drawn token's id.
    pub chosen: u32,
    /// Rules lifted for this step.
    pub relaxed: Vec<Relaxed>,
    /// What each stage left, in the order in which they acted; `raw` first. Neutral stages don't appear.
    pub stages: Vec<StageTrace>,
}

/// What one stage left.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StageTrace {
    /// `raw`, `grammar`, a stage's name, or several joined by `+`.
    pub name: String,
    /// The tokens left, best first; equal ones by lower id.
    pub candidates: Vec<Probability>,
}

/// A token's probability at some stage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Probability {
    /// Its id.
    pub id: u32,
    /// Renormalised over the tokens left.
    pub prob: f64,
}

impl Sampler {
    /// Draws the step's token as [`sample`](Self::sample) does, and tells what every stage left.
    ///
    /// ```
    /// use formwork_sample::{Draws, Sampler, SamplingParams, StepInput};
    /// let mut sampler = Sampler::new(&SamplingParams::default().top_k(2))?;
    /// let step = StepInput::new(&[0.0, 1.0, 1.0, 1.0], Draws { u: 0.6, u_xtc: 0.0 });
    /// let explanation = sampler.explain(&step)?;
    /// assert_eq!(explanation.chosen, 2);
    /// assert_eq!(explanation.stages[1].name, "top_k");
    /// # Ok::<(), formwork_sample::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`sample`](Self::sample).
    pub fn explain(&mut self, step: &StepInput<'_>) -> Result<Explanation, Error> {
        let mut stages = Vec::new();
        if step.legal.is_some() {
            self.begin(&step.legal(None))?;
            stages.push(trace("raw", &mut self.candidates));
        }
        let around = self.begin(step)?;
        let first = if step.legal.is_some() { "grammar" } else { "raw" };
        stages.push(trace(first, &mut self.candidates));
        for at in 0..self.plan().len() {
            self.run(at, around)?;
            let name = self.plan()[at].name.clone();
            stages.push(trace(&name, &mut self.candidates));
        }
        let left = listed(&mut self.candidates);
        let sampled = self.finish(step.draws.u)?;
        let chosen = sampled.token.get();
        Ok(Explanation {
            final_: if self.params().is_greedy() { vec![Probability { id: chosen, prob: 1.0 }] } else { left },
            chosen,
            relaxed: sampled.relaxed.iter().collect(),
            stages,
        })
    }
}

fn trace(name: &str, candidates: &mut Candidates) -> StageTrace {
    StageTrace { name: name.to_owned(), candidates: listed(candidates) }
}

fn listed(candidates: &mut Candidates) -> Vec<Probability> {
    candidates.listed().into_iter().map(|(id, prob)| Probability { id, prob }).collect()
}
