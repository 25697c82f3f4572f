//! Reading one byte: what each situation does with it.

use super::JsonAutomaton;
use super::escape::Read;
use super::keys::KeyRef;
use super::literal::Literal;
use super::object::OFF;
use super::situation::{FREE, Goal, Situation};
use super::space::{self, Blank, Gap};
use super::string::{StringStep, chars_after, word_after};
use crate::automaton::{LimitKind, State, Step};
use crate::frames::{Frame, FrameId, Frames, KeySet, Watch};
use crate::lang::LangState;
use formwork_grammar::Whitespace;

impl JsonAutomaton {
    pub(super) fn step_byte(&self, seq: &mut Frames, state: State, byte: u8) -> Step {
        match self.situations.get(state.id) {
            Situation::Done => Step::Dead,
            Situation::Value { goal, gap } => match self.blank(seq, state, *gap, byte) {
                Blank::Read(a) => Step::To(State { a, ..state }),
                Blank::Not => Step::Dead,
                Blank::Ends => self.open_value(seq, State { a: 0, c: 0, ..state }, *goal, byte, true),
            },
            Situation::String { tag, min, max, near } => match self.step_string(state, byte, *min, *max) {
                StringStep::Dead => Step::Dead,
                StringStep::To(next) if *near => Step::To(self.settled(next)),
                StringStep::To(next) => Step::To(next),
                StringStep::Closed if *tag == FREE => {
                    seq.note_look();
                    Step::Dead
                }
                StringStep::Closed => self.close(seq, state.frame, self.tags([*tag]), Some(byte)),
            },
            Situation::Strings { alts, active } => {
                let (read, left) = self.step_strings(alts, state, byte);
                if read == Read::Close {
                    let tags = self.answer(left.iter().map(|alt| alt.tag), *active);
                    return self.close(seq, state.frame, tags, Some(byte));
                }
                to(self.string_state(&left, *active, state, chars_after(read, state.a), word_after(read)))
            }
            Situation::Number { alts, active } => match self.step_number(alts, *active, state, byte) {
                Some(next) => Step::To(next),
                // A number ends before the first byte that is not part of it.
                None if state.frame.is_none() => Step::Dead,
                None => {
                    let tags = self.answer(self.number_tags(alts), *active);
                    self.close_before(seq, state.frame, tags, byte)
                }
            },
            Situation::LongNumber { alts, active } => match self.step_long(seq, alts, *active, state, byte) {
                Some(next) => Step::To(next),
                None if state.frame.is_none() => Step::Dead,
                None => {
                    let tags = self.answer(self.long_tags(seq, alts, state), *active);
                    self.close_before(seq, state.frame, tags, byte)
                }
            },
            Situation::Literal { literal, at, tags } => {
                let text = literal.text().as_bytes();
                if text.get(usize::from(*at)) != Some(&byte) {
                    return Step::Dead;
                }
                if usize::from(*at) + 1 == text.len() {
                    return self.close(seq, state.frame, Some(*tags), Some(byte));
                }
                let next = Situation::Literal { literal: *literal, at: at + 1, tags: *tags };
                Step::To(State { id: self.situations.intern(next), ..state })
            }
            Situation::ObjectOpen { .. } | Situation::ObjectNext { .. } | Situation::ObjectComma { .. } => {
                self.step_object(seq, state, byte)
            }
            Situation::Key { object, .. } => self.step_key(seq, state, *object, byte),
            Situation::FreeKey { object, class } => self.step_free_key(seq, state, *object, *class, byte),
            Situation::Colon { goal, member } => match self.blank(seq, state, Gap::Free, byte) {
                Blank::Read(a) => Step::To(State { a, ..state }),
                Blank::Ends if byte == b':' => {
                    let frame = frame_on(seq, state.frame, *member, 0, KeySet::from_word(state.c));
                    let frame = seq.push(frame);
                    Step::To(self.state(Situation::Value { goal: *goal, gap: Gap::Colon }, frame))
                }
                _ => Step::Dead,
            },
            Situation::ArrayOpen { .. } | Situation::ArrayNext { .. } | Situation::ArrayComma { .. } => {
                self.step_array(seq, state, byte)
            }
        }
    }

    fn blank(&self, seq: &Frames, state: State, gap: Gap, byte: u8) -> Blank {
        // The depth matters to an indent only, and is in its signatures.
        space::step(self.options.whitespace, gap, state.a, enclosing(seq, state.frame), byte)
    }

