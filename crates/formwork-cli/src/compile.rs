//! `formwork compile`: a constraint and a vocabulary in, what compiling them takes out.

mod summary;

use std::time::Instant;

use formwork::Vocabulary;

use crate::args::CompileArgs;
use crate::compile::summary::{Size, Summary};
use crate::error::Error;
use crate::given::Given;
use crate::output::{self, Status};
use crate::tokenizer_file;

/// Compiles, and says what that took.
pub(crate) fn run(args: &CompileArgs) -> Result<Status, Error> {
    let given = Given::read(&args.constraint)?
        .ok_or_else(|| Error::usage("there is nothing to compile; give a constraint with --schema or --regex"))?;
    let vocabulary = vocabulary(args)?;
    vocabulary.prepare();
    if !args.json {
        for warning in given.warnings() {
            output::complain(&format!("warning: {warning}"));
        }
    }
    let begin = Instant::now();
    let compiled = given.constraint.compile(&vocabulary).map_err(|e| given.error(e))?;
    let compile = begin.elapsed();
    let mut matcher = compiled.matcher();
    let begin = Instant::now();
    matcher.mask().map_err(|e| given.error(e))?;
    let first_mask = begin.elapsed();
    let shortest = matcher.completion_tokens().map_err(|e| given.error(e))?;

    let automaton = compiled.automaton();
    let (stats, limit) = (compiled.cache_stats(), given.file.is_some().then_some(given.options.limits.table_bytes));
    let summary = Summary {
        tokens: vocabulary.len(),
        compile_us: micros(compile),
        first_mask_us: micros(first_mask),
        shortest_completion_tokens: shortest.len(),
        states: automaton.states(),
        tables: Size { bytes: automaton.heap_bytes(), limit: limit.map(|limit| limit as usize) },
        masks: stats.masks,
        mask_bytes: Size { bytes: stats.bytes, limit: Some(stats.budget) },
        undecided: compiled.undecided(),
        narrowed: given.constraint.narrowed().iter().map(Into::into).collect(),
        relaxed: given.constraint.relaxed().iter().map(Into::into).collect(),
        warnings: given.constraint.warnings().iter().map(Into::into).collect(),
        constraint_sha256: given.sha256(),
    };
    let said = if args.json { summary.line() } else { summary.table(&given.place()) };
    output::print(said.as_bytes())?;
    Ok(Status::Good)
}

/// The vocabulary that the flags name.
fn vocabulary(args: &CompileArgs) -> Result<Vocabulary, Error> {
    #[cfg(feature = "model")]
    let path = match &args.tokenizer {
        Some(path) => path.clone(),
        None => crate::model::locate(&args.model)?,
    };
    #[cfg(not(feature = "model"))]
    let path = args.tokenizer.clone().unwrap_or_default();
    tokenizer_file::open(&path)
}

/// In microseconds, to a tenth.
fn micros(duration: std::time::Duration) -> f64 {
    (duration.as_secs_f64() * 1e7).round() / 10.0
}
