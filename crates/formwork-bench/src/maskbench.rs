//! `maskbench`: the verdicts of a corpus of schemas and instances, by bytes and by masks.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use formwork::decode::{SchemaValidator, ValidationStatus};
use formwork::{PropertyOrder, SchemaOptions, Vocabulary, Whitespace};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::corpus::{self, Line, Test};
use crate::error::Error;
use crate::judge::{Compiled, Verdict, by_masks, caught, open_spelling};
use crate::output::write_json;

/// Holds verdicts over a corpus of schemas and instances against its labels.
///
/// Example: formwork-bench maskbench maskbench.jsonl.xz --tokenizer tokenizer.json --check --json out.json
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The corpus: JSON lines with `name` and `case: {schema, tests: [{valid, data}]}`, or the same compressed with xz.
    corpus: PathBuf,
    /// A tokenizer.json; without it, bytes alone are checked.
    #[arg(long)]
    tokenizer: Option<PathBuf>,
    /// Check verdicts (times are taken by `masks`).
    #[arg(long, required = true)]
    check: bool,
    /// Take this many schemas only, of the shuffled corpus.
    #[arg(long)]
    sample: Option<usize>,
    /// Take the schemas whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// Threads.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Write the report here.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// One thing to report.
#[derive(Clone, Debug, Serialize)]
struct Listed {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<String>,
    reason: String,
}

#[derive(Debug, Default, Serialize)]
struct Report {
    schemas: usize,
    instances: usize,
    unsatisfiable: Vec<Listed>,
    refused: Vec<Listed>,
    valid_rejected: Vec<Listed>,
    invalid_accepted: Vec<Listed>,
    mask_errors: Vec<Listed>,
    narrowed: Vec<Listed>,
    order_only: Vec<Listed>,
    label_disputed: Vec<Listed>,
    unspellable: usize,
    undecided: Vec<Listed>,
    slowest: Vec<(f64, String)>,
}

/// How many of the slowest schemas are named.
const SLOWEST: usize = 20;

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let mut lines = corpus::read(&args.corpus)?;
    if let Some(only) = &args.only {
        lines.retain(|line| line.name.contains(only));
    }
    if let Some(sample) = args.sample {
        corpus::shuffle(&mut lines);
        lines.truncate(sample);
    }
    let vocabulary = args.tokenizer.as_ref().map(Vocabulary::from_tokenizer_json).transpose()?;
    if let Some(vocabulary) = &vocabulary {
        vocabulary.prepare();
    }
    let bar = ProgressBar::new(lines.len() as u64);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut report = Report::default();
        while let Some(line) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
            let start = Instant::now();
            report.judge(line, vocabulary.as_ref());
            report.slowest.push((start.elapsed().as_secs_f64(), line.name.clone()));
            report.keep_slowest();
            bar.inc(1);
        }
        report
    };
    let parts: Vec<Report> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..args.threads.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    bar.finish_and_clear();
    let report = parts.into_iter().fold(Report::default(), Report::join);
    report.print();
    if let Some(path) = &args.json {
        write_json(path, &report)?;
    }
    Ok(())
}

fn compile(line: &Line, order: PropertyOrder) -> Result<Compiled, formwork::Error> {
    let options = open_spelling(SchemaOptions::default().whitespace(Whitespace::Spaced)).property_order(order);
    Compiled::new(&line.case.schema, &options)
}