    /// The first byte of a value; `needed` says whether one must come.
    pub(super) fn open_value(&self, seq: &mut Frames, state: State, goal: u32, byte: u8, needed: bool) -> Step {
        match byte {
            b'"' => to(self.start_string(state, goal)),
            b'-' | b'0'..=b'9' => {
                to(self.start_number(seq, &self.goal_numbers(goal), self.goal(goal).active, byte, state))
            }
            b'{' | b'[' => {
                let opened = if byte == b'{' { self.object_opening(goal) } else { self.array_opening(goal) };
                let Some(id) = opened else { return Step::Dead };
                let limit = self.options.limits.depth;
                let deep = enclosing(seq, state.frame) >= limit;
                if deep && !(needed && self.value_witness_byte(goal) == Some(byte)) {
                    // Beyond the limit, only what the shortest completion needs is opened.
                    return Step::Limit(LimitKind::Depth);
                }
                let none = KeySet::EMPTY.to_word();
                let (b, c) = if byte == b'{' { (0, none) } else { (none, 0) };
                Step::To(State { id, a: 0, b, c, ..state })
            }
            _ => {
                let Some(literal) = Literal::starting(byte) else { return Step::Dead };
                let tags = self.goal_tags(goal, |typed| match literal {
                    Literal::Null => typed.null,
                    Literal::True => typed.booleans & 0b10 != 0,
                    Literal::False => typed.booleans & 0b01 != 0,
                });
                match tags {
                    None => Step::Dead,
                    Some(tags) => Step::To(State {
                        id: self.situations.intern(Situation::Literal { literal, at: 1, tags }),
                        a: 0,
                        b: 0,
                        c: 0,
                        ..state
                    }),
                }
            }
        }
    }

    pub(super) fn goal(&self, goal: u32) -> &Goal {
        self.goals.get(goal)
    }

    fn step_object(&self, seq: &mut Frames, state: State, byte: u8) -> Step {
        let situation = self.situations.get(state.id);
        let (object, gap) = match situation {
            Situation::ObjectOpen { object } => (*object, Gap::Open),
            Situation::ObjectNext { object } => (*object, Gap::Close),
            Situation::ObjectComma { object } => (*object, Gap::Comma),
            _ => return Step::Dead,
        };
        let indent = matches!(self.options.whitespace, Whitespace::Indent(_));
        if byte == b'}' && matches!(situation, Situation::ObjectOpen { .. }) && (!indent || state.a == 0) {
            return self.close(seq, state.frame, self.object_tags(object), Some(byte));
        }
        if byte == b',' && matches!(situation, Situation::ObjectNext { .. }) && (!indent || state.a == 0) {
            let next = Situation::ObjectComma { object };
            return if self.spells_joint() && self.any_key(object) {
                Step::To(State { id: self.situations.intern(next), a: 0, ..state })
            } else {
                Step::Dead
            };
        }
        match (self.blank(seq, state, gap, byte), situation) {
            (Blank::Read(a), _) => {
                // An indent's line break says what follows: a member, or the closing bracket.
                let leads_on = !indent
                    || match situation {
                        Situation::ObjectOpen { .. } => self.any_key(object),
                        Situation::ObjectNext { .. } => self.object_tags(object).is_some(),
                        _ => true,
                    };
                if leads_on { Step::To(State { a, ..state }) } else { Step::Dead }
            }
            (Blank::Ends, Situation::ObjectNext { .. }) if byte == b'}' => {
                self.close(seq, state.frame, self.object_tags(object), Some(byte))
            }
            (Blank::Ends, Situation::ObjectOpen { .. } | Situation::ObjectComma { .. }) if byte == b'"' => {
                if !self.any_key(object) {
                    return Step::Dead;
                }
                let frame = frame_on(seq, state.frame, object, seq.text_end(), KeySet::from_word(state.c));
                let frame = seq.push(frame);
                let others = self.other_keys(object).map_or(OFF, LangState::id);
                let id = self.situations.intern(Situation::Key { object, near: false });
                Step::To(State { id, a: 0, b: 0, c: others, frame })
            }
            _ => Step::Dead,
        }
    }

