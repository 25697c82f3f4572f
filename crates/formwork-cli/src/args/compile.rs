//! The flags of `formwork compile`.

use std::path::PathBuf;

use clap::Args;

use super::ConstraintArgs;

/// Compiles a constraint for a vocabulary, and says what that takes.
///
/// Prints the size of the tables and of the masks beside what they may grow to, the number of states and masks, the time, and the shortest
/// completion in tokens. The exit status is 2 where no text satisfies the constraint.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  formwork compile --schema contact.json --tokenizer tokenizer.json")]
pub(crate) struct CompileArgs {
    #[command(flatten)]
    pub(crate) constraint: ConstraintArgs,
    /// The vocabulary: a tokenizer.json, or a model's GGUF file.
    #[cfg_attr(feature = "model", arg(long, value_name = "FILE", conflicts_with = "model"))]
    #[cfg_attr(not(feature = "model"), arg(long, value_name = "FILE", required = true))]
    pub(crate) tokenizer: Option<PathBuf>,
    /// The model whose vocabulary it is: a GGUF file, or a hub id `OWNER/NAME[:FILE]`.
    #[cfg(feature = "model")]
    #[arg(long, value_name = "PATH|ID", default_value = "default")]
    pub(crate) model: String,
    /// Prints one line of JSON, and errors as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
