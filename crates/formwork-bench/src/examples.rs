//! `examples`: how many texts of a real model are valid, with the constraint and without.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use formwork::candle::{Device, LoadedModel, Message, ModelCache, Source};
use formwork::decode::{GenerateRequest, Generation, Hooks, MatcherConstraint, Model, SchemaValidator, generate};
use formwork::sample::SamplingParams;
use formwork::{Constraint, TokenId, Vocabulary};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::error::Error;
use crate::output::write_json;

/// The prompt that has nothing to do with any example.
const UNRELATED: &str = "Write a short poem about the sea at night.";

/// Generates from each example's schema with its own prompt and an unrelated one, and counts valid texts.
///
/// Example: formwork-bench examples examples --seeds 20 --temperatures 1,1.5 --json out.json
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder of examples: `NAME/schema.json` and `NAME/prompt.txt`.
    folder: PathBuf,
    /// Seeds 0 to N−1 for each temperature and prompt.
    #[arg(long, default_value_t = 20)]
    seeds: u64,
    /// Temperatures.
    #[arg(long, value_delimiter = ',', default_value = "1,1.5")]
    temperatures: Vec<f64>,
    /// The most tokens of a text.
    #[arg(long, default_value_t = 400)]
    max_tokens: usize,
    /// A GGUF file, a hub id, or the default model.
    #[arg(long)]
    model: Option<String>,
    /// Leave the constraint off. A text is given up (as `cancelled`) once nothing that follows can make it JSON.
    #[arg(long)]
    unconstrained: bool,
    /// Write every text and its verdicts here.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// One text and what became of it.
#[derive(Serialize)]
struct Record {
    example: String,
    prompt: &'static str,
    temperature: f64,
    seed: u64,
    constrained: bool,
    finish_reason: String,
    parses: bool,
    valid: bool,
    tokens: usize,
    forced: usize,
    mask_us_p50: Option<f64>,
    mask_us_p99: Option<f64>,
    seconds: f64,
    text: String,
}

#[derive(Default)]
struct Row {
    texts: usize,
    whole: usize,
    parse: usize,
    valid: usize,
    tokens: usize,
    seconds: f64,
}

/// A model that keeps a prompt's cache from one text to the next.
struct Reuse<'a> {
    loaded: &'a mut LoadedModel,
    prompt: usize,
    ready: bool,
}

impl Model for Reuse<'_> {
    type Error = formwork::candle::Error;

    fn vocab_size(&self) -> usize {
        self.loaded.model.vocab_size()
    }

    fn context_len(&self) -> Option<usize> {
        Some(self.loaded.model.context_len())
    }

    fn forward(&mut self, ids: &[TokenId]) -> Result<&[f32], Self::Error> {
        if self.ready && ids.len() == self.prompt && self.loaded.model.position() >= self.prompt {
            // The prompt again: only its last token is fed anew, for its logits.
            self.loaded.model.truncate(self.prompt - 1)?;
            self.ready = false;
            return self.loaded.model.forward(&ids[self.prompt - 1..]);
        }
        self.ready = false;
        self.loaded.model.forward(ids)
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let other = |e: &dyn std::fmt::Display| Error::Other(e.to_string());
    let cache = ModelCache::from_env().map_err(|e| other(&e))?;
    let source = args.model.as_deref().map_or(Ok(Source::Default), Source::parse).map_err(|e| other(&e))?;
    let path = source.locate(&cache, &mut |_| {}).map_err(|e| other(&e))?;
    let mut loaded = LoadedModel::open(path, Device::Cpu).map_err(|e| other(&e))?;
    let tokens = loaded.file.gguf_tokens().map_err(|e| other(&e))?;
    let vocabulary = Vocabulary::from_gguf(tokens)?;
    vocabulary.prepare();

    let examples = folders(&args.folder)?;
    let each = 2 * args.temperatures.len() as u64 * args.seeds;
    let style = ProgressStyle::with_template("{pos}/{len} {wide_bar} {eta} {msg}").map_err(|e| other(&e))?;
    let bar = ProgressBar::new(examples.len() as u64 * each).with_style(style);
    let mut records = Vec::new();
    for folder in &examples {
        one_example(folder, args, &mut loaded, &vocabulary, &bar, &mut records)?;
    }
    bar.finish_and_clear();
    print(&records);
    if let Some(path) = &args.json {
        write_json(path, &records)?;
    }
    Ok(())
}

fn folders(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut out: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(Error::read(folder))?
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.join("schema.json").is_file())
        .collect();
    out.sort();
    Ok(out)
}

