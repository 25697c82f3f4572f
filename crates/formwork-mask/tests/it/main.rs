//! Masks and matchers over small hand-written automata, and vocabularies made by hand and taken from real tokenizers.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "tests fail by panicking and say what they skip")]

mod alphabets;
mod artefacts;
mod automata;
mod batches;
mod drafts;
mod json;
mod masks;
mod matchers;
mod threads;
mod tokenizers;
mod vocabularies;
