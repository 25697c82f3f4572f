//! The flags of `formwork generate`.

use std::path::PathBuf;

use clap::Args;

use super::{ConstraintArgs, SamplingArgs};

/// Generates text that obeys a schema or a regular expression.
///
/// Prints the text on standard output, alone. The exit status is 0 when the text is whole and valid, 1 when it is not (the report
/// still comes), 2 when the request can't be served, 130 when interrupted.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  formwork generate --schema contact.json --prompt \"Ada Lovelace, ada@example.org\"\n  formwork generate --regex '[A-Z][a-z]{2,8}' --prompt \"A name for a cat:\" --seed 7\n  formwork generate --schema invoice.json --prompt @mail.txt --temperature 0.7 --report report.json"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct GenerateArgs {
    #[command(flatten)]
    pub(crate) constraint: ConstraintArgs,
    /// The prompt: a text, @FILE, or `-` for standard input.
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    pub(crate) prompt: String,
    /// Gives the model the prompt as it is, not as a user's message in its chat template.
    #[arg(long, visible_alias = "no-chat-template")]
    pub(crate) raw: bool,
    /// The model: a GGUF file, or a hub id `OWNER/NAME[:FILE]`.
    #[arg(long, value_name = "PATH|ID", default_value = "default")]
    pub(crate) model: String,
    /// Masks computed ahead of time by `formwork compile --precompute -o`, for this constraint and this model.
    #[arg(long, value_name = "FILE", requires = "constraint")]
    pub(crate) artefact: Option<PathBuf>,
    /// Stops after this text (without a constraint; under one, the constraint decides). Repeat it for more.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) stop: Vec<String>,
    /// Keeps the stop text in the output.
    #[arg(long)]
    pub(crate) include_stop: bool,
    /// The most tokens to generate [default: 1024, or what the context leaves].
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<usize>,
    /// The same seed gives the same text [default: a new one, in the report].
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// How many texts to generate, one after another; each ends with a line break.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) n: u64,
    /// Writes the report here: one object, or with --n an array of them.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Prints the text while it is generated.
    #[arg(long, conflicts_with = "json")]
    pub(crate) stream: bool,
    /// Prints reports as JSON lines instead of texts, and errors as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) sampling: SamplingArgs,
}
