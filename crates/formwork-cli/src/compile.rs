//! `formwork compile`: a constraint and a vocabulary in, what compiling them takes out.

mod summary;

use std::time::Instant;

use formwork::{Artefact, Bound, CompiledConstraint, PrecomputeLimits, Vocabulary, precompute};

use crate::args::CompileArgs;
use crate::compile::summary::{Ahead, Size, Summary, Written};
use crate::error::Error;
use crate::given::Given;
use crate::output::{self, Status};
use crate::progress::ExploreBar;
use crate::tokenizer_file;
use crate::whole_file::WholeFile;

/// Compiles, and says what that took.
pub(crate) fn run(args: &CompileArgs) -> Result<Status, Error> {
    let given = Given::read(&args.constraint)?
        .ok_or_else(|| Error::usage("there is nothing to compile; give a constraint with --schema or --regex"))?;
    let output = args.output.as_deref().map(|path| WholeFile::check("artefact", path)).transpose()?;
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
    let (precomputed, written) = ahead(args, &given, &compiled, output.as_ref())?;

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
        precomputed,
        artefact: written,
    };
    let said = if args.json { summary.line() } else { summary.table(&given.place()) };
    output::print(said.as_bytes())?;
    Ok(Status::Good)
}

/// Computes masks ahead of time and writes them, as far as the flags ask for it.
fn ahead(
    args: &CompileArgs,
    given: &Given,
    compiled: &CompiledConstraint,
    output: Option<&WholeFile>,
) -> Result<(Option<Ahead>, Option<Written>), Error> {
    if !args.precompute && output.is_none() {
        return Ok((None, None));
    }
    let states = if args.precompute { args.max_states } else { 1 };
    let limits = PrecomputeLimits::default().states(states).bytes(args.max_bytes);
    let begin = Instant::now();
    let bar = ExploreBar::new();
    let masks = precompute(compiled, &limits, &mut |at| bar.show(at)).map_err(|e| given.error(e))?;
    drop(bar);
    let found = args.precompute.then(|| Ahead {
        covered: masks.covered(),
        total: masks.total(),
        dynamic: masks.dynamic(),
        masks: masks.masks(),
        size: Size { bytes: masks.bytes(), limit: Some(args.max_bytes) },
        states: masks.states(),
        max_states: args.max_states,
        bound: masks.bound().map(Bound::name),
        precompute_us: micros(begin.elapsed()),
    });
    let Some(output) = output else { return Ok((found, None)) };
    let bytes = masks.to_bytes(compiled, &given.constraint.fingerprint());
    output.write(&bytes)?;
    let begin = Instant::now();
    let artefact = Artefact::open(output.path()).map_err(|e| Error::constraint(None, e))?;
    let load_us = micros(begin.elapsed());
    Ok((found, Some(Written { path: output.path().display().to_string(), bytes: artefact.len(), load_us })))
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
