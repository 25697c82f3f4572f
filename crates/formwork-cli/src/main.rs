//! The command `formwork`: translates between a person's flags and files and the library, and holds no rules of its own.

#![forbid(unsafe_code)]

mod args;
mod compile;
mod error;
#[cfg(feature = "model")]
mod generate;
mod given;
#[cfg(feature = "model")]
mod interrupt;
mod listed;
mod match_lines;
#[cfg(feature = "model")]
mod model;
mod output;
mod progress;
#[cfg(feature = "model")]
mod restart;
mod sentence;
mod tokenizer_file;
mod whole_file;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::error::Error;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let done = match &cli.command {
        #[cfg(feature = "model")]
        Command::Generate(args) => {
            restart::with_thread_settings();
            generate::run(args)
        }
        Command::Match(args) => match_lines::run(args),
        Command::Compile(args) => compile::run(args),
        #[cfg(feature = "model")]
        Command::Model(args) => model::run(args),
    };
    let error = match done {
        Ok(status) => return status.into(),
        Err(error) => error,
    };
    let in_json = match &cli.command {
        #[cfg(feature = "model")]
        Command::Generate(args) => args.json,
        Command::Compile(args) => args.json,
        _ => false,
    };
    if in_json {
        output::complain_in_json(&error.json());
    } else {
        output::complain(&error.sentence());
    }
    error.exit_status().into()
}

/// Prints help where it was asked for, and else one sentence about what is wrong with the flags.
fn usage(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        let sentence = match error.kind() {
            clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                "say what to do; `formwork --help` lists the commands".to_owned()
            }
            _ => sentence::of_usage(&error.render().to_string()),
        };
        output::complain(&sentence);
        return Error::usage(sentence).exit_status().into();
    }
    // A reader that closes the help early has seen enough.
    let _ = error.print();
    ExitCode::SUCCESS
}
