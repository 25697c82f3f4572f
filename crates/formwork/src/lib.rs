//! Formwork makes a language model's output obey a grammar, always: the front door.
//!
//! A JSON Schema or a regular expression is compiled with a [`Vocabulary`] into a [`CompiledConstraint`]; a [`Matcher`] of it says
//! before each token which ones may come next, and generation may end only where the text is complete.
//!
//! ```
//! use formwork::{Constraint, TokenEntry, Vocabulary};
//!
//! // A vocabulary of single bytes and an end; real ones come from `Vocabulary::from_tokenizer_json(path)`.
//! let mut entries: Vec<TokenEntry> = (0..=255).map(|b| TokenEntry::Text(vec![b])).collect();
//! entries.push(TokenEntry::Special("</s>".into()));
//! let vocabulary = Vocabulary::from_tokens(entries, &[256])?;
//!
//! let schema = serde_json::json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
//! let compiled = Constraint::json_schema(&schema)?.compile(&vocabulary)?;
//! let mut matcher = compiled.matcher();
//! matcher.advance_bytes(br#"{"n": 1"#)?;
//! assert!(!matcher.is_accepting());
//! assert_eq!(matcher.shortest_completion().bytes().unwrap(), b"}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod constraint;
mod error;
mod options;

pub use constraint::Constraint;
pub use error::Error;
pub use options::schema_options_from_json;

pub use formwork_automaton::{Automaton, ByteSet, Frames, Spelling, State, Step, Symbol, TokenId, Witness};
#[cfg(feature = "candle")]
pub use formwork_candle as candle;
pub use formwork_decode as decode;
pub use formwork_grammar::{
    Draft, Escapes, Format, Limits, Narrowed, Numbers, PropertyOrder, Relaxed, SchemaOptions, Warning, Whitespace,
};
pub use formwork_mask::{
    Artefact, Batch, Bound, CacheStats, CompiledConstraint, DraftTree, Exploration, GgufTokens, Mask, Matcher,
    PrecomputeLimits, Precomputed, TokenEntry, Vocabulary, oracle, precompute,
};
pub use formwork_sample as sample;
