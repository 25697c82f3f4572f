//! What a mask may depend on, in words, and by content.

use formwork_grammar::Whitespace;

use super::JsonAutomaton;
use super::distinct::may_become;
use super::few::cap_of;
use super::keys::{KeyClass, KeyMachine};
use super::object::OFF;
use super::situation::{Await, Situation, StringAlt};
use super::space::Gap;
use super::step::enclosing;
use crate::automaton::{Key, State};
use crate::char_class::CharClass;
use crate::frames::{Frame, Frames, KeySet, Watch};
use crate::interner::to_u32;
use crate::lang::LangState;

/// Takes a signature, part by part: as words, or by content.
pub(super) trait Parts {
    /// Data.
    fn words<const N: usize>(&mut self, words: [u32; N]);

    /// A shared state.
    fn situation(&mut self, id: u32);

    /// A language's state, or [`OFF`].
    fn lang_state(&mut self, id: u32);

    /// The classes of a machine's unknown keys, each with a state of its language, or [`OFF`].
    fn classes<'a>(&mut self, states: impl Iterator<Item = (&'a KeyClass, u32)>);

    /// What the frame of an open key is of.
    fn object(&mut self, id: u32);

    /// What another frame waits for.
    fn awaits(&mut self, id: u32);
}

impl Parts for Key {
    fn words<const N: usize>(&mut self, words: [u32; N]) {
        self.extend(words);
    }

    fn situation(&mut self, id: u32) {
        self.push(id);
    }

    fn lang_state(&mut self, id: u32) {
        self.push(id);
    }

    fn classes<'a>(&mut self, states: impl Iterator<Item = (&'a KeyClass, u32)>) {
        self.extend(states.map(|(_, id)| id));
    }

    fn object(&mut self, id: u32) {
        self.push(id);
    }

    fn awaits(&mut self, id: u32) {
        self.push(id);
    }
}

impl JsonAutomaton {
    pub(super) fn signature_of(&self, seq: &Frames, state: State, depth: usize) -> Key {
        let mut key = Key::new();
        self.describe(seq, state, depth, self.horizon, &mut key);
        key
    }

    /// The signature of the whole stack, with counters told apart as far as `reach`.
    pub(super) fn place_of(&self, seq: &Frames, state: State, reach: u32) -> Key {
        let mut key = Key::new();
        self.describe(seq, state, usize::MAX, reach.max(self.horizon), &mut key);
        key
    }

