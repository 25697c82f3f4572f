//! Everything that can go wrong while sampling, and its wording.

use std::fmt;

use crate::order::StageName;

/// Why parameters were refused or no token could be drawn.
///
/// ```
/// use formwork_sample::SamplingParams;
/// let err = SamplingParams::default().top_p(1.5).validate().unwrap_err();
/// assert_eq!(err.code(), "invalid_parameter");
/// assert_eq!(err.parameter(), Some("top_p"));
/// ```
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Kind>);

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error("`{name}` is {value}, but must be {wanted}")]
    Parameter { name: &'static str, value: String, wanted: &'static str },
    #[error("`order` names an unknown stage `{0}`")]
    UnknownStage(String),
    #[error("`order` names the stage `{0}` twice")]
    DuplicateStage(StageName),
    #[error("`order` has `{0}` in an inner list, which may hold only stages that leave tokens out")]
    NotTruncating(StageName),
    #[error("`order` has an empty inner list")]
    EmptyInnerList,
    #[error("`{parameter}` is set, but `order` does not name the stage `{stage}` that uses it")]
    StageNotInOrder { parameter: &'static str, stage: StageName },
    #[error("the logit of token {id} is {value}")]
    BadLogit { id: usize, value: f32 },
    #[error("all {0} logits are −∞")]
    AllMinusInfinity(usize),
    #[error("there are no logits")]
    NoLogits,
    #[error("no token is left: the constraint allows {legal}, and {reason}")]
    NothingLegal { legal: String, reason: &'static str },
    #[error("the stage `{stage}` took the logit of token {id} to {value}")]
    Overflow { stage: StageName, id: u32, value: f64 },
    #[error("`{ban}` forbids every token that {by} allows here")]
    Banned { ban: &'static str, by: &'static str },
    #[error("token {0} was not among the tokens to choose from, so it has no log-probability")]
    NotACandidate(u32),
}

impl Error {
    /// A stable name of the failure, for programs.
    pub fn code(&self) -> &'static str {
        match *self.0 {
            Kind::Parameter { .. } => "invalid_parameter",
            Kind::UnknownStage(_) => "unknown_stage",
            Kind::DuplicateStage(_) => "duplicate_stage",
            Kind::NotTruncating(_) | Kind::EmptyInnerList => "invalid_order",
            Kind::StageNotInOrder { .. } => "stage_not_in_order",
            Kind::BadLogit { .. } => "bad_logit",
            Kind::AllMinusInfinity(_) | Kind::NoLogits => "no_finite_logit",
            Kind::NothingLegal { .. } => "nothing_legal",
            Kind::Overflow { .. } => "logit_overflow",
            Kind::Banned { .. } => "banned",
            Kind::NotACandidate(_) => "not_a_candidate",
        }
    }

    /// The request's parameter that is at fault, where one is.
    pub fn parameter(&self) -> Option<&'static str> {
        match *self.0 {
            Kind::Parameter { name, .. } => Some(name),
            Kind::StageNotInOrder { parameter, .. } => Some(parameter),
            Kind::UnknownStage(_) | Kind::DuplicateStage(_) | Kind::NotTruncating(_) | Kind::EmptyInnerList => {
                Some("order")
            }
            Kind::Banned { ban, .. } => Some(ban),
            _ => None,
        }
    }

    /// What to do about it, where there is a way out.
    pub fn help(&self) -> Option<&'static str> {
        match *self.0 {
            Kind::UnknownStage(_) => Some(
                "the stages are logit_bias, penalties, dry, temperature, top_k, top_p, min_p, typical_p, \
                 top_n_sigma and xtc; the grammar always comes first and is not named",
            ),
            Kind::DuplicateStage(_) => Some("name each stage once"),
            Kind::NotTruncating(_) => Some("inner lists may hold top_k, top_p, min_p, typical_p, top_n_sigma and xtc"),
            Kind::EmptyInnerList => Some("leave the inner list out"),
            Kind::StageNotInOrder { .. } => {
                Some("add the stage to `order` where it should act, or leave the parameter out")
            }
            Kind::BadLogit { .. } | Kind::AllMinusInfinity(_) | Kind::NoLogits => {
                Some("the model's output is broken; check its weights and number format")
            }
            Kind::NothingLegal { .. } => Some("check that the constraint was compiled for this model's vocabulary"),
            Kind::Overflow { .. } => Some("choose less extreme parameters"),
            Kind::Banned { .. } => Some("lift the ban, or change the constraint"),
            Kind::Parameter { .. } | Kind::NotACandidate(_) => None,
        }
    }

    pub(crate) fn parameter_value(name: &'static str, value: impl fmt::Display, wanted: &'static str) -> Self {
        Kind::Parameter { name, value: value.to_string(), wanted }.into()
    }

    pub(crate) fn unknown_stage(name: &str) -> Self {
        Kind::UnknownStage(name.to_owned()).into()
    }

    pub(crate) fn duplicate_stage(stage: StageName) -> Self {
        Kind::DuplicateStage(stage).into()
    }

    pub(crate) fn not_truncating(stage: StageName) -> Self {
        Kind::NotTruncating(stage).into()
    }

    pub(crate) fn empty_inner_list() -> Self {
        Kind::EmptyInnerList.into()
    }

    pub(crate) fn stage_not_in_order(parameter: &'static str, stage: StageName) -> Self {
        Kind::StageNotInOrder { parameter, stage }.into()
    }

    pub(crate) fn bad_logit(id: usize, value: f32) -> Self {
        Kind::BadLogit { id, value }.into()
    }

    pub(crate) fn all_minus_infinity(count: usize) -> Self {
        if count == 0 { Kind::NoLogits.into() } else { Kind::AllMinusInfinity(count).into() }
    }

    /// `legal` is how many tokens the constraint allows, whatever their logits.
    pub(crate) fn nothing_legal(legal: usize) -> Self {
        let (legal, reason) = match legal {
            0 => ("no token".to_owned(), "at least one is needed"),
            1 => ("one token".to_owned(), "the model gives it a logit of −∞"),
            n => (format!("{n} tokens"), "the model gives every one of them a logit of −∞"),
        };
        Kind::NothingLegal { legal, reason }.into()
    }

    pub(crate) fn overflow(stage: StageName, id: u32, value: f64) -> Self {
        Kind::Overflow { stage, id, value }.into()
    }

    pub(crate) fn banned(ban: &'static str, constrained: bool) -> Self {
        let by = if constrained { "the constraint" } else { "the model" };
        Kind::Banned { ban, by }.into()
    }

    pub(crate) fn not_a_candidate(id: u32) -> Self {
        Kind::NotACandidate(id).into()
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Self {
        Self(Box::new(kind))
    }
}
