//! The loop: step, stop, stream, report; sees a model only as a trait.
//!
//! [`generate`] feeds a prompt to a [`Model`], masks its logits by a [`Constraint`], draws tokens, stops where the request
//! or the constraint says, streams text that can no longer change, and returns a [`Generation`]: the text, how it ended, and
//! what it takes to get it again. A closure from token ids to logits is model enough ([`model_from_fn`]).
//!
//! Reading the text as JSON ([`parse_json`]) and validating it ([`SchemaValidator`]) are separate steps
//! ([`Generation::check_json`] does both): how a text ended says nothing about either.
//!
//! [`beam_search`] looks for the most probable texts instead of drawing one.
//!
//! What is not here: models, and the rules of sampling.

#![forbid(unsafe_code)]

mod beams;
mod check;
mod constraint;
mod error;
mod generate;
mod matcher;
mod model;
mod parse;
mod replay;
mod report;
mod request;
mod stop;
mod stream;
mod timing;
mod token_text;
mod validation;

pub use beams::{Beam, BeamRequest, beam_search};
pub use constraint::{Constraint, ConstraintError};
pub use error::{Error, Failure};
pub use generate::generate;
pub use matcher::MatcherConstraint;
pub use model::{FnModel, Model, model_from_fn};
pub use parse::{Parse, ParseError, ParseStatus, parse_json};
pub use replay::{Comparison, Recorded, RecordedStep};
pub use report::{FinishReason, Generation, ModelInfo, Provenance, RelaxedStep, Reproduce, Step, Stop, Usage};
pub use request::{GenerateRequest, Hooks, OnText};
pub use stop::StopConditions;
pub use timing::Timing;
pub use token_text::TokenText;
pub use validation::{SchemaValidator, Validation, ValidationStatus, Violation};
