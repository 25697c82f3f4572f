//! What a constraint says of a text.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use formwork::{
    Automaton, CompiledConstraint, Constraint, Escapes, Frames, Numbers, PropertyOrder, SchemaOptions, Spelling, Step,
    Symbol,
};
use serde_json::Value;

/// How a text fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Accepted whole, and generation may end there.
    Complete,
    /// Refused at a byte or a token, or not complete at the end.
    Rejected(usize),
}

/// A schema as it is judged.
pub(crate) struct Compiled {
    pub(crate) constraint: Constraint,
    /// `None` where nothing satisfies the schema: that is an answer too.
    pub(crate) automaton: Option<Arc<dyn Automaton>>,
}

impl Compiled {
    pub(crate) fn new(schema: &Value, options: &SchemaOptions) -> Result<Self, formwork::Error> {
        let constraint = Constraint::json_schema_with(schema, options)?;
        match constraint.automaton(Spelling::default()) {
            Ok(automaton) => Ok(Self { constraint, automaton: Some(automaton) }),
            Err(error) if error.is_unsatisfiable() => Ok(Self { constraint, automaton: None }),
            Err(error) => Err(error),
        }
    }

    /// How a text fares by its bytes.
    pub(crate) fn by_bytes(&self, text: &str) -> Verdict {
        self.automaton.as_ref().map_or(Verdict::Rejected(0), |automaton| by_bytes(&**automaton, text.as_bytes()))
    }

    pub(crate) fn undecided(&self) -> u64 {
        self.automaton.as_ref().map_or(0, |automaton| automaton.undecided())
    }
}

/// Options that leave the text of a value open: any order, any escape, any spelling of numbers.
pub(crate) fn open_spelling(options: SchemaOptions) -> SchemaOptions {
    options.property_order(PropertyOrder::Any).escapes(Escapes::Any).numbers(Numbers::Any)
}

/// Steps over the bytes of a text.
fn by_bytes(automaton: &dyn Automaton, text: &[u8]) -> Verdict {
    let mut frames = Frames::new();
    let mut state = automaton.start(&mut frames);
    for (at, byte) in text.iter().enumerate() {
        match automaton.step(&mut frames, state, Symbol::Byte(*byte)) {
            Step::To(next) => state = next,
            _ => return Verdict::Rejected(at),
        }
    }
    if automaton.is_accepting(&frames, state) { Verdict::Complete } else { Verdict::Rejected(text.len()) }
}

/// What masks say of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Masks {
    pub(crate) verdict: Verdict,
    /// Masks that disagree with the bytes: the token that comes is allowed where its bytes can't be read, or the other way round, or
    /// the end is where the text is not complete.
    pub(crate) errors: usize,
}

/// Drives a text, split by the longest token each time, through the masks. `None` where the vocabulary can't spell it.
pub(crate) fn by_masks(compiled: &CompiledConstraint, text: &[u8]) -> Option<Masks> {
    let vocabulary = compiled.vocabulary();
    let tokens = vocabulary.longest_tokens(text)?;
    let mut matcher = compiled.matcher();
    let mut errors = 0;
    let mut verdict = None;
    for (at, token) in tokens.iter().enumerate() {
        let ends = matcher.is_accepting();
        let (allowed, eos) = matcher
            .mask()
            .map_or((false, false), |mask| (mask.allows(*token), vocabulary.eos().iter().any(|eos| mask.allows(*eos))));
        errors += usize::from(ends != eos);
        let read = matcher.advance(*token).is_ok();
        errors += usize::from(read != allowed);
        if !read || !allowed {
            verdict = Some(Verdict::Rejected(at));
            break;
        }
    }
    let verdict = verdict.unwrap_or_else(|| {
        let ends = matcher.is_accepting();
        let eos = matcher.mask().is_ok_and(|mask| vocabulary.eos().iter().any(|eos| mask.allows(*eos)));
        errors += usize::from(ends != eos);
        if ends { Verdict::Complete } else { Verdict::Rejected(tokens.len()) }
    });
    Some(Masks { verdict, errors })
}

/// Runs something that must not panic; a panic comes back as its message.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        format!("panicked: {}", text.unwrap_or("without a message"))
    })
}