    /// Says what a mask may depend on, counters being clipped to `horizon`.
    pub(super) fn describe(&self, seq: &Frames, state: State, depth: usize, horizon: u32, key: &mut impl Parts) {
        key.situation(state.id);
        let situation = self.situations.get(state.id);
        match situation {
            Situation::Done
            | Situation::Literal { .. }
            | Situation::Number { .. }
            // Every look at its text is noted.
            | Situation::LongNumber { .. } => {}
            Situation::String { min, max, .. } => {
                key.words([state.b]);
                key.lang_state(state.c);
                let alt = StringAlt { tag: 0, state: state.c, min: *min, max: *max };
                self.push_window(&alt, state.a, horizon, key);
            }
            Situation::Strings { alts, .. } => {
                key.words([state.b]);
                for alt in alts {
                    self.push_window(alt, state.a, horizon, key);
                }
            }
            Situation::Key { object, near: is_near } => {
                // A key that can't become one of those used is not held against them.
                key.words([state.a, state.b]);
                let settle = |lang: LangState| self.langs.settled(lang, *is_near).id();
                key.lang_state(if state.c == OFF { OFF } else { settle(LangState::from_id(state.c)) });
                key.words([u32::from(may_become_used(seq, state))]);
                if state.c != OFF {
                    let machine = self.machines.get(self.object_states.get(*object).machine);
                    self.push_classes(machine, seq.text_from(seq.peek(state.frame).count), settle, key);
                }
            }
            Situation::FreeKey { .. } => {
                key.words([state.b]);
                key.lang_state(state.c);
            }
            Situation::Value { .. } | Situation::Colon { .. } => key.words([state.a]),
            Situation::ObjectOpen { .. } | Situation::ObjectNext { .. } | Situation::ObjectComma { .. } => {
                key.words([state.a, u32::from(state.c == OFF)]);
            }
            Situation::ArrayOpen { array } | Situation::ArrayNext { array } | Situation::ArrayComma { array } => {
                key.words([state.a]);
                let this = self.array_states.get(*array);
                self.push_items(this.alts.iter().map(|(_, atom)| *atom), state.c, horizon, key);
                if self.compares(this) {
                    push_size(state.c, KeySet::from_word(state.b), horizon, key);
                }
            }
        }
        if self.comparing && !state.frame.is_none() {
            key.words([seq.peek(state.frame).watch as u32]);
        }
        if matches!(situation, Situation::Colon { .. }) {
            key.words([u32::from(state.c == OFF)]);
        }
        if matches!(self.options.whitespace, Whitespace::Indent(_)) {
            key.words([enclosing(seq, state.frame)]);
        } else {
            // Near the depth limit, what may be opened depends on it.
            let room = self.options.limits.depth.saturating_sub(enclosing(seq, state.frame));
            key.words([room.min(horizon)]);
        }
        let mut at = state.frame;
        let mut in_key = matches!(situation, Situation::Key { .. } | Situation::FreeKey { .. });
        for _ in 0..depth {
            if at.is_none() {
                break;
            }
            let frame = seq.peek(at);
            if in_key {
                key.object(frame.state);
            } else {
                key.awaits(frame.state);
            }
            key.words([u32::from(frame.keys.is_empty())]);
            if !in_key && let Await::Array { alts, .. } = self.awaits.get(frame.state) {
                // The item that is being read counts: a horizon of one byte reaches just beyond its end.
                self.push_items(alts.iter().map(|alt| alt.base), frame.count.saturating_add(1), horizon, key);
            }
            if frame.text != Frame::UNKEPT {
                push_size(frame.count, frame.keys, horizon, key);
                // An item that can't become one of those before it is not held against them.
                let text = seq.kept_from(frame.text);
                key.words([u32::from(seq.keys(frame.keys).any(|old| may_become(text, old)))]);
            }
            in_key = false;
            at = frame.parent;
        }
        // The outermost frame has nothing below it, and that is seen too.
        key.words([u32::from(at.is_none())]);
    }

    /// What the classes of unknown keys say of the text of a key so far, where there are several: the key will be of one of them.
    fn push_classes(&self, machine: &KeyMachine, text: &[u8], settle: impl Fn(LangState) -> u32, key: &mut impl Parts) {
        if let classes @ [_, _, ..] = &*machine.classes {
            let states = classes.iter().map(|class| self.text_to(class.start, text).map_or(OFF, &settle));
            key.classes(classes.iter().zip(states));
        }
    }

    /// A string's window as far as a token can feel it. A universal language needs no more than the nearest bounds; others may
    /// count in periods, so their window stays whole.
    fn push_window(&self, alt: &StringAlt, chars: u32, horizon: u32, key: &mut impl Parts) {
        let (min, max) = (alt.min.saturating_sub(chars), alt.max.map(|max| max.saturating_sub(chars)));
        let clip = |n: u32| if self.langs.is_universal(LangState::from_id(alt.state)) { n.min(horizon) } else { n };
        key.words([clip(min), max.map_or(u32::MAX, clip)]);
    }

    /// An array's count as far as a token can feel it: what is missing and what is left for each alternative.
    fn push_items(&self, atoms: impl Iterator<Item = u32>, count: u32, horizon: u32, key: &mut impl Parts) {
        for atom in atoms {
            let atom = self.array_atoms.get(atom);
            // Where items are counted, the room that is left for them matters from afar.
            let horizon = if atom.contains.is_empty() { horizon } else { u32::MAX };
            let max = atom.max.map_or(u32::MAX, |max| max.saturating_sub(count).min(horizon));
            key.words([atom.min.saturating_sub(count).min(horizon), max]);
        }
    }

