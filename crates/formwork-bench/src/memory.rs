//! `memory`: whether memory stays flat over one long output, and over many sequences on one constraint.

use std::path::PathBuf;

use formwork::{CompiledConstraint, Constraint, Vocabulary};

use crate::error::Error;
use crate::random::{Random, pick};

/// Walks masks at random over one long output and over many sequences, and prints the process's memory on the way.
///
/// Example: formwork-bench memory examples/recipe/schema.json --tokenizer tokenizer.json
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A schema.
    schema: PathBuf,
    /// A tokenizer.json.
    #[arg(long)]
    tokenizer: PathBuf,
    /// Tokens of the long output.
    #[arg(long, default_value_t = 10_000)]
    tokens: usize,
    /// Sequences on one constraint, each of at most 60 random tokens and closed by its shortest completion.
    #[arg(long, default_value_t = 10_000)]
    sequences: usize,
}

/// Random tokens of one sequence before its shortest completion closes it.
const WALK: usize = 60;

#[expect(clippy::print_stdout, reason = "the table is the result")]
pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let other = |e: &dyn std::fmt::Display| Error::Other(e.to_string());
    let text = std::fs::read_to_string(&args.schema).map_err(Error::read(&args.schema))?;
    let schema: serde_json::Value = serde_json::from_str(&text).map_err(|e| other(&e))?;
    let vocabulary = Vocabulary::from_tokenizer_json(&args.tokenizer)?;
    vocabulary.prepare();
    let compile = |schema: &serde_json::Value| -> Result<CompiledConstraint, Error> {
        Constraint::json_schema(schema).and_then(|c| c.compile(&vocabulary)).map_err(|e| other(&e))
    };

    println!("| work | done | resident MiB | masks | computed |");
    println!("|---|---|---|---|---|");
    let row = |work: &str, done: usize, compiled: &CompiledConstraint| {
        let stats = compiled.cache_stats();
        println!("| {work} | {done} | {:.1} | {} | {} |", resident_mib(), stats.masks, stats.computed);
    };

    // The schema's values one after another, without end, so that one output can be as long as is asked for.
    let list = serde_json::json!({"type": "array", "items": schema.clone(), "$defs": schema.get("$defs")});
    let compiled = compile(&list)?;
    let mut random = Random::new(1);
    let mut matcher = compiled.matcher();
    for done in 1..=args.tokens {
        let token = pick(&mut random, matcher.mask()?.iter(), |token| !vocabulary.eos().contains(&token));
        let Some(token) = token else { break };
        matcher.advance(token)?;
        if matcher.is_accepting() {
            // The list has been closed: back, to go on.
            matcher.rollback(1)?;
        }
        if done % (args.tokens / 10).max(1) == 0 {
            row("tokens of one output", done, &compiled);
        }
    }
    drop(matcher);

    let compiled = compile(&schema)?;
    for done in 1..=args.sequences {
        let mut matcher = compiled.matcher();
        for _ in 0..WALK {
            let Some(token) = pick(&mut random, matcher.mask()?.iter(), |_| true) else { break };
            matcher.advance(token)?;
            if vocabulary.eos().contains(&token) {
                break;
            }
        }
        if !matcher.is_accepting() {
            for token in matcher.completion_tokens()? {
                matcher.advance(token)?;
            }
        }
        if done % (args.sequences / 10).max(1) == 0 {
            row("sequences", done, &compiled);
        }
    }
    Ok(())
}

/// Memory of this process that is in use, from the kernel; 0 where it does not say.
fn resident_mib() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let resident = pages.as_deref().and_then(|s| s.split(' ').nth(1)).and_then(|s| s.parse::<f64>().ok());
    resident.unwrap_or(0.0) * 4096.0 / (1024.0 * 1024.0)
}
