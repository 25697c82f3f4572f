//! Everything that can go wrong in a generation, and its wording.

use serde::Serialize;

use crate::constraint::ConstraintError;

/// Why a request was refused or a generation broke off.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Kind>);

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error("stop string {0} is empty")]
    EmptyStop(usize),
    #[error("the sampling parameters can't be used")]
    Params(#[source] formwork_sample::Error),
    #[error("the prompt has {prompt} tokens, and the model's context holds {context}")]
    PromptTooLong { prompt: usize, context: usize },
    #[error(
        "`max_tokens` is {max_tokens}, but after the prompt's {prompt} tokens the model's context holds only {left} more"
    )]
    ContextTooShort { max_tokens: usize, prompt: usize, left: usize },
    #[error("`max_tokens` is {max_tokens}, but the shortest text that the constraint allows needs {needed} tokens")]
    BudgetTooSmall { max_tokens: usize, needed: usize },
    #[error("the constraint failed at output token {step}")]
    Constraint { step: usize, source: ConstraintError },
    #[error("the constraint allows no token at output token {step}")]
    NoLegalToken { step: usize },
    #[error("no token could be drawn at output token {step}")]
    Sampling { step: usize, source: formwork_sample::Error },
    #[error("the model failed at output token {step}")]
    Model { step: usize, source: ConstraintError },
    #[error("the model gave {got} logits at output token {step}, not {wanted}")]
    LogitCount { step: usize, got: usize, wanted: usize },
    #[error("the schema to validate against can't be used: {message}")]
    Schema { pointer: String, message: String },
    #[error("the report can't be replayed: {0}")]
    Report(#[source] serde_json::Error),
}

impl Error {
    /// A stable name of the failure, for programs.
    pub fn code(&self) -> &'static str {
        match &*self.0 {
            Kind::EmptyStop(_) => "empty_stop",
            Kind::Params(source) | Kind::Sampling { source, .. } => source.code(),
            Kind::PromptTooLong { .. } => "prompt_too_long",
            Kind::ContextTooShort { .. } => "context_too_short",
            Kind::BudgetTooSmall { .. } => "budget_too_small",
            Kind::Constraint { .. } => "constraint_failed",
            Kind::NoLegalToken { .. } => "no_legal_token",
            Kind::Model { .. } => "model_failed",
            Kind::LogitCount { .. } => "wrong_logit_count",
            Kind::Schema { .. } => "invalid_schema",
            Kind::Report(_) => "invalid_report",
        }
    }

    /// What to do about it, where there is a way out.
    pub fn help(&self) -> Option<String> {
        match &*self.0 {
            Kind::EmptyStop(_) => Some("leave it out".to_owned()),
            Kind::Params(source) | Kind::Sampling { source, .. } => source.help().map(str::to_owned),
            Kind::PromptTooLong { .. } => Some("shorten the prompt".to_owned()),
            Kind::ContextTooShort { left, .. } => Some(format!("ask for at most {left} tokens, or shorten the prompt")),
            Kind::BudgetTooSmall { needed, .. } => Some(format!("ask for at least {needed} tokens")),
            Kind::LogitCount { .. } => {
                Some("check that the model's own vocabulary size is the one it names".to_owned())
            }
            Kind::NoLegalToken { .. } => {
                Some("check that the constraint was compiled for this model's vocabulary".to_owned())
            }
            _ => None,
        }
    }

    /// The output token at which it happened, 0 for the first; `None` where nothing was generated yet.
    pub fn step(&self) -> Option<usize> {
        match *self.0 {
            Kind::Constraint { step, .. }
            | Kind::NoLegalToken { step }
            | Kind::Sampling { step, .. }
            | Kind::Model { step, .. }
            | Kind::LogitCount { step, .. } => Some(step),
            _ => None,
        }
    }

    /// For a budget that is too small: how many tokens are needed.
    pub fn needed_tokens(&self) -> Option<usize> {
        match *self.0 {
            Kind::BudgetTooSmall { needed, .. } => Some(needed),
            _ => None,
        }
    }

    /// The JSON pointer into the schema that is at fault.
    pub fn pointer(&self) -> Option<&str> {
        match &*self.0 {
            Kind::Schema { pointer, .. } => Some(pointer),
            _ => None,
        }
    }

    /// The message and those of its sources, in one sentence.
    pub fn full_message(&self) -> String {
        let mut message = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            source = cause.source();
        }
        message
    }

    pub(crate) fn empty_stop(index: usize) -> Self {
        Kind::EmptyStop(index).into()
    }

    pub(crate) fn params(source: formwork_sample::Error) -> Self {
        Kind::Params(source).into()
    }

    pub(crate) fn prompt_too_long(prompt: usize, context: usize) -> Self {
        Kind::PromptTooLong { prompt, context }.into()
    }

    pub(crate) fn context_too_short(max_tokens: usize, prompt: usize, left: usize) -> Self {
        Kind::ContextTooShort { max_tokens, prompt, left }.into()
    }

    pub(crate) fn budget_too_small(max_tokens: usize, needed: usize) -> Self {
        Kind::BudgetTooSmall { max_tokens, needed }.into()
    }

    pub(crate) fn constraint(step: usize, source: ConstraintError) -> Self {
        Kind::Constraint { step, source }.into()
    }

    pub(crate) fn no_legal_token(step: usize) -> Self {
        Kind::NoLegalToken { step }.into()
    }

    pub(crate) fn sampling(step: usize, source: formwork_sample::Error) -> Self {
        Kind::Sampling { step, source }.into()
    }

    pub(crate) fn model(step: usize, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Kind::Model { step, source: Box::new(source) }.into()
    }

    pub(crate) fn logit_count(step: usize, got: usize, wanted: usize) -> Self {
        Kind::LogitCount { step, got, wanted }.into()
    }

    pub(crate) fn schema(pointer: String, message: String) -> Self {
        Kind::Schema { pointer, message }.into()
    }

    pub(crate) fn report(source: serde_json::Error) -> Self {
        Kind::Report(source).into()
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Self {
        Self(Box::new(kind))
    }
}

/// A failure as it stands in a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Failure {
    /// A stable name.
    pub code: String,
    /// One sentence: what, where, why.
    pub message: String,
    /// What to do, where there is a way out.
    pub help: Option<String>,
}

impl From<&Error> for Failure {
    fn from(err: &Error) -> Self {
        Self { code: err.code().to_owned(), message: err.full_message(), help: err.help() }
    }
}