    pub(super) fn safe_chars_of(&self, seq: &Frames, state: State, class: CharClass) -> u32 {
        if class == CharClass::Blank {
            return self.safe_blanks(seq, state);
        }
        match self.situations.get(state.id) {
            Situation::String { min, max, .. } if state.b == 0 => {
                let alt = StringAlt { tag: 0, state: state.c, min: *min, max: *max };
                self.safe_string(&alt, state.a, class)
            }
            Situation::Strings { alts, active } if state.b == 0 => {
                let active = alts.iter().filter(|alt| alt.tag < *active);
                active.map(|alt| self.safe_string(alt, state.a, class)).max().unwrap_or(0)
            }
            Situation::Key { object, .. } if state.b == 0 && state.c != OFF => {
                let other = LangState::from_id(state.c);
                if !self.langs.at_char_boundary(other) {
                    return 0;
                }
                // Any clean text leads on to some unknown key where nothing but a finite set has been taken out of all texts; so does
                // one that may go on for ever, since then there are always more keys than were used.
                let for_ever = self.takes_most_keys(*object) || self.langs.safe_chars(other, class) == u32::MAX;
                if for_ever { u32::MAX } else { 0 }
            }
            _ => 0,
        }
    }

    /// A string has room for so many characters, and so many blanks may come between others.
    pub(super) fn most_chars_at(&self, seq: &Frames, state: State, class: CharClass) -> u32 {
        let room = |max: Option<u32>| max.map_or(u32::MAX, |max| max.saturating_sub(state.a));
        match self.situations.get(state.id) {
            Situation::String { max, .. } => room(*max),
            Situation::Strings { alts, .. } => alts.iter().map(|alt| room(alt.max)).max().unwrap_or(0),
            _ if class == CharClass::Blank => {
                self.blanks_left(self.behind_number(seq, state).unwrap_or(state)).unwrap_or(u32::MAX)
            }
            _ => u32::MAX,
        }
    }

    /// Blanks that may come whatever else does.
    pub(super) fn safe_blanks(&self, seq: &Frames, state: State) -> u32 {
        // Where items are compared, their blanks are kept with their text.
        if self.watch_at(seq, state) != Watch::Nothing {
            return 0;
        }
        self.blanks_left(self.behind_number(seq, state).unwrap_or(state)).unwrap_or(0)
    }

    /// The state behind a number that may end where it stands.
    pub(super) fn behind_number(&self, seq: &Frames, state: State) -> Option<State> {
        let Situation::Number { alts, active } = self.situations.get(state.id) else { return None };
        if state.frame.is_none() {
            return None;
        }
        let frame = seq.frame(state.frame);
        if frame.text == Frame::UNKEPT {
            self.close_in(frame, self.answer(self.number_tags(alts), *active)?)
        } else {
            None
        }
    }

    /// How many blanks may come, where a state reads any number of them up to the most.
    fn blanks_left(&self, state: State) -> Option<u32> {
        let Whitespace::Flexible(most) = self.options.whitespace else { return None };
        match self.situations.get(state.id) {
            Situation::Value { gap: Gap::Over, .. } => None,
            Situation::Value { .. }
            | Situation::Colon { .. }
            | Situation::ObjectOpen { .. }
            | Situation::ObjectNext { .. }
            | Situation::ObjectComma { .. }
            | Situation::ArrayOpen { .. }
            | Situation::ArrayNext { .. }
            | Situation::ArrayComma { .. } => Some(u32::from(most).saturating_sub(state.a)),
            _ => None,
        }
    }

    fn safe_string(&self, alt: &StringAlt, chars: u32, class: CharClass) -> u32 {
        let state = LangState::from_id(alt.state);
        if !self.langs.at_char_boundary(state) {
            return 0;
        }
        let safe = if self.langs.is_universal(state) { u32::MAX } else { self.langs.safe_chars(state, class) };
        match alt.max {
            None if alt.min <= chars || safe == u32::MAX => safe,
            // Room for the longest way to an end would have to be known.
            Some(max) if self.langs.is_universal(state) => max.saturating_sub(chars),
            _ => 0,
        }
    }
}

/// Whether a key may become one of those used.
pub(super) fn may_become_used(seq: &Frames, state: State) -> bool {
    let frame = seq.peek(state.frame);
    let text = seq.text_from(frame.count);
    seq.keys(frame.keys).any(|used| used.starts_with(text))
}

/// How many items there are to compare, as far as a token can feel it: whether there are any, how many values are looked at for that
/// many, and when that changes.
fn push_size(count: u32, items: KeySet, horizon: u32, key: &mut impl Parts) {
    let cap = to_u32(cap_of(count));
    key.words([u32::from(items.is_empty()), cap, cap.saturating_sub(count).min(horizon.saturating_add(4))]);
}
