//! Whether a text is JSON; knows nothing of how it was generated.

use serde::Serialize;
use serde_json::Value;

/// The outcome of reading a text as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Parse {
    /// Whether it is JSON.
    pub status: ParseStatus,
    /// Where and why it is not.
    pub error: Option<ParseError>,
}

/// Whether a text is JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ParseStatus {
    /// It is.
    Ok,
    /// It is not.
    Failed,
    /// Nobody asked: it need not be.
    #[default]
    NotApplicable,
}

/// Why a text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ParseError {
    /// What is wrong.
    pub message: String,
    /// The line, 1 for the first.
    pub line: usize,
    /// The byte in the line, 1 for the first.
    pub column: usize,
}

/// Reads a text as JSON.
///
/// ```
/// use formwork_decode::{ParseStatus, parse_json};
/// let (parse, value) = parse_json("[1, 2");
/// assert_eq!(parse.status, ParseStatus::Failed);
/// assert_eq!(parse.error.map(|err| (err.line, err.column)), Some((1, 5)));
/// assert!(value.is_none());
/// ```
pub fn parse_json(text: &str) -> (Parse, Option<Value>) {
    match serde_json::from_str(text) {
        Ok(value) => (Parse { status: ParseStatus::Ok, error: None }, Some(value)),
        Err(err) => {
            let (line, column) = (err.line(), err.column());
            let message = err.to_string();
            // The place stands in fields of its own.
            let place = format!(" at line {line} column {column}");
            let message = message.strip_suffix(&place).unwrap_or(&message).to_owned();
            let error = Some(ParseError { message, line, column });
            (Parse { status: ParseStatus::Failed, error }, None)
        }
    }
}
