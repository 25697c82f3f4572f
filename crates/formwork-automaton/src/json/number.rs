//! Numbers: exact decimals, held against their bounds and multiples digit by digit.

mod atom;
mod content;
mod long;
mod multiple;
mod reach;
mod rules;
mod spelled;
#[cfg(test)]
mod tests;
mod track;
mod values;

use super::JsonAutomaton;
use super::situation::Situation;
use crate::automaton::State;
use crate::frames::Frames;
use crate::lang::ByteSet;

pub(super) use atom::NumberAtom;
pub(super) use rules::Rules;
pub(super) use spelled::SpelledNumbers;
pub(super) use track::NumberTrack;

use track::{Mantissa, Part};

/// What an alternative of a number is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// To lead to an end, which the vocabulary must be able to spell.
    Leads,
    /// To say of the numbers that others lead to whether they are its own.
    Watches,
}

impl Role {
    fn of(tag: u16, active: u16) -> Self {
        if tag < active { Self::Leads } else { Self::Watches }
    }
}

impl JsonAutomaton {
    /// Bytes of the shortest number that an atom allows; `None` where there is none.
    pub(super) fn number_start_cost(&self, atom: u32) -> Option<u32> {
        [false, true]
            .into_iter()
            .filter_map(|negative| Some(self.number_cost(self.number_start(atom, negative)?)? + u32::from(negative)))
            .min()
    }

    /// Whether an atom has numbers, whatever the vocabulary can spell.
    pub(super) fn has_numbers(&self, atom: u32) -> bool {
        let rules = self.number_rules(atom);
        let start = |negative| Mantissa::start(&rules, negative).map(Part::Mantissa);
        [false, true].into_iter().filter_map(start).any(|part| part.is_live(&rules))
    }

    /// The track of an atom's numbers with this sign, after it.
    pub(super) fn number_start(&self, atom: u32, negative: bool) -> Option<u32> {
        self.start_track(atom, negative, Role::Leads)
    }

    fn start_track(&self, atom: u32, negative: bool, role: Role) -> Option<u32> {
        if negative && !self.spells("-") {
            return None;
        }
        let mantissa = Mantissa::start(&self.number_rules(atom), negative)?;
        self.live_track(NumberTrack { atom, part: Part::Mantissa(mantissa) }, usize::from(negative), role)
    }

    /// The situation after a number's first byte, for the atoms of each tag.
    pub(super) fn start_number(
        &self,
        seq: &mut Frames,
        atoms: &[(u16, u32)],
        active: u16,
        byte: u8,
        state: State,
    ) -> Option<State> {
        if self.is_long(atoms) {
            return self.start_long(seq, atoms, active, byte, state);
        }
        let negative = byte == b'-';
        let tracks: Vec<(u16, u32)> = atoms
            .iter()
            .filter_map(|&(tag, atom)| Some((tag, self.start_track(atom, negative, Role::of(tag, active))?)))
            .collect();
        let state = State { a: 0, b: 0, c: 0, ..state };
        if negative { self.number_state(tracks, active, state) } else { self.step_number(&tracks, active, state, byte) }
    }

    /// One more byte of a number; `None` where no alternative reads it.
    pub(super) fn step_number(&self, alts: &[(u16, u32)], active: u16, state: State, byte: u8) -> Option<State> {
        // Those of limited length are read as long ones, whose text is known.
        let read = |&(tag, track): &(u16, u32)| Some((tag, self.read_track(track, byte, 0, Role::of(tag, active))?));
        let kept = alts.iter().filter_map(read).collect();
        self.number_state(kept, active, state)
    }

    /// The situation of these alternatives, one of which has to be active.
    fn number_state(&self, alts: Vec<(u16, u32)>, active: u16, state: State) -> Option<State> {
        let active = still_active(&alts, active)?;
        Some(State { id: self.situations.intern(Situation::Number { alts: alts.into(), active }), ..state })
    }

    /// Bytes among which are all that a number goes on with.
    pub(super) fn number_bytes(&self, alts: &[(u16, u32)]) -> ByteSet {
        alts.iter().fold(ByteSet::empty(), |all, (_, track)| all.or(self.number_tracks.get(*track).part.bytes()))
    }

    /// The tags whose alternatives accept the number as it stands.
    pub(super) fn number_tags(&self, alts: &[(u16, u32)]) -> Vec<u16> {
        alts.iter().filter(|(_, track)| self.number_accepts(*track)).map(|(tag, _)| *tag).collect()
    }

    /// Whether a number may end.
    pub(super) fn number_accepts(&self, track: u32) -> bool {
        let track = self.number_tracks.get(track);
        track.part.accepts(&self.number_rules(track.atom))
    }

    /// The track after one more byte, by which so many are read; `None` where it leads to no end.
    pub(super) fn step_track(&self, track: u32, byte: u8, read: usize) -> Option<u32> {
        self.read_track(track, byte, read, Role::Leads)
    }

    fn read_track(&self, track: u32, byte: u8, read: usize, role: Role) -> Option<u32> {
        let track = self.number_tracks.get(track);
        let part = track.part.step(&self.number_rules(track.atom), byte)?;
        self.live_track(NumberTrack { atom: track.atom, part }, read, role)
    }

    /// The track where it leads to an end; so many bytes are `read`, which matters where the length is limited.
    fn live_track(&self, track: NumberTrack, read: usize, role: Role) -> Option<u32> {
        let limited = self.is_limited(track.atom);
        let id = self.number_tracks.intern(track);
        let is_live = || self.track_is_live(self.number_tracks.get(id), read, role);
        let live = if limited { is_live() } else { self.number_lives.get_or((id, role), is_live) };
        live.then_some(id)
    }

    /// Bytes to the nearest end of a number; `None` where none can be reached.
    pub(super) fn number_cost(&self, track: u32) -> Option<u32> {
        let cost = self.number_costs.get_or(track, || {
            self.number_rest(track).and_then(|rest| u32::try_from(rest.len()).ok()).unwrap_or(u32::MAX)
        });
        (cost != u32::MAX).then_some(cost)
    }

    /// A shortest rest of a number.
    pub(super) fn number_rest(&self, track: u32) -> Option<Vec<u8>> {
        self.track_rest(self.number_tracks.get(track))
    }
}

/// The end of the active tags, or none where all are; `None` where no alternative is active.
fn still_active(alts: &[(u16, u32)], active: u16) -> Option<u16> {
    let is_active = |(tag, _): &(u16, u32)| *tag < active;
    alts.iter().any(is_active).then(|| if alts.iter().all(is_active) { u16::MAX } else { active })
}
