//! Why a checked constraint can't be made into an automaton.

use rustc_hash::FxHashSet;
use thiserror::Error;

use crate::lang::{ByteSet, LangError};

/// How many missing characters are tried for one that every text needs.
const TRIED: usize = 8;

/// A constraint that can't be compiled.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct CompileError(Box<Kind>);

#[derive(Debug, Error)]
enum Kind {
    #[error("no value can satisfy {}", at("the schema", pointer))]
    Unsatisfiable { pointer: String },
    #[error(
        "no value that can be written satisfies the schema: {} is enforced without {left_out}",
        at("the keyword", pointer)
    )]
    Narrowed { pointer: String, left_out: String },
    #[error("whether a value satisfies the schema was not found out within the limits of the search")]
    Undecided,
    #[error("{}", unspelled(character, *needed))]
    Unspellable { character: String, needed: bool },
    #[error("no text matches the regular expression")]
    EmptyRegex,
    #[error("{} can't be used: {error}", at("the pattern", pointer))]
    Pattern { pointer: String, error: LangError },
    #[error("{} exceeds the limit `{limit}` ({value})", at("the schema", pointer))]
    Limit { pointer: String, limit: &'static str, value: u64 },
}

/// "the schema at /items"; at the root just "the schema".
fn at(what: &str, pointer: &str) -> String {
    if pointer.is_empty() { what.to_owned() } else { format!("{what} at {pointer}") }
}

fn unspelled(character: &str, needed: bool) -> String {
    if needed {
        format!("the vocabulary can't spell {character}, which every text of the constraint needs")
    } else {
        format!("the vocabulary can't spell any text of the constraint; the shortest one needs {character}")
    }
}

impl CompileError {
    /// A stable name for the kind of error, in `snake_case`.
    pub fn code(&self) -> &'static str {
        match &*self.0 {
            Kind::Unsatisfiable { .. } => "unsatisfiable",
            Kind::Narrowed { .. } => "narrowed",
            Kind::Undecided => "undecided",
            Kind::Unspellable { .. } => "unspellable",
            Kind::EmptyRegex => "empty_regex",
            Kind::Pattern { error, .. } => error.code(),
            Kind::Limit { .. } => "limit_exceeded",
        }
    }

    /// The JSON pointer of the fault, where it has one.
    pub fn pointer(&self) -> Option<&str> {
        match &*self.0 {
            Kind::Unsatisfiable { pointer }
            | Kind::Narrowed { pointer, .. }
            | Kind::Pattern { pointer, .. }
            | Kind::Limit { pointer, .. } => Some(pointer),
            Kind::Undecided | Kind::Unspellable { .. } | Kind::EmptyRegex => None,
        }
    }

    /// Whether the constraint is sound, but no text satisfies it.
    pub fn is_unsatisfiable(&self) -> bool {
        matches!(&*self.0, Kind::Unsatisfiable { .. } | Kind::EmptyRegex)
    }

    /// A way out, where one is known.
    pub fn help(&self) -> Option<&'static str> {
        match &*self.0 {
            Kind::Unsatisfiable { .. } => {
                Some("two of its keywords contradict each other, or a required part can't exist")
            }
            Kind::Narrowed { .. } => Some("set `format` to \"annotate\" to leave formats to validation"),
            Kind::Undecided => Some(
                "its keywords combine in too many ways: simplify the schema, or try more `alternatives` in `limits`",
            ),
            Kind::Unspellable { .. } => Some("use another tokenizer, or leave the character out of the constraint"),
            Kind::EmptyRegex => Some("an anchor, an empty class or an intersection in it excludes everything"),
            Kind::Pattern { error, .. } => error.help(),
            Kind::Limit { .. } => Some("raise the limit in `limits`, or simplify the schema"),
        }
    }

    pub(crate) fn unsatisfiable(pointer: &str) -> Self {
        Self(Box::new(Kind::Unsatisfiable { pointer: pointer.to_owned() }))
    }

    /// Names a character of the constraint's shortest text that the alphabet lacks: one that no text can do without, where there is
    /// one. `is_emptied` says whether an alphabet leaves no text.
    pub(crate) fn unspellable(text: &str, alphabet: ByteSet, is_emptied: impl Fn(ByteSet) -> bool) -> Self {
        let lacks = |c: &char| !c.encode_utf8(&mut [0; 4]).bytes().all(|byte| alphabet.contains(byte));
        let mut missing: Vec<char> = text.chars().filter(lacks).collect();
        let mut seen = FxHashSet::default();
        missing.retain(|c| seen.insert(*c));
        let without = |c: char| {
            let mut most = ByteSet::all();
            c.encode_utf8(&mut [0; 4])
                .bytes()
                .filter(|byte| !alphabet.contains(*byte))
                .for_each(|byte| most.remove(byte));
            most
        };
        let needed = missing.iter().copied().take(TRIED).find(|c| is_emptied(without(*c)));
        let character = needed.or(missing.first().copied()).unwrap_or(char::REPLACEMENT_CHARACTER);
        let character = format!("{character:?} (U+{:04X})", u32::from(character));
        Self(Box::new(Kind::Unspellable { character, needed: needed.is_some() }))
    }

    pub(crate) fn narrowed(pointer: &str, left_out: &str) -> Self {
        Self(Box::new(Kind::Narrowed { pointer: pointer.to_owned(), left_out: left_out.to_owned() }))
    }

    pub(crate) fn undecided() -> Self {
        Self(Box::new(Kind::Undecided))
    }

    pub(crate) fn empty_regex() -> Self {
        Self(Box::new(Kind::EmptyRegex))
    }

    pub(crate) fn pattern(pointer: &str, error: LangError) -> Self {
        Self(Box::new(Kind::Pattern { pointer: pointer.to_owned(), error }))
    }

    pub(crate) fn limit(pointer: &str, limit: &'static str, value: u64) -> Self {
        Self(Box::new(Kind::Limit { pointer: pointer.to_owned(), limit, value }))
    }
}
