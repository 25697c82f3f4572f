//! Numbers for vocabularies that lack some of their characters: a table of what can be spelled, instead of a solution.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Role;
use super::rules::Rules;
use super::track::{Mantissa, NumberTrack, Part};
use crate::interner::to_u32;
use crate::json::JsonAutomaton;

/// All that a number is written with, but for what has another spelling.
const CHARACTERS: &str = "0123456789-.e";

/// Parts of numbers in a table, the shorter before the longer. What lies beyond is not allowed, and counted as undecided.
const MAX_PARTS: usize = 1 << 17;

/// Parts as they are found, each with the parts and bytes that lead to it.
#[derive(Default)]
struct Found {
    ids: FxHashMap<Part, u32>,
    parts: Vec<Part>,
    sources: Vec<Vec<(u32, u8)>>,
    /// Some part was left out.
    cut: bool,
}

impl Found {
    fn add(&mut self, part: Part, source: Option<(u32, u8)>) {
        let id = match self.ids.get(&part) {
            Some(&id) => id,
            None if self.parts.len() < MAX_PARTS => {
                let id = to_u32(self.parts.len());
                self.ids.insert(part.clone(), id);
                self.parts.push(part);
                self.sources.push(Vec::new());
                id
            }
            None => {
                self.cut = true;
                return;
            }
        };
        self.sources[id as usize].extend(source);
    }
}

/// The parts of an atom's numbers that lead to an end, with the byte that leads there soonest; none where the number may end.
#[derive(Debug)]
pub(in crate::json) struct SpelledNumbers(FxHashMap<Part, Option<u8>>);

impl SpelledNumbers {
    pub(in crate::json) fn len(&self) -> usize {
        self.0.len()
    }

    /// The table of what can be spelled with these bytes, and whether something was left out.
    fn new(rules: &Rules, bytes: &[u8]) -> (Self, bool) {
        let mut found = Found::default();
        for start in [false, true].into_iter().filter_map(|negative| Mantissa::start(rules, negative)) {
            found.add(Part::Mantissa(start), None);
        }
        let mut at = 0;
        while at < found.parts.len() {
            for &byte in bytes {
                if let Some(next) = found.parts[at].step(rules, byte) {
                    found.add(next, Some((to_u32(at), byte)));
                }
            }
            at += 1;
        }
        let Found { parts, sources, cut, .. } = found;
        let mut steps: Vec<Option<Option<u8>>> = parts.iter().map(|p| p.accepts(rules).then_some(None)).collect();
        let mut queue: VecDeque<usize> = (0..parts.len()).filter(|&id| steps[id].is_some()).collect();
        while let Some(id) = queue.pop_front() {
            for &(source, byte) in &sources[id] {
                let source = source as usize;
                if steps[source].is_none() {
                    steps[source] = Some(Some(byte));
                    queue.push_back(source);
                }
            }
        }
        let live = parts.into_iter().zip(steps).filter_map(|(part, step)| Some((part, step?)));
        (Self(live.collect()), cut)
    }

    /// A shortest rest; `None` where there is none.
    fn rest(&self, rules: &Rules, part: &Part) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let mut part = part.clone();
        while let Some(byte) = *self.0.get(&part)? {
            text.push(byte);
            part = part.step(rules, byte)?;
        }
        Some(text)
    }
}

impl JsonAutomaton {
    /// Whether the vocabulary has all that numbers are written with.
    pub(in crate::json) fn spells_numbers(&self) -> bool {
        self.spells(CHARACTERS)
    }

    /// Whether some valid number begins so, which the vocabulary can spell where it must.
    pub(super) fn track_is_live(&self, track: &NumberTrack, role: Role) -> bool {
        if self.spells_numbers() || role == Role::Watches {
            track.part.is_live(&self.number_rules(track.atom))
        } else {
            self.spelled_numbers(track.atom).0.contains_key(&track.part)
        }
    }

    /// A shortest rest that the vocabulary can spell.
    pub(super) fn track_rest(&self, track: &NumberTrack) -> Option<Vec<u8>> {
        let rules = self.number_rules(track.atom);
        if self.spells_numbers() {
            track.part.rest(&rules)
        } else {
            self.spelled_numbers(track.atom).rest(&rules, &track.part)
        }
    }

    fn spelled_numbers(&self, atom: u32) -> Arc<SpelledNumbers> {
        self.spelled_numbers.get_or(atom, || {
            let rules = self.number_rules(atom);
            let bytes: Vec<u8> = self.alphabet.iter().collect();
            let (table, cut) = SpelledNumbers::new(&rules, &bytes);
            if cut {
                self.note_undecided();
            }
            Arc::new(table)
        })
    }
}
