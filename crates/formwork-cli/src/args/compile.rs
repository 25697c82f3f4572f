//! The flags of `formwork compile`.

use std::path::PathBuf;

use clap::Args;

use super::ConstraintArgs;

/// Compiles a constraint for a vocabulary, and says what that takes.
///
/// Prints the size of the tables and of the masks beside what they may grow to, the number of states and masks, the time, and the shortest
/// completion in tokens. The exit status is 2 where no text satisfies the constraint.
///
/// With --precompute, masks are computed ahead of time, and -o keeps them in a file for `formwork generate --artefact`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  formwork compile --schema contact.json --tokenizer tokenizer.json\n  formwork compile --schema contact.json --precompute -o contact.artefact"
)]
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
    /// Walks the states that texts can reach, and computes their masks.
    #[arg(long)]
    pub(crate) precompute: bool,
    /// Looks at no more states than this.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) max_states: usize,
    /// Computes no more masks than fit into so many bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    pub(crate) max_bytes: usize,
    /// Writes the masks here; without --precompute, the first one alone.
    #[arg(short, long, value_name = "ARTEFACT")]
    pub(crate) output: Option<PathBuf>,
    /// Prints one line of JSON, and errors as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