    fn step_key(&self, seq: &mut Frames, state: State, object: u32, byte: u8) -> Step {
        let read = self.escaping.read(state.b, byte);
        let machine = self.machines.get(self.object_states.get(object).machine);
        let ranks = self.allowed_keys(object);
        let other = (state.c != OFF).then(|| LangState::from_id(state.c));
        match read {
            Read::Not => Step::Dead,
            Read::Close => self.close_key(seq, state, object),
            Read::Byte(byte) => self.grow_key(seq, state, object, &[byte]),
            Read::Char(c) => {
                let mut bytes = [0; 4];
                let state = State { b: 0, ..state };
                self.grow_key(seq, state, object, c.encode_utf8(&mut bytes).as_bytes())
            }
            Read::Part { word, .. } => {
                let known = |ranges: &[(u32, u32)]| machine.any_char_below(state.a, ranges, ranks);
                let leads_on = other.is_some_and(|other| self.follow(other, read, 0, 0, None).is_some())
                    || self.escaping.leads_on(read, &known);
                if leads_on { Step::To(State { b: word, ..state }) } else { Step::Dead }
            }
        }
    }

    /// A byte of a key that is none of those known or used.
    fn step_free_key(&self, seq: &mut Frames, state: State, object: u32, class: u32, byte: u8) -> Step {
        let read = self.escaping.read(state.b, byte);
        let Some(next) = self.follow(LangState::from_id(state.c), read, 0, 0, None) else { return Step::Dead };
        if read != Read::Close {
            return Step::To(State { b: word_after(read), c: next.id(), ..state });
        }
        let frame = seq.frame(state.frame);
        let keys = seq.insert_key(frame.keys, frame.count);
        self.after_key(object, KeyRef::Class(class), frame, keys)
    }

    /// A key's next decoded bytes.
    fn grow_key(&self, seq: &mut Frames, state: State, object: u32, bytes: &[u8]) -> Step {
        let machine = self.machines.get(self.object_states.get(object).machine);
        let ranks = self.allowed_keys(object);
        let mut node = state.a;
        let mut other = (state.c != OFF).then(|| LangState::from_id(state.c));
        for &byte in bytes {
            node = machine.child(node, byte);
            other = other.and_then(|other| self.langs.step(other, byte));
            seq.push_text(byte);
        }
        if !machine.any_below(node, ranks) {
            node = OFF;
        }
        if machine.has_patterns()
            && let Some(rest) = other
            && self.is_used_up(seq, state.frame, rest)
        {
            other = None;
        }
        if node == OFF && other.is_none() {
            return Step::Dead;
        }
        Step::To(State { a: node, c: other.map_or(OFF, LangState::id), ..state })
    }

    /// Whether every key that may still come of the text so far has been used.
    fn is_used_up(&self, seq: &Frames, key_frame: FrameId, rest: LangState) -> bool {
        let frame = seq.frame(key_frame);
        if frame.keys.is_empty() {
            return false;
        }
        let fits = |key: &[u8]| {
            let end = key.iter().try_fold(rest, |s, b| self.langs.step(s, *b));
            end.is_some_and(|s| self.langs.is_accepting(s))
        };
        let used = seq.keys_after(frame.keys, frame.count).filter(|key| fits(key)).count() as u64;
        used > 0 && self.langs.count(rest, used + 1) <= used
    }

    /// The quote that closes a key.
    fn close_key(&self, seq: &mut Frames, state: State, object: u32) -> Step {
        let frame = seq.frame(state.frame);
        let machine = self.machines.get(self.object_states.get(object).machine);
        let ranks = self.allowed_keys(object);
        let known = machine.key_at(state.a).filter(|key| ranks.binary_search(&machine.rank(*key)).is_ok());
        let other = (state.c != OFF).then(|| LangState::from_id(state.c)).is_some_and(|s| self.langs.is_accepting(s));
        let mut keys = frame.keys;
        let key = if let Some(known) = known {
            KeyRef::Known(known)
        } else {
            if !other || seq.contains_text(keys, frame.count) {
                return Step::Dead;
            }
            let Some(class) = self.class_of(machine, seq.text_from(frame.count)) else { return Step::Dead };
            keys = seq.insert_key(keys, frame.count);
            KeyRef::Class(class)
        };
        self.after_key(object, key, frame, keys)
    }

    fn after_key(&self, object: u32, key: KeyRef, frame: Frame, keys: KeySet) -> Step {
        let Some(member) = self.object_member(object, key) else { return Step::Dead };
        let id = self.situations.intern(Situation::Colon { goal: member.goal, member: member.awaits });
        Step::To(State { id, a: 0, b: 0, c: keys.to_word(), frame: frame.parent })
    }

