//! Automaton state × vocabulary → one shared bitset of allowed tokens.
//!
//! A [`Vocabulary`] knows the bytes of every token; a [`CompiledConstraint`] joins it to an automaton over bytes; a [`Matcher`] follows
//! one sequence and says, before each token, which ones may come next. Masks are computed once per automaton state, kept with the
//! compiled constraint and shared by all its matchers, on any thread.
//!
//! This crate reads no grammar and samples nothing: `formwork-automaton` builds automata, `formwork-sample` draws tokens.
//!
//! ```
//! use formwork_mask::{TokenEntry, Vocabulary};
//! let vocabulary = Vocabulary::from_tokens(
//!     vec![
//!         TokenEntry::Text(b"yes".to_vec()),
//!         TokenEntry::Text(b"no".to_vec()),
//!         TokenEntry::Special("</s>".into()),
//!     ],
//!     &[2],
//! )?;
//! assert_eq!(vocabulary.len(), 3);
//! # Ok::<(), formwork_mask::Error>(())
//! ```

#![forbid(unsafe_code)]

mod artefact;
mod base;
mod batch;
mod byte_level;
mod cache;
mod char_loops;
mod common_parts;
mod compiled;
mod draft;
mod entry;
mod eos;
mod error;
mod fingerprint;
mod gguf;
mod history;
mod index;
mod mask;
mod matcher;
pub mod oracle;
mod precompute;
mod quoted;
mod scratch_pool;
mod spelling;
mod tiktoken;
mod tokenizer_json;
mod trie;
mod vocabulary;
mod walk;
mod walk_memo;

pub use artefact::Artefact;
pub use batch::Batch;
pub use compiled::{CacheStats, CompiledConstraint};
pub use draft::DraftTree;
pub use entry::TokenEntry;
pub use error::{Code, Error};
pub use gguf::GgufTokens;
pub use mask::Mask;
pub use matcher::Matcher;
pub use precompute::{Bound, Exploration, PrecomputeLimits, Precomputed, precompute};
pub use vocabulary::Vocabulary;
