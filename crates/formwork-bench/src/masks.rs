//! `masks`: times masks over a corpus, engines interleaved schema by schema, two cold passes each.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use formwork_mask::Vocabulary;
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};

use crate::corpus;
use crate::engine::{Engine, Kind};
use crate::error::Error;
use crate::output::write_json;

pub(crate) mod figures;
pub(crate) mod instances;
pub(crate) mod measure;
mod oracle;
mod plot;
pub(crate) mod report;
mod samples;

use instances::Case;
use measure::{Record, measure};
use report::{Machine, Report, Run};

const PROTOCOL: &str = "Timed: from matcher state to a dense row of mask bits that the caller can read, and advance. Every instance is fed \
    token by token up to its first rejected token; valid ones must be accepted whole with the end allowed there, invalid ones rejected somewhere. \
    Only schemas with right answers count. Each sample is the smaller of two cold passes by independent instances of the engine, in the same \
    shuffled order; single-threaded. Instances as Python's json.dumps writes them, split by longest match, the same ids for all engines.";

/// What is walked, and over which vocabulary.
#[derive(clap::Args)]
pub(crate) struct Given {
    /// The corpus: JSON lines with `name` and `case: {schema, tests: [{valid, data}]}`, or the same compressed with xz.
    pub(crate) corpus: PathBuf,
    /// A tokenizer.json.
    #[arg(long)]
    pub(crate) tokenizer: PathBuf,
}

/// Times masks over a corpus of schemas and instances.
///
/// Example: formwork-bench masks maskbench.jsonl.xz --tokenizer tokenizer.json --sample 500 --json out.json
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    given: Given,
    /// Take this many schemas only.
    #[arg(long)]
    sample: Option<usize>,
    /// The engines to time.
    #[arg(long, value_delimiter = ',', default_value = "formwork,llguidance")]
    engines: Vec<Kind>,
    /// Run each engine in a process of its own, one after another, and measure its memory.
    #[arg(long)]
    isolated: bool,
    /// Time nothing, but hold Formwork's masks against plain byte stepping: each one that is computed, and some of those known before.
    #[arg(long)]
    oracle: bool,
    /// Write the report here.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Draw the percentiles here.
    #[arg(long)]
    plot: Option<PathBuf>,
    /// Write every sample here, tab-separated: engine, schema, instance, token, nanoseconds of mask and advance, the text before.
    #[arg(long)]
    samples: Option<PathBuf>,
    /// Write the records here and print nothing: what the processes of --isolated do.
    #[arg(long, hide = true)]
    records: Option<PathBuf>,
    /// Walk the corpus once and write the peak of memory here: another process of --isolated.
    #[arg(long, hide = true)]
    memory: Option<PathBuf>,
}

/// What a process of `--isolated` hands back.
#[derive(Serialize, Deserialize)]
struct Records {
    setup_ms: f64,
    records: Vec<Record>,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let vocabulary = Vocabulary::from_tokenizer_json(&args.given.tokenizer)?;
    let mut unspellable = 0;
    let cases = cases(&args.given.corpus, args.sample, &vocabulary, &mut unspellable)?;
    if args.oracle {
        return oracle::check(&cases, &vocabulary, &args.given.tokenizer, args.json.as_deref());
    }
    let eos: Vec<u32> = vocabulary.eos().iter().map(|id| id.get()).collect();
    let vocabulary_len = vocabulary.len();
    drop(vocabulary);
    let schemas = cases.len();

    if let Some(path) = &args.memory {
        return memory(args, path, &cases, &eos);
    }
    let runs = if args.isolated {
        drop(cases);
        args.engines.iter().map(|&kind| in_own_process(args, kind)).collect::<Result<_, _>>()?
    } else {
        interleaved(args, &cases, &eos)?
    };
    if let Some(path) = &args.records {
        return hand_back(path, runs);
    }

    let report = Report {
        formwork_bench: env!("CARGO_PKG_VERSION"),
        corpus: args.given.corpus.display().to_string(),
        tokenizer: args.given.tokenizer.display().to_string(),
        vocabulary: vocabulary_len,
        schemas,
        instances_unspellable: unspellable,
        isolated: args.isolated,
        machine: machine(),
        protocol: PROTOCOL,
        engines: runs.iter().map(|run| (run.kind.name(), run.report())).collect(),
        ratio: ratios(&runs),
    };
    report.print();
    if let Some(path) = &args.json {
        write_json(path, &report)?;
    }
    if let Some(path) = &args.plot {
        std::fs::write(path, plot::svg(&runs)).map_err(Error::write(path))?;
    }
    if let Some(path) = &args.samples {
        let vocabulary = Vocabulary::from_tokenizer_json(&args.given.tokenizer)?;
        let walked = self::cases(&args.given.corpus, args.sample, &vocabulary, &mut unspellable)?;
        samples::write(path, &runs, &walked, &vocabulary)?;
    }
    Ok(())
}

/// So many schemas of the corpus, always the same ones.
pub(crate) fn cases(
    corpus: &Path,
    sample: Option<usize>,
    vocabulary: &Vocabulary,
    unspellable: &mut usize,
) -> Result<Vec<Case>, Error> {
    let mut lines = corpus::read(corpus)?;
    corpus::shuffle(&mut lines);
    lines.truncate(sample.unwrap_or(usize::MAX));
    Ok(lines.into_iter().map(|line| Case::new(line, vocabulary, unspellable)).collect())
}

