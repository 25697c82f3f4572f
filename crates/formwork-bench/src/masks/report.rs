//! What the benchmark says: JSON for machines, a table for people.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::figures::{Figures, count};
use super::measure::{Record, Verdict};
use crate::engine::Kind;

/// The whole report.
#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) formwork_bench: &'static str,
    pub(crate) corpus: String,
    pub(crate) tokenizer: String,
    pub(crate) vocabulary: usize,
    pub(crate) schemas: usize,
    pub(crate) instances_unspellable: usize,
    pub(crate) isolated: bool,
    pub(crate) machine: Machine,
    pub(crate) protocol: &'static str,
    pub(crate) engines: BTreeMap<&'static str, EngineReport>,
    pub(crate) ratio: BTreeMap<&'static str, Ratio>,
}

/// Where it ran.
#[derive(Serialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) threads: usize,
}

/// One engine's figures, over the schemas that it answered rightly.
#[derive(Serialize)]
pub(crate) struct EngineReport {
    pub(crate) language: &'static str,
    pub(crate) setup_ms: f64,
    pub(crate) mask_us: Figures,
    pub(crate) first_mask_us: Figures,
    pub(crate) advance_us: Figures,
    pub(crate) mask_and_advance_us: Figures,
    pub(crate) tokens_per_s: f64,
    pub(crate) masks: usize,
    pub(crate) right: usize,
    pub(crate) errors: usize,
    pub(crate) refused: usize,
    pub(crate) peak_bytes: Option<u64>,
    pub(crate) error_list: Vec<Listed>,
    pub(crate) refused_list: Vec<Listed>,
}

/// A schema and what happened with it.
#[derive(Serialize)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// A peer's figures divided by Formwork's, over the schemas that both answered rightly.
#[derive(Serialize)]
pub(crate) struct Ratio {
    pub(crate) of: &'static str,
    pub(crate) to: &'static str,
    pub(crate) schemas: usize,
    pub(crate) mask_us: Figures,
    pub(crate) first_mask_us: Figures,
    pub(crate) advance_us: Figures,
    pub(crate) mask_and_advance_us: Figures,
    pub(crate) tokens_per_s: f64,
}

/// One engine's records.
pub(crate) struct Run {
    pub(crate) kind: Kind,
    pub(crate) setup_ms: f64,
    pub(crate) peak_bytes: Option<u64>,
    pub(crate) records: Vec<Record>,
}

/// The timings of some records.
struct Timings {
    mask: Figures,
    first: Figures,
    advance: Figures,
    both: Figures,
    tokens_per_s: f64,
    masks: usize,
}

impl Timings {
    fn of<'a>(records: impl Iterator<Item = &'a Record>) -> Self {
        let (mut mask, mut first, mut advance, mut both) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for record in records {
            first.push(record.first_mask_ns);
            mask.extend_from_slice(&record.mask_ns);
            for (&m, &a) in record.mask_ns.iter().zip(&record.advance_ns) {
                both.push(m.saturating_add(a));
                if a > 0 {
                    advance.push(a);
                }
            }
        }
        let masks = mask.len();
        let seconds: f64 = both.iter().map(|&ns| f64::from(ns) / 1e9).sum();
        Self {
            mask: Figures::of(mask),
            first: Figures::of(first),
            advance: Figures::of(advance),
            both: Figures::of(both),
            tokens_per_s: if seconds > 0.0 { count(masks) / seconds } else { 0.0 },
            masks,
        }
    }
}

impl Run {
    fn right(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|r| r.verdict == Verdict::Right)
    }

    /// This engine's part of the report.
    pub(crate) fn report(&self) -> EngineReport {
        let timings = Timings::of(self.right());
        let (mut error_list, mut refused_list) = (Vec::new(), Vec::new());
        for record in &self.records {
            let (list, reason) = match &record.verdict {
                Verdict::Right => continue,
                Verdict::Wrong(reason) => (&mut error_list, reason),
                Verdict::Refused(reason) => (&mut refused_list, reason),
            };
            list.push(Listed { name: record.name.clone(), reason: reason.clone() });
        }
        EngineReport {
            language: self.kind.language(),
            setup_ms: self.setup_ms,
            mask_us: timings.mask,
            first_mask_us: timings.first,
            advance_us: timings.advance,
            mask_and_advance_us: timings.both,
            tokens_per_s: timings.tokens_per_s,
            masks: timings.masks,
            right: self.right().count(),
            errors: error_list.len(),
            refused: refused_list.len(),
            peak_bytes: self.peak_bytes,
            error_list,
            refused_list,
        }
    }

    /// This peer's figures over another engine's.
    pub(crate) fn ratio_to(&self, ours: &Self) -> Ratio {
        let rightly: BTreeSet<&str> = ours.right().map(|r| r.name.as_str()).collect();
        let both: BTreeSet<&str> =
            self.right().map(|r| r.name.as_str()).filter(|name| rightly.contains(name)).collect();
        let of = |run: &Self| Timings::of(run.records.iter().filter(|r| both.contains(r.name.as_str())));
        let (peer, own) = (of(self), of(ours));
        Ratio {
            of: self.kind.name(),
            to: ours.kind.name(),
            schemas: both.len(),
            mask_us: peer.mask.over(&own.mask),
            first_mask_us: peer.first.over(&own.first),
            advance_us: peer.advance.over(&own.advance),
            mask_and_advance_us: peer.both.over(&own.both),
            tokens_per_s: if peer.tokens_per_s > 0.0 { own.tokens_per_s / peer.tokens_per_s } else { 0.0 },
        }
    }
}

impl Report {
    /// Prints the table on stdout.
    #[expect(clippy::print_stdout, reason = "the program's answer")]
    pub(crate) fn print(&self) {
        head();
        for (name, engine) in &self.engines {
            for (what, figures) in [
                ("mask", &engine.mask_us),
                ("advance", &engine.advance_us),
                ("mask + advance", &engine.mask_and_advance_us),
                ("compile + first mask", &engine.first_mask_us),
            ] {
                row(&format!("{name} {what}"), figures);
            }
        }
        for ratio in self.ratio.values() {
            for (what, figures) in [
                ("mask", &ratio.mask_us),
                ("mask + advance", &ratio.mask_and_advance_us),
                ("compile + first mask", &ratio.first_mask_us),
            ] {
                row(&format!("× {what} ({} schemas)", ratio.schemas), figures);
            }
        }
        println!();
        for (name, engine) in &self.engines {
            println!(
                "{name}: {} right, {} refused, {} wrong of {} schemas; {} masks, {:.0} tokens/s, set-up {:.0} ms{}",
                engine.right,
                engine.refused,
                engine.errors,
                self.schemas,
                engine.masks,
                engine.tokens_per_s,
                engine.setup_ms,
                engine.peak_bytes.map(|b| format!(", peak {} MB", b / 1_000_000)).unwrap_or_default()
            );
        }
    }
}

/// Prints the names of the columns.
#[expect(clippy::print_stdout, reason = "the program's answer")]
pub(crate) fn head() {
    print!("{:<34}", "µs");
    for (name, _) in Figures::default().columns() {
        print!("{name:>11}");
    }
    println!();
}

/// Prints a line of figures.
#[expect(clippy::print_stdout, reason = "the program's answer")]
pub(crate) fn row(name: &str, figures: &Figures) {
    print!("{name:<34}");
    for (_, value) in figures.columns() {
        let digits = match value {
            ..1.0 => 3,
            ..100.0 => 2,
            _ => 0,
        };
        print!("{value:>11.digits$}");
    }
    println!();
}