fn one_example(
    folder: &Path,
    args: &Args,
    loaded: &mut LoadedModel,
    vocabulary: &Vocabulary,
    bar: &ProgressBar,
    records: &mut Vec<Record>,
) -> Result<(), Error> {
    let other = |e: &dyn std::fmt::Display| Error::Other(format!("{}: {e}", folder.display()));
    let name = folder.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let read = |file: &str| {
        let path = folder.join(file);
        std::fs::read_to_string(&path).map_err(Error::read(&path))
    };
    let schema: serde_json::Value = serde_json::from_str(&read("schema.json")?).map_err(|e| other(&e))?;
    let own = read("prompt.txt")?;
    let validator = SchemaValidator::new(&schema, None).map_err(|e| other(&e))?;
    let compiled = Constraint::json_schema(&schema).and_then(|c| c.compile(vocabulary)).map_err(|e| other(&e))?;
    for (prompt, text) in [("own", own.trim_end()), ("unrelated", UNRELATED)] {
        let ids = loaded.render_chat(&[Message::user(text)], true).map_err(|e| other(&e))?.ids;
        loaded.model.clear();
        let mut ready = false;
        for &temperature in &args.temperatures {
            for seed in 0..args.seeds {
                bar.set_message(format!("{name} {prompt} T={temperature}"));
                let request = GenerateRequest::new(ids.clone())
                    .sampling(SamplingParams::default().temperature(temperature))
                    .max_tokens(args.max_tokens)
                    .seed(seed);
                let mut constraint = MatcherConstraint::new(compiled.matcher());
                let started = Instant::now();
                let model = Reuse { loaded: &mut *loaded, prompt: ids.len(), ready };
                let mut done = if args.unconstrained {
                    let mut so_far = String::new();
                    let mut on_text = |delta: &str| {
                        so_far.push_str(delta);
                        if may_become_json(&so_far) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                    };
                    generate(&request, model, None, vocabulary, Hooks::new().on_text(&mut on_text))
                } else {
                    generate(&request, model, Some(&mut constraint), vocabulary, Hooks::new())
                }
                .map_err(|e| other(&e))?;
                ready = true;
                done.check_json(Some(&validator));
                records.push(record(&name, prompt, temperature, seed, args, &done, started.elapsed().as_secs_f64()));
                bar.inc(1);
            }
        }
    }
    Ok(())
}

/// Whether some continuation makes the text JSON. Where none does, the rest of an unconstrained text says nothing more.
fn may_become_json(text: &str) -> bool {
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => true,
        Err(error) => error.is_eof(),
    }
}

fn record(
    example: &str,
    prompt: &'static str,
    temperature: f64,
    seed: u64,
    args: &Args,
    done: &Generation,
    seconds: f64,
) -> Record {
    let named = |value: serde_json::Result<serde_json::Value>| {
        value.ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
    };
    Record {
        example: example.to_owned(),
        prompt,
        temperature,
        seed,
        constrained: !args.unconstrained,
        finish_reason: named(serde_json::to_value(done.finish_reason)),
        parses: named(serde_json::to_value(done.parse.status)) == "ok",
        valid: named(serde_json::to_value(done.validation.status)) == "valid",
        tokens: done.usage.completion_tokens,
        forced: done.usage.forced_tokens,
        mask_us_p50: done.timing_us.mask_p50,
        mask_us_p99: done.timing_us.mask_p99,
        seconds,
        text: done.text.clone(),
    }
}

/// A row for each example, prompt and temperature, and the sum.
#[expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "the table is the result, and counts are small")]
fn print(records: &[Record]) {
    let mut rows: BTreeMap<(String, &str, String), Row> = BTreeMap::new();
    for record in records {
        for key in [
            (record.example.clone(), record.prompt, record.temperature.to_string()),
            ("~all".to_owned(), "", String::new()),
        ] {
            let row = rows.entry(key).or_default();
            row.texts += 1;
            row.whole += usize::from(matches!(record.finish_reason.as_str(), "grammar" | "eos"));
            row.parse += usize::from(record.parses);
            row.valid += usize::from(record.valid);
            row.tokens += record.tokens;
            row.seconds += record.seconds;
        }
    }
    println!("| example | prompt | temperature | texts | ended by itself | parse | valid | tokens/s |");
    println!("|---|---|---|---|---|---|---|---|");
    for ((example, prompt, temperature), row) in rows {
        println!(
            "| {} | {prompt} | {temperature} | {} | {} | {} | {} | {:.1} |",
            example.trim_start_matches('~'),
            row.texts,
            row.whole,
            row.parse,
            row.valid,
            row.tokens as f64 / row.seconds.max(f64::EPSILON)
        );
    }
}
