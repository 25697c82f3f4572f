//! Why a language can't be built.

use std::fmt;

use formwork_grammar::RegexError;

/// A regular expression that can't be turned into an automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LangError(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    LookAround(&'static str),
    TooLarge { limit: usize },
    Syntax(RegexError),
}

impl LangError {
    pub(super) fn look_around(what: &'static str) -> Self {
        Self(Kind::LookAround(what))
    }

    pub(super) fn too_large(limit: usize) -> Self {
        Self(Kind::TooLarge { limit })
    }

    pub(super) fn syntax(error: RegexError) -> Self {
        Self(Kind::Syntax(error))
    }

    /// A stable name of the failure: `regex_lookaround` or `regex_too_large`, or that of the [`RegexError`] behind it.
    pub fn code(&self) -> &'static str {
        match &self.0 {
            Kind::LookAround(_) => "regex_lookaround",
            Kind::TooLarge { .. } => "regex_too_large",
            Kind::Syntax(error) => error.code(),
        }
    }

    /// What is wrong, in one sentence.
    pub fn message(&self) -> String {
        self.to_string()
    }

    /// A way out.
    pub fn help(&self) -> Option<&'static str> {
        Some(match &self.0 {
            Kind::LookAround(_) => "move the assertion out of the look-behind, or write the alternatives out",
            Kind::TooLarge { .. } => "use smaller repeat counts, or raise the limit `max_nfa`",
            Kind::Syntax(error) => return error.help(),
        })
    }
}

impl fmt::Display for LangError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Syntax(error) => error.fmt(f),
            Kind::LookAround(what) => f.write_str(what),
            Kind::TooLarge { limit } => {
                write!(f, "its repeats unroll to more than {limit} automaton nodes (limit `max_nfa`)")
            }
        }
    }
}

impl std::error::Error for LangError {}
