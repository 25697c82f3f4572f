//! What can be wrong with a regular expression, and where.

use std::fmt;

/// A pattern that can't be read. It says what is wrong and where.
///
/// ```
/// use formwork_grammar::Regex;
/// let error = Regex::parse_ecma("a(b").unwrap_err();
/// assert_eq!(error.code(), "regex_syntax");
/// assert_eq!(error.offset(), 1);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct RegexError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: Kind,
    message: String,
    offset: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Syntax,
    BackReference,
    Unsupported,
    Limit,
}

impl RegexError {
    pub(super) fn syntax(offset: usize, message: impl Into<String>) -> Self {
        Self::new(Kind::Syntax, offset, message.into())
    }

    pub(super) fn back_reference(offset: usize) -> Self {
        Self::new(
            Kind::BackReference,
            offset,
            "back-references can't be enforced, as what they match depends on text that no finite automaton remembers"
                .into(),
        )
    }

    pub(super) fn unsupported(offset: usize, message: impl Into<String>) -> Self {
        Self::new(Kind::Unsupported, offset, message.into())
    }

    pub(super) fn limit(offset: usize, message: impl Into<String>) -> Self {
        Self::new(Kind::Limit, offset, message.into())
    }

    fn new(kind: Kind, offset: usize, message: String) -> Self {
        Self(Box::new(Inner { kind, message, offset }))
    }

    /// A stable name of the failure: `regex_syntax`, `regex_back_reference`, `regex_unsupported` or `regex_limit`.
    pub fn code(&self) -> &'static str {
        match self.0.kind {
            Kind::Syntax => "regex_syntax",
            Kind::BackReference => "regex_back_reference",
            Kind::Unsupported => "regex_unsupported",
            Kind::Limit => "regex_limit",
        }
    }

    /// What is wrong, in one sentence without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where in the pattern, in bytes from its start.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// A way out, where there is one.
    pub fn help(&self) -> Option<&'static str> {
        match self.0.kind {
            Kind::Syntax => None,
            Kind::BackReference => Some("spell out the alternatives that the reference stands for"),
            Kind::Unsupported => Some("rewrite the pattern without this construct"),
            Kind::Limit => Some("use a smaller repeat count or fewer nested groups"),
        }
    }
}

impl fmt::Display for RegexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {} of the pattern)", self.0.message, self.0.offset)
    }
}

impl fmt::Debug for RegexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegexError")
            .field("code", &self.code())
            .field("message", &self.message())
            .field("offset", &self.offset())
            .finish()
    }
}

impl std::error::Error for RegexError {}
