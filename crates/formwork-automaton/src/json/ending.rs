//! How structure may go on where a value or a key has ended, in a few bits that are equal wherever it goes on alike.

use formwork_grammar::{Escapes, Whitespace};

use super::JsonAutomaton;
use super::form::Form;
use super::keys::KeyMachine;
use super::situation::Situation;
use super::step::enclosing;
use crate::automaton::{Ending, NextKey, Opening, State};
use crate::frames::{Frame, FrameId, Frames, Watch};
use crate::lang::LangState;

/// Bits of a level.
const BITS: u32 = 6;
const ARRAY: u64 = 1;
const CLOSES: u64 = 1 << 1;
const COMMA: u64 = 1 << 2;
const ANY_KEY: u64 = 1 << 3;
const NAMED_KEY: u64 = 1 << 4;
/// Nothing more may come.
const DONE: u64 = 1 << 5;

/// What a value may begin with, and, of a string, that it is any text.
const STRING: u32 = 1;
const ANY_STRING: u32 = 1 << 1;
const BEGINS_ARRAY: u32 = 1 << 2;
const BEGINS_OBJECT: u32 = 1 << 3;
/// Of an object, what its first key is.
const HAS_KEY: u32 = 1 << 4;
const ANY_FIRST: u32 = 1 << 5;
const NAMED_FIRST: u32 = 1 << 6;

/// Numbers and literals: four bits.
const FIRST_OTHER: u32 = 1 << 7;

/// Containers that an [`Opening`] leaves room for before the limit on depth.
const ROOM: u32 = 8;

impl JsonAutomaton {
    pub(super) fn ending_at(&self, seq: &Frames, state: State, brackets: u32) -> Option<Ending> {
        // How deep an indent is would matter, too.
        if matches!(self.options.whitespace, Whitespace::Indent(_)) || brackets >= u64::BITS / BITS {
            return None;
        }
        let (mut levels, mut at) = (0, state);
        for level in 0..=brackets {
            let (mut bits, tags) = self.level(seq, at)?;
            let mut next = None;
            if level < brackets
                && let Some(tags) = tags
            {
                next = self.closed(seq, at.frame, tags)?;
                bits |= if next.is_some() { CLOSES } else { 0 };
            }
            levels |= bits << (level * BITS);
            let Some(next) = next else { break };
            at = next;
        }
        let (alphabet, any_escapes) = (self.alphabet, self.options.escapes == Escapes::Any);
        Some(Ending { alphabet, any_escapes, whitespace: self.options.whitespace, blanks: state.a, levels })
    }

    /// What may come in the innermost container, but for its end, and the tags with which it may end.
    fn level(&self, seq: &Frames, state: State) -> Option<(u64, Option<u32>)> {
        if self.watch_at(seq, state) != Watch::Nothing {
            return None;
        }
        Some(match *self.situations.get(state.id) {
            Situation::Done => (DONE, None),
            Situation::ObjectNext { object } => {
                let next = self.next_key_of(object);
                let comma = self.spells_joint() && self.any_key(object);
                let bits = match next {
                    _ if !comma => 0,
                    NextKey::Any => COMMA | ANY_KEY,
                    NextKey::Named => COMMA | NAMED_KEY,
                    NextKey::Other => COMMA,
                };
                (bits, self.object_tags(object))
            }
            Situation::ArrayNext { array } => {
                if self.compares(self.array_states.get(array)) {
                    return None;
                }
                let comma = if self.array_with_room(seq, array, state).is_some() { COMMA } else { 0 };
                (ARRAY | comma, self.array_tags(array, state.c))
            }
            _ => return None,
        })
    }

    /// The state behind a closing bracket, which may be none; `None` where the text of the container matters.
    #[expect(clippy::option_option, reason = "unknown, or no state")]
    fn closed(&self, seq: &Frames, frame: FrameId, tags: u32) -> Option<Option<State>> {
        if frame.is_none() {
            return Some(Some(self.state(Situation::Done, FrameId::NONE)));
        }
        let frame = seq.frame(frame);
        (frame.text == Frame::UNKEPT).then(|| self.close_in(frame, tags))
    }

    pub(super) fn opening_at(&self, seq: &mut Frames, state: State) -> Option<Opening> {
        let Situation::Colon { goal, .. } = *self.situations.get(state.id) else { return None };
        let is_deep = enclosing(seq, state.frame).saturating_add(ROOM) >= self.options.limits.depth;
        let is_indented = matches!(self.options.whitespace, Whitespace::Indent(_));
        if is_deep || is_indented || self.watch_at(seq, state) != Watch::Nothing {
            return None;
        }
        let forms = &self.goal(goal).forms;
        let is_any = matches!(&**forms, [form] if matches!(self.forms.get(form.0), Form::True));
        let value = if is_any { 0 } else { self.beginnings(seq, state, goal) };
        let (alphabet, any_escapes) = (self.alphabet, self.options.escapes == Escapes::Any);
        let (whitespace, blanks) = (self.options.whitespace, state.a);
        Some(Opening { alphabet, any_escapes, whitespace, blanks, value, is_any })
    }

    /// What the values of a goal may begin with.
    fn beginnings(&self, seq: &Frames, state: State, goal: u32) -> u32 {
        let first = self.value_bytes.get_or(goal, || self.first_bytes(goal));
        let others = (0..).zip(b"-ntf").filter(|(_, byte)| first.contains(**byte));
        let mut value = others.fold(0, |value, (bit, _)| value | FIRST_OTHER << bit);
        if let Some(start) = self.start_string(State { a: 0, b: 0, c: 0, ..state }, goal) {
            let text = self.free_text_at(seq, start).and_then(|text| text.end);
            value |= STRING | if text.is_some_and(|end| end.at_once) { ANY_STRING } else { 0 };
        }
        if self.array_opening(goal).is_some() {
            value |= BEGINS_ARRAY;
        }
        if let Some(id) = self.object_opening(goal)
            && let Situation::ObjectOpen { object } = *self.situations.get(id)
        {
            value |= BEGINS_OBJECT;
            value |= if self.any_key(object) { HAS_KEY } else { 0 };
            value |= match self.next_key_of(object) {
                NextKey::Any => ANY_FIRST,
                NextKey::Named => NAMED_FIRST,
                NextKey::Other => 0,
            };
        }
        value
    }

    pub(super) fn next_key_at(&self, seq: &Frames, state: State) -> NextKey {
        match self.situations.get(state.id) {
            Situation::Key { object, .. } if self.watch_at(seq, state) == Watch::Nothing => self.next_key_of(*object),
            _ => NextKey::Other,
        }
    }

    /// What can be said of an object's next key.
    fn next_key_of(&self, object: u32) -> NextKey {
        let machine = self.machines.get(self.object_states.get(object).machine);
        match self.other_keys(object) {
            None if self.options.escapes != Escapes::Any && machine.is_named() => NextKey::Named,
            Some(start) if self.is_any_key(machine, start) => NextKey::Any,
            _ => NextKey::Other,
        }
    }

    fn is_any_key(&self, machine: &KeyMachine, start: LangState) -> bool {
        !machine.has_patterns() && self.langs.is_universal(start)
    }
}
