//! Benchmarks: Formwork's masks timed beside a peer's, in the same run, and only where the answers are right.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod cache;
mod corpus;
mod engine;
mod error;
#[cfg(feature = "model")]
mod examples;
mod judge;
mod maskbench;
mod masks;
mod memory;
mod output;
mod python_json;
mod random;
mod suite;
mod walks;

/// Benchmarks of Formwork, with peers timed in the same run.
#[derive(Parser)]
#[command(name = "formwork-bench", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Times masks over a corpus of schemas and instances.
    Masks(masks::Args),
    /// Times masks that are known, batches, forks and rollbacks.
    Cache(cache::Args),
    /// Checks verdicts over a corpus of schemas and instances.
    Maskbench(maskbench::Args),
    /// Checks verdicts over the official JSON Schema test suite.
    Suite(suite::Args),
    /// Validates random walks and the completion of each of their prefixes.
    Walks(walks::Args),
    /// Prints memory over one long output and over many sequences.
    Memory(memory::Args),
    #[cfg(feature = "model")]
    /// Counts valid texts of a real model on the examples, constrained or not.
    Examples(examples::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
        Command::Masks(args) => masks::run(args),
        Command::Cache(args) => cache::run(args),
        Command::Maskbench(args) => maskbench::run(args),
        Command::Suite(args) => suite::run(args),
        Command::Walks(args) => walks::run(args),
        Command::Memory(args) => memory::run(args),
        #[cfg(feature = "model")]
        Command::Examples(args) => examples::run(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error.print();
            ExitCode::from(2)
        }
    }
}
