//! The flags, as clap reads them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

mod compile;
mod constraint;
#[cfg(feature = "model")]
mod generate;
#[cfg(feature = "model")]
mod sampling;

pub(crate) use compile::CompileArgs;
pub(crate) use constraint::ConstraintArgs;
#[cfg(feature = "model")]
pub(crate) use generate::GenerateArgs;
#[cfg(feature = "model")]
pub(crate) use sampling::SamplingArgs;

/// Makes a language model's output obey a grammar, always.
#[derive(Debug, Parser)]
#[command(name = "formwork", version)]
#[cfg_attr(
    feature = "model",
    command(
        after_help = "Example:\n  formwork generate --schema contact.json --prompt \"Ada Lovelace, ada@example.org\""
    )
)]
#[cfg_attr(
    not(feature = "model"),
    command(
        after_help = "Example:\n  echo '{\"id\": 1, \"schema\": {\"type\": \"integer\"}, \"texts\": [\"12\", \"1.5\"]}' | formwork match\n\nThis build has no model runtime, so `formwork generate` is missing."
    )
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[cfg(feature = "model")]
    Generate(Box<GenerateArgs>),
    Match(MatchArgs),
    Compile(Box<CompileArgs>),
    #[cfg(feature = "model")]
    Model(ModelArgs),
}

/// Says which texts a constraint accepts, and where it rejects the others.
///
/// Reads JSON lines `{"id", "schema"|"regex": …, "options": {…}, "texts": […], "walks": N, "seed": S}` and answers each, in order,
/// with one line. `complete`: the text is accepted and may end there. `rejected_at`: offset of the first byte after which no
/// completion exists. The exit status is 0 when every line was answered.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  echo '{\"id\": 1, \"regex\": \"[a-z]{3}\", \"texts\": [\"abc\", \"ab\", \"abC\"]}' | formwork match --complete"
)]
pub(crate) struct MatchArgs {
    /// The requests, one a line; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) requests: PathBuf,
    /// Adds `completion`: text that makes the longest accepted prefix whole (it goes on from byte `completion_at`).
    #[arg(long)]
    pub(crate) complete: bool,
    /// Drives each text through the masks of this vocabulary too: a tokenizer.json, or a model's GGUF file.
    #[arg(long, value_name = "FILE")]
    pub(crate) tokenizer: Option<PathBuf>,
    /// Checks every mask, token by token, against plain byte stepping: adds `mask_errors`.
    #[arg(long, requires = "tokenizer")]
    pub(crate) oracle: bool,
}

/// Fetches models, and says where they are.
#[cfg(feature = "model")]
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  formwork model pull")]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    pub(crate) command: ModelCommand,
}

/// What to do about models.
#[cfg(feature = "model")]
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Fetches a model into the cache, where it isn't there yet, and prints its file's path.
    #[command(after_help = "Examples:\n  formwork model pull\n  formwork model pull OWNER/NAME:FILE.gguf")]
    Pull {
        /// A hub id `OWNER/NAME[:FILE]`, or `default`.
        #[arg(value_name = "ID", default_value = "default")]
        id: String,
    },
    /// Prints where the default model's file is, or would be; the exit status is 1 where it isn't there.
    #[command(after_help = "Example:\n  formwork match --tokenizer \"$(formwork model path)\" requests.jsonl")]
    Path,
}
