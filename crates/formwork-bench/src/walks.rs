//! `walks`: random walks through the masks, and the completion of each of their prefixes, held against a validator.

use std::path::PathBuf;

use formwork::decode::{SchemaValidator, ValidationStatus};
use formwork::{Constraint, Vocabulary};
use indicatif::ProgressBar;

use crate::error::Error;
use crate::random::{Random, pick};

/// Draws finished texts uniformly from the masks of each schema, and validates them and the completion of every prefix.
///
/// Example: formwork-bench walks examples/*/schema.json --tokenizer tokenizer.json --walks 1000
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Schemas.
    #[arg(required = true)]
    schemas: Vec<PathBuf>,
    /// A tokenizer.json.
    #[arg(long)]
    tokenizer: PathBuf,
    /// Texts of each schema.
    #[arg(long, default_value_t = 1_000)]
    walks: usize,
    /// Tokens before a text is closed by its shortest completion.
    #[arg(long, default_value_t = 300)]
    tokens: usize,
    /// Look at every N-th prefix.
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// What the walks are drawn with.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let other = |e: &dyn std::fmt::Display| Error::Other(e.to_string());
    let vocabulary = Vocabulary::from_tokenizer_json(&args.tokenizer)?;
    println!("| schema | walks | valid | prefixes completed | valid | eos early |");
    println!("|---|---|---|---|---|---|");
    let mut faults = 0;
    for path in &args.schemas {
        let text = std::fs::read_to_string(path).map_err(Error::read(path))?;
        let schema: serde_json::Value = serde_json::from_str(&text).map_err(|e| other(&e))?;
        let validator = SchemaValidator::new(&schema, None).map_err(|e| other(&e))?;
        let compiled = Constraint::json_schema(&schema).and_then(|c| c.compile(&vocabulary)).map_err(|e| other(&e))?;
        let is_valid = |text: &[u8]| {
            let value = serde_json::from_slice(text);
            value.is_ok_and(|value| validator.validate(&value).status == ValidationStatus::Valid)
        };
        let mut random = Random::new(args.seed);
        let [mut valid, mut prefixes, mut completed, mut early] = [0_usize; 4];
        let bar = ProgressBar::new(args.walks as u64);
        for _ in 0..args.walks {
            let mut matcher = compiled.matcher();
            let mut text = Vec::new();
            for _ in 0..args.tokens {
                let ends = matcher.is_accepting();
                let mask = matcher.mask()?;
                early += usize::from(!ends && vocabulary.eos().iter().any(|eos| mask.allows(*eos)));
                let Some(token) = pick(&mut random, mask.iter(), |_| true) else { break };
                if vocabulary.eos().contains(&token) {
                    break;
                }
                matcher.advance(token)?;
                text.extend(vocabulary.bytes(token).unwrap_or_default());
            }
            text.extend(matcher.shortest_completion().bytes().unwrap_or_default());
            valid += usize::from(is_valid(&text));
            let mut matcher = compiled.matcher();
            for (at, byte) in text.iter().enumerate() {
                if at % args.every.max(1) == 0 {
                    let rest = matcher.shortest_completion().bytes().unwrap_or_default();
                    prefixes += 1;
                    completed += usize::from(is_valid(&[&text[..at], &rest].concat()));
                }
                matcher.advance_bytes(&[*byte])?;
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        println!("| {} | {} | {valid} | {prefixes} | {completed} | {early} |", path.display(), args.walks);
        faults += args.walks - valid + prefixes - completed + early;
    }
    if faults == 0 { Ok(()) } else { Err(Error::Other(format!("{faults} faults"))) }
}
