//! What the command says: JSON for machines, a table for people.

use std::collections::BTreeMap;

use serde::Serialize;

use super::batches::MATCHERS;
use crate::masks::figures::Figures;
use crate::masks::report::{Machine, head, row};

/// The whole report.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) formwork_bench: &'static str,
    pub(super) corpus: String,
    pub(super) tokenizer: String,
    pub(super) vocabulary: usize,
    pub(super) schemas: usize,
    pub(super) instances_unspellable: usize,
    pub(super) refused: usize,
    pub(super) wrong: usize,
    pub(super) machine: Machine,
    pub(super) protocol: &'static str,
    pub(super) clock_us: Figures,
    pub(super) lookups: Lookups,
    /// By the number of threads asked for.
    pub(super) batches: BTreeMap<usize, BatchFigures>,
    pub(super) fork_us: Figures,
    pub(super) rollback_us: Figures,
}

/// Masks of single sequences, in runs over the same constraints.
#[derive(Serialize)]
pub(super) struct Lookups {
    pub(super) masks: usize,
    pub(super) cold_us: Figures,
    pub(super) second_us: Figures,
    /// The last run.
    pub(super) warm_us: Figures,
    /// Masks that were computed in the first run.
    pub(super) computed: u64,
    /// And in the last: those that depend on what the sequence itself holds.
    pub(super) computed_warm: u64,
}

/// A mask of a batch on some threads.
#[derive(Serialize)]
pub(super) struct BatchFigures {
    pub(super) threads: usize,
    pub(super) cold_us: Figures,
    pub(super) warm_us: Figures,
}

impl Report {
    /// Prints the table on stdout.
    #[expect(clippy::print_stdout, reason = "the program's answer")]
    pub(super) fn print(&self) {
        head();
        row("clock", &self.clock_us);
        row("mask, first run", &self.lookups.cold_us);
        row("mask, second run", &self.lookups.second_us);
        row("mask, last run", &self.lookups.warm_us);
        for (asked, figures) in &self.batches {
            row(&format!("mask of {MATCHERS}, {asked} threads, cold"), &figures.cold_us);
            row(&format!("mask of {MATCHERS}, {asked} threads, warm"), &figures.warm_us);
        }
        row("fork", &self.fork_us);
        row("rollback of one step", &self.rollback_us);
        println!();
        let Lookups { masks, computed, computed_warm, .. } = &self.lookups;
        println!(
            "{} schemas, {} refused, {} wrong; {masks} masks a run, of which {computed} were computed in the first, {computed_warm} in the last",
            self.schemas, self.refused, self.wrong
        );
    }
}
