//! Numbers for vocabularies that lack some of their characters: searched byte by byte instead of solved.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::track::{NumberTrack, Part};
use crate::json::JsonAutomaton;

/// All that a number is written with, but for what has another spelling.
const CHARACTERS: &str = "0123456789-.e";

/// States that are looked at for a number that can be spelled. Where it is not among them, there is none: fewer remain to be looked
/// at after each of its bytes, so that what is live once stays so.
const LOOKED_AT: usize = 1 << 14;

impl JsonAutomaton {
    /// Whether the vocabulary has all that numbers are written with.
    pub(in crate::json) fn spells_numbers(&self) -> bool {
        self.spells(CHARACTERS)
    }

    /// Whether some valid number that the vocabulary can spell begins so.
    pub(super) fn track_is_live(&self, track: &NumberTrack) -> bool {
        let rules = self.number_rules(track.atom);
        if self.spells_numbers() { track.is_live(&rules) } else { self.spelled_rest(track).is_some() }
    }

    /// A shortest rest that the vocabulary can spell.
    pub(super) fn track_rest(&self, track: &NumberTrack) -> Option<Vec<u8>> {
        let rules = self.number_rules(track.atom);
        if self.spells_numbers() { track.rest(&rules) } else { self.spelled_rest(track) }
    }

    fn spelled_rest(&self, start: &NumberTrack) -> Option<Vec<u8>> {
        let rules = self.number_rules(start.atom);
        let mut came: FxHashMap<Part, Option<(Part, u8)>> = FxHashMap::from_iter([(start.part.clone(), None)]);
        let mut queue = VecDeque::from([start.part.clone()]);
        while let Some(part) = queue.pop_front() {
            if (NumberTrack { atom: start.atom, part: part.clone() }).accepts(&rules) {
                let mut text = Vec::new();
                let mut at = &part;
                while let Some(Some((before, byte))) = came.get(at) {
                    text.push(*byte);
                    at = before;
                }
                text.reverse();
                return Some(text);
            }
            for byte in self.alphabet.iter() {
                let Some(next) = part.step(&rules, byte) else { continue };
                if came.len() < LOOKED_AT && !came.contains_key(&next) {
                    came.insert(next.clone(), Some((part.clone(), byte)));
                    queue.push_back(next);
                }
            }
        }
        None
    }
}
