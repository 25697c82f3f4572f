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

/// Parts of numbers in a table, the shorter before the longer. Numbers whose parts go beyond it are not allowed, and counted as
/// undecided.
const MAX_PARTS: usize = 150_000;

/// Parts as they are found, each with the parts and bytes that lead to it.
#[derive(Default)]
struct Found {
    ids: FxHashMap<Part, u32>,
    parts: Vec<Part>,
    sources: Vec<Vec<(u32, u8)>>,
}

impl Found {
    /// Adds a part, and what leads to it; false where there is no room for it.
    fn add(&mut self, part: Part, source: Option<(u32, u8)>) -> bool {
        let id = match self.ids.get(&part) {
            Some(&id) => id,
            None if self.parts.len() < MAX_PARTS => {
                let id = to_u32(self.parts.len());
                self.ids.insert(part.clone(), id);
                self.parts.push(part);
                self.sources.push(Vec::new());
                id
            }
            None => return false,
        };
        self.sources[id as usize].extend(source);
        true
    }

    /// Adds what the parts from `from` on lead to; false where there is no room for all of it.
    fn grow(&mut self, rules: &Rules, bytes: &[u8], from: usize) -> bool {
        let steps = (from..self.parts.len()).flat_map(|at| bytes.iter().map(move |byte| (at, *byte)));
        for (at, byte) in steps {
            if let Some(next) = self.parts[at].step(rules, byte)
                && !self.add(next, Some((to_u32(at), byte)))
            {
                return false;
            }
        }
        true
    }
}

/// A part that leads to an end.
#[derive(Clone, Copy, Debug)]
struct Live {
    /// The byte that leads there soonest; none where the number may end.
    byte: Option<u8>,
    /// Bytes to that end.
    rest: u16,
}

/// The parts of an atom's numbers that lead to an end.
#[derive(Debug)]
pub(in crate::json) struct SpelledNumbers {
    live: FxHashMap<Part, Live>,
    /// Bytes of the numbers of which every part is found, where others are not.
    whole_to: Option<u16>,
}

impl SpelledNumbers {
    pub(in crate::json) fn len(&self) -> usize {
        self.live.len()
    }

    /// The table of what can be spelled with these bytes, so many at most.
    fn new(rules: &Rules, bytes: &[u8], longest: Option<u16>) -> Self {
        let mut found = Found::default();
        for start in [false, true].into_iter().filter_map(|negative| Mantissa::start(rules, negative)) {
            found.add(Part::Mantissa(start), None);
        }
        let (mut from, mut read, mut whole) = (0, 0, true);
        while whole && from < found.parts.len() && longest.is_none_or(|longest| read < longest) {
            let to = found.parts.len();
            whole = found.grow(rules, bytes, from);
            (from, read) = (to, read + u16::from(whole));
        }
        let Found { parts, sources, .. } = found;
        let end = |part: &Part| part.accepts(rules).then_some(Live { byte: None, rest: 0 });
        let mut live: Vec<Option<Live>> = parts.iter().map(end).collect();
        let mut queue: VecDeque<usize> = (0..parts.len()).filter(|&id| live[id].is_some()).collect();
        while let Some(id) = queue.pop_front() {
            let rest = live[id].map_or(0, |live| live.rest.saturating_add(1));
            for &(source, byte) in &sources[id] {
                let source = source as usize;
                if live[source].is_none() {
                    live[source] = Some(Live { byte: Some(byte), rest });
                    queue.push_back(source);
                }
            }
        }
        let live = parts.into_iter().zip(live).filter_map(|(part, live)| Some((part, live?))).collect();
        Self { live, whole_to: (!whole).then_some(read) }
    }

    /// A shortest rest; `None` where there is none.
    fn rest(&self, rules: &Rules, part: &Part) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let mut part = part.clone();
        while let Some(byte) = self.live.get(&part)?.byte {
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

    /// The atom of the numbers that are looked through, where the vocabulary can't spell everything: the same where all are.
    pub(in crate::json) fn within_table(&self, atom: u32) -> u32 {
        if self.spells_numbers() {
            return atom;
        }
        let limited = self.no_longer_than_table(atom);
        if limited == atom || self.number_start_cost(limited).is_some() {
            return limited;
        }
        // Of those without a fraction and an exponent, longer ones are looked through.
        let whole = self.number_atoms.get(atom).without_fraction(self.number_rules(atom).room());
        let whole = self.no_longer_than_table(self.number_atoms.intern(whole));
        if self.number_start_cost(whole).is_some() { whole } else { limited }
    }

    fn no_longer_than_table(&self, atom: u32) -> u32 {
        let Some(longest) = self.spelled_numbers(atom).whole_to else { return atom };
        self.note_undecided();
        self.number_atoms.intern(self.number_atoms.get(atom).no_longer_than(longest))
    }

    /// Whether an atom's numbers are of limited length.
    pub(super) fn is_limited(&self, atom: u32) -> bool {
        self.number_atoms.get(atom).longest.is_some()
    }

    /// Whether some valid number begins so, which the vocabulary can spell where it must; of a part so many bytes are `read`.
    pub(super) fn track_is_live(&self, track: &NumberTrack, read: usize, role: Role) -> bool {
        if self.spells_numbers() || role == Role::Watches {
            track.part.is_live(&self.number_rules(track.atom))
        } else {
            let table = self.spelled_numbers(track.atom);
            let longest = self.number_atoms.get(track.atom).longest;
            let fits =
                |live: &Live| longest.is_none_or(|longest| read + usize::from(live.rest) <= usize::from(longest));
            table.live.get(&track.part).is_some_and(fits)
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
            Arc::new(SpelledNumbers::new(&rules, &bytes, self.number_atoms.get(atom).longest))
        })
    }
}
