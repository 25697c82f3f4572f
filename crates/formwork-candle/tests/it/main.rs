//! Models, tokenizers and files from the outside: on a tiny model made here, and on real ones where they are at hand.

#![expect(clippy::unwrap_used, reason = "what can't go on is a failed test")]
#![expect(clippy::print_stderr, reason = "what is skipped is said")]

mod files;
mod llama;
mod pull;
mod real_model;
mod real_tokenizers;
mod tiny;
mod tokenizer;