    fn step_array(&self, seq: &mut Frames, state: State, byte: u8) -> Step {
        let situation = self.situations.get(state.id);
        let (array, gap) = match situation {
            Situation::ArrayOpen { array } => (*array, Gap::Open),
            Situation::ArrayNext { array } => (*array, Gap::Close),
            Situation::ArrayComma { array } => (*array, Gap::Comma),
            _ => return Step::Dead,
        };
        let count = state.c;
        let indent = matches!(self.options.whitespace, Whitespace::Indent(_));
        if byte == b']' && matches!(situation, Situation::ArrayOpen { .. }) && (!indent || state.a == 0) {
            return self.close(seq, state.frame, self.array_tags(array, count), Some(byte));
        }
        if byte == b',' && matches!(situation, Situation::ArrayNext { .. }) && (!indent || state.a == 0) {
            return match self.array_with_room(seq, array, state) {
                None => Step::Dead,
                Some(array) => {
                    let id = self.situations.intern(Situation::ArrayComma { array });
                    Step::To(State { id, a: 0, ..state })
                }
            };
        }
        match (self.blank(seq, state, gap, byte), situation) {
            (Blank::Read(a), _) => {
                let leads_on = !indent
                    || match situation {
                        Situation::ArrayOpen { .. } => self.array_with_room(seq, array, state).is_some(),
                        Situation::ArrayNext { .. } => self.array_tags(array, count).is_some(),
                        _ => true,
                    };
                if leads_on { Step::To(State { a, ..state }) } else { Step::Dead }
            }
            (Blank::Ends, Situation::ArrayNext { .. }) if byte == b']' => {
                self.close(seq, state.frame, self.array_tags(array, count), Some(byte))
            }
            (Blank::Ends, Situation::ArrayOpen { .. } | Situation::ArrayComma { .. }) => {
                let needed =
                    !matches!(situation, Situation::ArrayOpen { .. }) || self.array_tags(array, count).is_none();
                let Some(array) = self.array_with_room(seq, array, state) else { return Step::Dead };
                let Some(member) = self.array_member(array, count) else { return Step::Dead };
                let frame = self.item_frame(seq, state, array, member);
                let frame = seq.push(frame);
                self.open_value(seq, State { id: 0, a: 0, b: 0, c: 0, frame }, member.goal, byte, needed)
            }
            _ => Step::Dead,
        }
    }

    /// The end of a value before a byte that is not part of it.
    fn close_before(&self, seq: &mut Frames, frame: FrameId, tags: Option<u32>, byte: u8) -> Step {
        match self.close(seq, frame, tags, None) {
            Step::To(next) => self.step_byte(seq, next, byte),
            step => step,
        }
    }

    /// The end of a value, with the tags that accept it; `last` is the byte that ends it, where that is part of it.
    pub(super) fn close(&self, seq: &mut Frames, frame: FrameId, tags: Option<u32>, last: Option<u8>) -> Step {
        let Some(tags) = tags else { return Step::Dead };
        if frame.is_none() {
            return Step::To(self.state(Situation::Done, FrameId::NONE));
        }
        let frame = seq.frame(frame);
        if frame.text != Frame::UNKEPT {
            return self.close_item(seq, frame, tags, last);
        }
        to(self.close_in(frame, tags))
    }

    /// The state after a value in a frame of whose items nothing is kept.
    pub(super) fn close_in(&self, frame: Frame, tags: u32) -> Option<State> {
        let id = self.pop(frame.state, tags, false)?;
        let (b, c) = match self.situations.get(id) {
            Situation::ArrayNext { .. } => (KeySet::EMPTY.to_word(), frame.count.saturating_add(1)),
            _ => (0, frame.keys.to_word()),
        };
        Some(State { id, a: 0, b, c, frame: frame.parent })
    }
}

fn to(state: Option<State>) -> Step {
    state.map_or(Step::Dead, Step::To)
}

/// A frame on top of another one, that asks nothing more of the bytes that are read.
pub(super) fn frame_on(seq: &Frames, parent: FrameId, state: u32, count: u32, keys: KeySet) -> Frame {
    let watch = if parent.is_none() { Watch::Nothing } else { seq.peek(parent).watch };
    Frame { parent, state, count, depth: enclosing(seq, parent), keys, text: Frame::UNKEPT, watch }
}

/// Frames below a frame and itself: the containers that enclose what stands on it.
pub(super) fn enclosing(seq: &Frames, frame: FrameId) -> u32 {
    if frame.is_none() { 0 } else { seq.peek(frame).depth + 1 }
}