impl Report {
    fn judge(&mut self, line: &Line, vocabulary: Option<&Vocabulary>) {
        self.schemas += 1;
        let listed = |test: Option<usize>, reason: String| Listed {
            name: line.name.clone(),
            test,
            code: None,
            pointer: None,
            reason,
        };
        let refused = |error: &formwork::Error| Listed {
            code: Some(error.code()),
            pointer: error.pointer().map(str::to_owned),
            ..listed(None, error.to_string())
        };
        let compiled = match caught(|| compile(line, PropertyOrder::Any)) {
            Ok(Ok(compiled)) => compiled,
            Ok(Err(error)) => return self.refused.push(refused(&error)),
            Err(panic) => return self.refused.push(listed(None, panic)),
        };
        if compiled.automaton.is_none() {
            self.unsatisfiable.push(listed(None, String::new()));
        }
        let with_masks = match (vocabulary, &compiled.automaton) {
            (Some(vocabulary), Some(_)) => match compiled.constraint.compile(vocabulary) {
                Ok(compiled) => Some(compiled),
                Err(error) => return self.refused.push(refused(&error)),
            },
            _ => None,
        };
        for narrowed in compiled.constraint.narrowed() {
            self.narrowed.push(Listed {
                pointer: Some(narrowed.pointer.clone()),
                ..listed(None, format!("{}: {}", narrowed.keyword, narrowed.reason))
            });
        }
        let validator = SchemaValidator::new(&line.case.schema, None).ok();
        let mut in_order: Option<Option<Compiled>> = None;
        for (index, test) in line.case.tests.iter().enumerate() {
            self.instances += 1;
            let text = test.text();
            let accepted = match caught(|| accepts(&compiled, &text)) {
                Ok(accepted) => accepted,
                Err(panic) => {
                    self.valid_rejected.push(listed(Some(index), panic));
                    continue;
                }
            };
            if let Some(compiled) = &with_masks {
                self.judge_masks(compiled, &text, accepted, &|reason| listed(Some(index), reason));
            }
            if accepted != test.valid {
                if is_disputed(validator.as_ref(), test) {
                    self.label_disputed.push(listed(Some(index), format!("labelled {}: {text}", test.valid)));
                } else if accepted {
                    self.invalid_accepted.push(listed(Some(index), text));
                } else if compiled.constraint.narrowed().is_empty() {
                    self.valid_rejected.push(listed(Some(index), text));
                } else {
                    self.narrowed.push(listed(Some(index), text));
                }
            } else if accepted {
                let ordered = in_order.get_or_insert_with(|| compile(line, PropertyOrder::Schema).ok());
                if !ordered.as_ref().is_some_and(|ordered| accepts(ordered, &text)) {
                    self.order_only.push(listed(Some(index), text));
                }
            }
        }
        let undecided = compiled.undecided() + with_masks.map_or(0, |compiled| compiled.undecided());
        if undecided > 0 {
            self.undecided.push(listed(None, undecided.to_string()));
        }
    }

    fn judge_masks(
        &mut self,
        compiled: &formwork::CompiledConstraint,
        text: &str,
        accepted: bool,
        listed: &dyn Fn(String) -> Listed,
    ) {
        match caught(|| by_masks(compiled, text.as_bytes())) {
            Ok(None) => self.unspellable += 1,
            Ok(Some(masks)) => {
                if masks.errors > 0 || (masks.verdict == Verdict::Complete) != accepted {
                    self.mask_errors.push(listed(format!("{masks:?}, accepted by bytes: {accepted}: {text}")));
                }
            }
            Err(panic) => self.mask_errors.push(listed(panic)),
        }
    }

    fn keep_slowest(&mut self) {
        self.slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.slowest.truncate(SLOWEST);
    }

    fn join(mut self, other: Self) -> Self {
        self.schemas += other.schemas;
        self.instances += other.instances;
        self.unsatisfiable.extend(other.unsatisfiable);
        self.refused.extend(other.refused);
        self.valid_rejected.extend(other.valid_rejected);
        self.invalid_accepted.extend(other.invalid_accepted);
        self.mask_errors.extend(other.mask_errors);
        self.narrowed.extend(other.narrowed);
        self.order_only.extend(other.order_only);
        self.label_disputed.extend(other.label_disputed);
        self.unspellable += other.unspellable;
        self.undecided.extend(other.undecided);
        self.slowest.extend(other.slowest);
        self.keep_slowest();
        self
    }

    #[expect(clippy::print_stdout, reason = "the table is the result")]
    fn print(&self) {
        println!("| | count |");
        println!("|---|---|");
        println!("| schemas | {} |", self.schemas);
        println!("| instances | {} |", self.instances);
        println!("| unspellable by the tokenizer | {} |", self.unspellable);
        let lists = [
            ("unsatisfiable", &self.unsatisfiable),
            ("refused", &self.refused),
            ("valid rejected", &self.valid_rejected),
            ("invalid accepted", &self.invalid_accepted),
            ("mask errors", &self.mask_errors),
            ("narrowed", &self.narrowed),
            ("order only", &self.order_only),
            ("label disputed", &self.label_disputed),
            ("undecided", &self.undecided),
        ];
        for (name, list) in lists {
            println!("| {name} | {} |", list.len());
        }
        for (name, list) in lists.iter().filter(|(name, _)| !matches!(*name, "narrowed" | "order only")) {
            for Listed { name: schema, test, pointer, reason, .. } in *list {
                let reason: String = reason.chars().take(300).collect();
                let test = test.map_or(String::new(), |test| format!(" test {test}"));
                println!("{name}: {schema}{test} {}: {reason}", pointer.as_deref().unwrap_or(""));
            }
        }
        for (seconds, name) in &self.slowest {
            println!("{seconds:.3} s: {name}");
        }
    }
}

fn accepts(compiled: &Compiled, text: &str) -> bool {
    compiled.by_bytes(text) == Verdict::Complete
}

/// Whether an independent validator contradicts an instance's label.
fn is_disputed(validator: Option<&SchemaValidator>, test: &Test) -> bool {
    validator.is_some_and(|validator| (validator.validate(&test.data).status == ValidationStatus::Valid) != test.valid)
}