/// An engine's two instances and what they have recorded.
struct Pair {
    kind: Kind,
    setup_ms: f64,
    instances: [Box<dyn Engine>; 2],
    records: Vec<Record>,
}

fn interleaved(args: &Args, cases: &[Case], eos: &[u32]) -> Result<Vec<Run>, Error> {
    let mut pairs = Vec::new();
    for &kind in &args.engines {
        let start = Instant::now();
        let first = kind.start(&args.given.tokenizer)?;
        let setup_ms = start.elapsed().as_secs_f64() * 1e3;
        pairs.push(Pair {
            kind,
            setup_ms,
            instances: [first, kind.start(&args.given.tokenizer)?],
            records: Vec::new(),
        });
    }
    let progress = progress(cases.len());
    for case in cases {
        // The first passes of all engines, then the second ones: the same caches are warm for each.
        let first: Vec<Record> = pairs.iter().map(|pair| measure(&*pair.instances[0], case, eos)).collect();
        for (pair, mut record) in pairs.iter_mut().zip(first) {
            record.merge(&measure(&*pair.instances[1], case, eos));
            pair.records.push(record);
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(pairs
        .into_iter()
        .map(|pair| Run { kind: pair.kind, setup_ms: pair.setup_ms, peak_bytes: None, records: pair.records })
        .collect())
}

/// A bar on stderr, where that is a terminal.
fn progress(length: usize) -> ProgressBar {
    let bar = ProgressBar::new(u64::try_from(length).unwrap_or(u64::MAX));
    match ProgressStyle::with_template("{bar:40} {pos}/{len} schemas, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Times an engine in one process and measures its memory in another.
fn in_own_process(args: &Args, kind: Kind) -> Result<Run, Error> {
    let json = spawn(args, kind, "--records")?;
    let records: Records = serde_json::from_slice(&json).map_err(|e| Error::engine(kind.name(), e))?;
    let peak = spawn(args, kind, "--memory")?;
    Ok(Run {
        kind,
        setup_ms: records.setup_ms,
        peak_bytes: serde_json::from_slice(&peak).ok(),
        records: records.records,
    })
}

/// Runs this program for one engine, and gives what it writes to the file that `flag` names.
fn spawn(args: &Args, kind: Kind, flag: &str) -> Result<Vec<u8>, Error> {
    let failed = |message: String| Error::engine(kind.name(), message);
    let name = format!("formwork-bench-{}-{}.json", std::process::id(), kind.name());
    let path = std::env::temp_dir().join(name);
    let program = std::env::current_exe().map_err(|e| failed(e.to_string()))?;
    let mut command = Command::new(program);
    command.arg("masks").arg(&args.given.corpus).arg("--tokenizer").arg(&args.given.tokenizer);
    command.arg("--engines").arg(kind.name()).arg(flag).arg(&path);
    if let Some(sample) = args.sample {
        command.arg("--sample").arg(sample.to_string());
    }
    let status = command.status().map_err(|e| failed(e.to_string()))?;
    if !status.success() {
        return Err(failed(format!("its process ended with {status}")));
    }
    let answer = std::fs::read(&path).map_err(Error::read(&path))?;
    std::fs::remove_file(&path).map_err(Error::write(&path))?;
    Ok(answer)
}

fn hand_back(path: &Path, runs: Vec<Run>) -> Result<(), Error> {
    for run in runs {
        let records = Records { setup_ms: run.setup_ms, records: run.records };
        let json = serde_json::to_vec(&records).map_err(|e| Error::Other(e.to_string()))?;
        std::fs::write(path, json).map_err(Error::write(path))?;
    }
    Ok(())
}

/// What one instance adds to the resident memory at its peak, while it walks the corpus once.
fn memory(args: &Args, path: &Path, cases: &[Case], eos: &[u32]) -> Result<(), Error> {
    // Linux: the peak starts afresh from here; elsewhere there is no figure.
    let reset = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let before = resident("VmRSS:");
    for &kind in &args.engines {
        let engine = kind.start(&args.given.tokenizer)?;
        for case in cases {
            measure(&*engine, case, eos);
        }
    }
    let peak = resident("VmHWM:").zip(before).map(|(peak, before)| peak.saturating_sub(before));
    let json = serde_json::to_vec(&peak.filter(|_| reset)).map_err(|e| Error::Other(e.to_string()))?;
    std::fs::write(path, json).map_err(Error::write(path))
}

fn ratios(runs: &[Run]) -> std::collections::BTreeMap<&'static str, report::Ratio> {
    let mut ratios = std::collections::BTreeMap::new();
    for peer in runs {
        let ours = peer.kind.peer().and_then(|kind| runs.iter().find(|run| run.kind == kind));
        if let Some(ours) = ours {
            ratios.insert(peer.kind.name(), peer.ratio_to(ours));
        }
    }
    ratios
}

pub(crate) fn machine() -> Machine {
    let processor = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    Machine {
        processor: processor.unwrap_or_else(|| std::env::consts::ARCH.into()),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    }
}

/// A line of this process's memory status in bytes, where the system has one.
fn resident(line: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with(line))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
