//! logits × mask × parameters → a token with its log-probabilities.
//!
//! [`Sampler`] takes one step's logits, the tokens that the constraint allows and what came before, and gives a token. The
//! grammar always comes first, so that truncation only ever sees legal tokens; the other stages act in the order that the
//! request names ([`SamplingParams::order`]). Probabilities are computed and summed in f64, equal candidates stand by lower
//! id, and random numbers are a function of seed and position ([`Draws`]): a request gives the same tokens whatever runs
//! beside it.
//!
//! [`Sampler::explain`] tells what every stage left, with probabilities; [`Sampler::log_probs`] gives the four
//! log-probabilities of a report. [`beam_tokens`] and [`LengthCorrection`] are for beam search.
//!
//! What is not here: masks (anything that can show its bits will do), models and the loop around them.

#![forbid(unsafe_code)]

mod beam;
mod candidates;
mod error;
mod explain;
mod history;
mod input;
mod logprob;
mod order;
mod params;
mod preselect;
mod preset;
mod random;
mod relaxed;
mod request;
mod resolved;
mod sampler;
mod stage;
mod wire;

pub use beam::{BeamScore, BeamToken, LengthCorrection, beam_tokens};
pub use error::Error;
pub use explain::{Explanation, Probability, StageTrace};
pub use history::History;
pub use input::StepInput;
pub use logprob::LogProbs;
pub use order::{OrderEntry, StageName};
pub use params::{PenaltyScope, PenaltyScopes, SamplingParams, TopKTies};
pub use preset::Preset;
pub use random::{Draws, RNG_NAME, fresh_seed};
pub use relaxed::{Relaxed, RelaxedSet};
pub use request::{ExplainRequest, RequestHistory};
pub use resolved::{ResolvedParams, ResolvedScopes};
pub use sampler::{Sampled, Sampler};
