//! A regular expression, whatever dialect it was written in.

mod code_points;
mod ecma;
mod error;
mod hir;
#[cfg(test)]
mod tests;

pub use error::RegexError;

/// The syntax tree that all dialects are parsed into. Laziness and groups are gone: they don't change the language.
///
/// Classes hold Unicode scalar values; how they are spelled in bytes is the automaton's business.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Regex {
    /// The empty text.
    Empty,
    /// One character out of sorted, disjoint, inclusive ranges; no range: nothing matches.
    Class(Vec<(char, char)>),
    /// One after another.
    Concat(Vec<Regex>),
    /// Any one of them.
    Alternation(Vec<Regex>),
    /// `min` to `max` times (`None`: without bound).
    Repeat {
        /// What is repeated.
        node: Box<Regex>,
        /// At least so often.
        min: u32,
        /// At most so often.
        max: Option<u32>,
    },
    /// `^`: only at the text's start.
    Start,
    /// `$`: only at the text's end.
    End,
    /// `\b` (`negated`: `\B`), over ASCII word characters.
    WordBoundary {
        /// `\B`.
        negated: bool,
    },
    /// `(?=…)`, `(?!…)`, `(?<=…)`, `(?<!…)`.
    Look {
        /// Looks back instead of ahead.
        behind: bool,
        /// Holds where the inner expression does not match.
        negated: bool,
        /// The inner expression.
        node: Box<Regex>,
    },
}

impl Regex {
    /// Reads a pattern as ECMA-262 does with the `u` flag: one unit is one code point, `\d` and `\w` are ASCII.
    ///
    /// What JSON Schema's authors write although `u` forbids it is read as Annex B does: identity escapes of punctuation
    /// (`\-`, `\_`, `\@` …) and a lone `{`, `}` or `]`. A lone surrogate matches nothing, for no text holds one.
    ///
    /// ```
    /// use formwork_grammar::Regex;
    /// assert_eq!(Regex::parse_ecma("[a-c]")?, Regex::Class(vec![('a', 'c')]));
    /// # Ok::<(), formwork_grammar::RegexError>(())
    /// ```
    ///
    /// # Errors
    /// Where the pattern is no regular expression, refers back to a group, or nests or repeats beyond what is read.
    pub fn parse_ecma(pattern: &str) -> Result<Self, RegexError> {
        ecma::parse(pattern)
    }

    /// Reads a pattern as the `regex` crate does (Unicode on).
    ///
    /// ```
    /// use formwork_grammar::Regex;
    /// assert_eq!(Regex::parse_rust("(?i)k")?, Regex::parse_rust("[kK\u{212A}]")?);
    /// # Ok::<(), formwork_grammar::RegexError>(())
    /// ```
    ///
    /// # Errors
    /// Where that crate's parser refuses the pattern.
    pub fn parse_rust(pattern: &str) -> Result<Self, RegexError> {
        hir::parse(pattern)
    }

    /// The expression that matches exactly this text.
    pub fn literal(text: &str) -> Self {
        Self::concat(text.chars().map(|c| Self::Class(vec![(c, c)])).collect())
    }

    /// One after another; nothing at all is [`Regex::Empty`], one alone is itself.
    pub fn concat(mut parts: Vec<Self>) -> Self {
        match parts.len() {
            0 => Self::Empty,
            1 => parts.remove(0),
            _ => Self::Concat(parts),
        }
    }

    /// Any of them; none at all matches nothing, one alone is itself.
    pub fn alternation(mut parts: Vec<Self>) -> Self {
        match parts.len() {
            0 => Self::Class(Vec::new()),
            1 => parts.remove(0),
            _ => Self::Alternation(parts),
        }
    }

    /// A look-around over one expression.
    pub(crate) fn look(behind: bool, negated: bool, node: Self) -> Self {
        Self::Look { behind, negated, node: Box::new(node) }
    }
}
