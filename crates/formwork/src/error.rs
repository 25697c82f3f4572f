//! One error for everything between a constraint's text and its masks.

use formwork_grammar::Place;

/// Why a constraint can't be used.
///
/// ```
/// let error = formwork::Constraint::json_schema(&serde_json::json!({"type": "string", "minLength": -1})).unwrap_err();
/// assert_eq!((error.code(), error.pointer()), ("invalid_keyword", Some("/minLength")));
/// ```
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Kind>);

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error(transparent)]
    Grammar(#[from] formwork_grammar::Error),
    #[error("the regular expression can't be read: {0}")]
    Regex(#[from] formwork_grammar::RegexError),
    #[error(transparent)]
    Compile(#[from] formwork_automaton::CompileError),
    #[error(transparent)]
    Mask(#[from] formwork_mask::Error),
    #[error("the option `{name}` is not valid: {reason}")]
    Option { name: String, reason: String },
}

impl Error {
    /// A stable name for the kind of error, in `snake_case`.
    pub fn code(&self) -> &'static str {
        match &*self.0 {
            Kind::Grammar(e) => e.code(),
            Kind::Regex(e) => e.code(),
            Kind::Compile(e) => e.code(),
            Kind::Mask(e) => e.code().as_str(),
            Kind::Option { .. } => "invalid_option",
        }
    }

    /// The JSON pointer of the fault in the schema, where it has one.
    pub fn pointer(&self) -> Option<&str> {
        match &*self.0 {
            Kind::Grammar(e) => e.pointer(),
            Kind::Compile(e) => e.pointer(),
            Kind::Regex(_) | Kind::Mask(_) | Kind::Option { .. } => None,
        }
    }

    /// Line and column of the fault in the constraint's text or the tokenizer's file, both from 1, where it has them.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        match &*self.0 {
            Kind::Grammar(e) => match e.place() {
                Place::LineColumn(line, column) => Some((*line, *column)),
                Place::Pointer(_) => None,
            },
            // A pattern is one line; its offset counts bytes.
            Kind::Regex(e) => Some((1, e.offset() + 1)),
            Kind::Mask(e) => e.place(),
            Kind::Compile(_) | Kind::Option { .. } => None,
        }
    }

    /// Whether the constraint is sound, but no text satisfies it.
    pub fn is_unsatisfiable(&self) -> bool {
        matches!(&*self.0, Kind::Compile(e) if e.is_unsatisfiable())
    }

    /// A way out, where one is known.
    pub fn help(&self) -> Option<&'static str> {
        match &*self.0 {
            Kind::Grammar(e) => e.help(),
            Kind::Regex(e) => e.help(),
            Kind::Compile(e) => e.help(),
            Kind::Mask(e) => e.help(),
            Kind::Option { .. } => None,
        }
    }

    pub(crate) fn option(name: &str, reason: impl Into<String>) -> Self {
        Self(Box::new(Kind::Option { name: name.to_owned(), reason: reason.into() }))
    }
}

impl<E> From<E> for Error
where
    Kind: From<E>,
{
    fn from(error: E) -> Self {
        Self(Box::new(Kind::from(error)))
    }
}

#[cfg(test)]
mod tests {
    use formwork_mask::Vocabulary;

    use super::Error;
    use crate::Constraint;

    #[test]
    fn what_a_tokenizers_file_lacks_keeps_its_place_and_help() {
        let refused = Vocabulary::from_tokenizer_json_bytes(b"{\n  \"model\": oops\n}").unwrap_err();
        let (place, help) = (refused.place(), refused.help());
        let error = Error::from(refused);
        assert_eq!((error.code(), error.line_column(), error.help()), ("malformed_file", place, help));
        assert!(place.is_some_and(|(line, _)| line == 2) && help.is_some());
    }

    #[test]
    fn a_regular_expression_keeps_its_help() {
        let error = Constraint::regex(r"(a)\1").unwrap_err();
        assert_eq!((error.code(), error.line_column()), ("regex_back_reference", Some((1, 4))));
        assert_eq!(error.help(), Some("spell out the alternatives that the reference stands for"));
    }
}
