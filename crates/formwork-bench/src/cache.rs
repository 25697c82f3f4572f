//! `cache`: what a constraint's masks cost once they are known, alone and in batches, and what forks and rollbacks cost.

use std::path::PathBuf;

use formwork::{CompiledConstraint, Constraint, Vocabulary};

use crate::engine::formwork_options;
use crate::error::Error;
use crate::masks::instances::Case;
use crate::masks::{self, Given, machine};
use crate::output::write_json;

mod batches;
mod report;
mod sequences;

use report::Report;

const PROTOCOL: &str = "Lookups: each instance is fed token by token up to its first rejected token, and every mask is timed; five \
    runs over all schemas on the same compiled constraints, of which the first, the second and the last are told. Batches: 64 matchers on one constraint, at different places of its instances, \
    one row each for every step; the time of a step divided by the matchers, the smallest of three passes on constraints of their own. \
    Cold: the constraint was just compiled. Forks: the matcher's copy, \
    the mask at its place being known. Rollbacks: one step. Schemas with a wrong answer are left out; the clock's own time is in each figure.";

/// Times masks that are known: one by one, in batches on several threads, and forks and rollbacks.
///
/// Example: formwork-bench cache maskbench.jsonl.xz --tokenizer tokenizer.json --sample 100 --json out.json
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    given: Given,
    /// Take this many schemas only: all that are taken stay compiled until the end.
    #[arg(long)]
    sample: Option<usize>,
    /// The numbers of threads to fill batches on.
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    threads: Vec<usize>,
    /// Write the report here.
    #[arg(long)]
    json: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let vocabulary = Vocabulary::from_tokenizer_json(&args.given.tokenizer)?;
    vocabulary.prepare();
    let mut unspellable = 0;
    let cases = masks::cases(&args.given.corpus, args.sample, &vocabulary, &mut unspellable)?;
    let compiled: Vec<(&Case, CompiledConstraint)> =
        cases.iter().filter_map(|case| Some((case, compile(case, &vocabulary)?))).collect();

    let lookups = sequences::lookups(&compiled);
    let right: Vec<&(&Case, CompiledConstraint)> =
        compiled.iter().zip(&lookups.right).filter(|(_, right)| **right).map(|(case, _)| case).collect();
    let steps = sequences::forks_and_rollbacks(&right);
    let batches = batches::fills(&right, &args.threads, |case| compile(case, &vocabulary));

    let report = Report {
        formwork_bench: env!("CARGO_PKG_VERSION"),
        corpus: args.given.corpus.display().to_string(),
        tokenizer: args.given.tokenizer.display().to_string(),
        vocabulary: vocabulary.len(),
        schemas: cases.len(),
        instances_unspellable: unspellable,
        refused: cases.len() - compiled.len(),
        wrong: compiled.len() - right.len(),
        machine: machine(),
        protocol: PROTOCOL,
        clock_us: sequences::clock(),
        lookups: lookups.into_report(),
        batches,
        fork_us: steps.fork,
        rollback_us: steps.rollback,
    };
    report.print();
    match &args.json {
        Some(path) => write_json(path, &report),
        None => Ok(()),
    }
}

/// The constraint as the engine `formwork` compiles it; `None` where it is refused.
fn compile(case: &Case, vocabulary: &Vocabulary) -> Option<CompiledConstraint> {
    Constraint::json_schema_with(&case.schema, &formwork_options(false)).ok()?.compile(vocabulary).ok()
}
