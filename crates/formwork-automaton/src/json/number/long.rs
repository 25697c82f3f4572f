//! Numbers with units so large that their residues would fill the shared tables: their text is kept by the sequence instead, and
//! read afresh with every byte.

use super::track::{Mantissa, NumberTrack, Part};
use super::{Role, still_active};
use crate::automaton::State;
use crate::frames::Frames;
use crate::json::JsonAutomaton;
use crate::json::situation::Situation;

impl JsonAutomaton {
    /// Whether the number that begins here must be read as a long one.
    pub(super) fn is_long(&self, atoms: &[(u16, u32)]) -> bool {
        atoms.iter().any(|(_, atom)| self.number_rules(*atom).is_long() || self.is_limited(*atom))
    }

    /// The situation after a long number's first byte.
    pub(super) fn start_long(
        &self,
        seq: &mut Frames,
        atoms: &[(u16, u32)],
        active: u16,
        byte: u8,
        state: State,
    ) -> Option<State> {
        let state = State { a: 0, b: 0, c: seq.text_end(), ..state };
        self.step_long(seq, atoms, active, state, byte)
    }

    /// One more byte of a long number; `None` where no alternative reads it.
    pub(in crate::json) fn step_long(
        &self,
        seq: &mut Frames,
        alts: &[(u16, u32)],
        active: u16,
        state: State,
        byte: u8,
    ) -> Option<State> {
        seq.note_dynamic();
        let mut text = seq.text_from(state.c).to_vec();
        text.push(byte);
        let is_live = |&(tag, atom): &(u16, u32)| {
            let live = |track| self.track_is_live(&track, text.len(), Role::of(tag, active));
            self.long_track(atom, &text).is_some_and(live)
        };
        let kept: Box<[(u16, u32)]> = alts.iter().copied().filter(is_live).collect();
        let active = still_active(&kept, active)?;
        seq.push_text(byte);
        Some(State { id: self.situations.intern(Situation::LongNumber { alts: kept, active }), ..state })
    }

    /// The tags whose alternatives accept a long number as it stands.
    pub(in crate::json) fn long_tags(&self, seq: &Frames, alts: &[(u16, u32)], state: State) -> Vec<u16> {
        seq.note_dynamic();
        let text = seq.text_from(state.c);
        let accepts = |atom: u32| self.long_track(atom, text).is_some_and(|t| t.part.accepts(&self.number_rules(atom)));
        alts.iter().filter(|(_, atom)| accepts(*atom)).map(|(tag, _)| *tag).collect()
    }

    /// A shortest rest of a long number, for one of its alternatives.
    pub(in crate::json) fn long_rest(&self, seq: &Frames, atom: u32, state: State) -> Option<Vec<u8>> {
        self.track_rest(&self.long_track(atom, seq.text_from(state.c))?)
    }

    fn long_track(&self, atom: u32, text: &[u8]) -> Option<NumberTrack> {
        let rules = self.number_rules(atom);
        let (negative, digits) = text.strip_prefix(b"-").map_or((false, text), |digits| (true, digits));
        let start = Part::Mantissa(Mantissa::start(&rules, negative)?);
        let part = digits.iter().try_fold(start, |part, byte| part.step(&rules, *byte))?;
        Some(NumberTrack { atom, part })
    }
}
