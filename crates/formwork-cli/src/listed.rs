//! What a schema's author should know, as answers in JSON list it.

use serde::Serialize;

/// What looks like a mistake.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Warning {
    /// Where in the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pointer: Option<String>,
    pub(crate) message: String,
}

/// A keyword that is not enforced, or not as it says.
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    pointer: String,
    keyword: String,
    reason: String,
}

impl Warning {
    pub(crate) fn of_request(message: impl Into<String>) -> Self {
        Self { pointer: None, message: message.into() }
    }
}

impl From<&formwork::Warning> for Warning {
    fn from(warning: &formwork::Warning) -> Self {
        Self { pointer: Some(warning.pointer.clone()), message: warning.message.clone() }
    }
}

impl From<&formwork::Narrowed> for Listed {
    fn from(narrowed: &formwork::Narrowed) -> Self {
        let formwork::Narrowed { pointer, keyword, reason } = narrowed.clone();
        Self { pointer, keyword, reason }
    }
}

impl From<&formwork::Relaxed> for Listed {
    fn from(relaxed: &formwork::Relaxed) -> Self {
        let formwork::Relaxed { pointer, keyword, reason } = relaxed.clone();
        Self { pointer, keyword, reason }
    }
}
