//! A regular expression, whatever dialect it was written in.

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
