//! What a walk over the vocabulary can do without: bytes that can't be read, and text that makes no difference.

use formwork_grammar::Escapes;

use super::JsonAutomaton;
use super::literal::Literal;
use super::object::OFF;
use super::situation::Situation;
use crate::automaton::State;
use crate::char_class::CharClass;
use crate::frames::{Frames, Watch};
use crate::lang::{ByteSet, LangState};

/// A byte of no text: it makes a key that is none of those used.
const NO_TEXT: u8 = 0xFF;

const BLANKS: ByteSet = ByteSet::of(b" \t\n\r");
const VALUE: ByteSet = BLANKS.or(ByteSet::of(b"\"-0123456789{[tfn"));
const NUMBER: ByteSet = BLANKS.or(ByteSet::of(b"0123456789.eE+-,]}"));
const ESCAPE: ByteSet = ByteSet::of(b"\"\\/bfnrtu0123456789abcdefABCDEF");
/// Bytes of strings that JSON writes as escapes.
const ESCAPED: ByteSet = ByteSet::CLEAN.complement().or(ByteSet::of(b"\"\\\x7F"));
const PLAIN: ByteSet = ByteSet::CLEAN.and(ByteSet::of(b"\"\\").complement());
const OBJECT_OPEN: ByteSet = BLANKS.or(ByteSet::of(b"\"}"));
const OBJECT_NEXT: ByteSet = BLANKS.or(ByteSet::of(b",}"));
const OBJECT_COMMA: ByteSet = BLANKS.or(ByteSet::of(b"\""));
const COLON: ByteSet = BLANKS.or(ByteSet::of(b":"));
const ARRAY_OPEN: ByteSet = VALUE.or(ByteSet::of(b"]"));
const ARRAY_NEXT: ByteSet = BLANKS.or(ByteSet::of(b",]"));

impl JsonAutomaton {
    pub(super) fn readable_at(&self, state: State) -> ByteSet {
        match self.situations.get(state.id) {
            Situation::Done => ByteSet::empty(),
            Situation::Value { .. } | Situation::ArrayComma { .. } => VALUE,
            Situation::String { .. } | Situation::Strings { .. } | Situation::Key { .. } if state.b != 0 => ESCAPE,
            Situation::Key { object } if state.c == OFF => self.known_bytes(*object, state),
            Situation::String { .. } | Situation::Strings { .. } | Situation::Key { .. } => ByteSet::CLEAN,
            Situation::Number { .. } | Situation::LongNumber { .. } => NUMBER,
            Situation::Literal { literal, at, .. } => Self::next_of(*literal, *at),
            Situation::ObjectOpen { .. } => OBJECT_OPEN,
            Situation::ObjectNext { .. } => OBJECT_NEXT,
            Situation::ObjectComma { .. } => OBJECT_COMMA,
            Situation::Colon { .. } => COLON,
            Situation::ArrayOpen { .. } => ARRAY_OPEN,
            Situation::ArrayNext { .. } => ARRAY_NEXT,
        }
    }

    /// The bytes that can be read in a key that must be a known one.
    fn known_bytes(&self, object: u32, state: State) -> ByteSet {
        let machine = self.machines.get(self.object_states.get(object).machine);
        let ranks = self.allowed_keys(object);
        let mut bytes: ByteSet = machine.bytes_to(state.a, ranks).collect();
        if machine.key_at(state.a).is_some() {
            bytes.insert(b'"');
        }
        let known = |ranges: &[(u32, u32)]| machine.any_char_below(state.a, ranges, ranks);
        if self.escaping.leads_on(self.escaping.read(0, b'\\'), &known) {
            bytes.insert(b'\\');
        }
        bytes
    }

    fn next_of(literal: Literal, at: u8) -> ByteSet {
        literal.text().as_bytes().get(usize::from(at)).copied().into_iter().collect()
    }

    pub(super) fn readable_after_run(&self, state: State, class: CharClass, chars: u32) -> ByteSet {
        if class == CharClass::Blank {
            return self.readable_at(state).and(BLANKS.complement());
        }
        let Situation::String { .. } = self.situations.get(state.id) else { return ByteSet::all() };
        if state.b != 0 {
            return ByteSet::all();
        }
        let found = self
            .runs
            .get_or((state.c, class, chars), || self.langs.bytes_after(LangState::from_id(state.c), class, chars));
        let Some((mut bytes, may_end)) = found else { return ByteSet::all() };
        // What JSON writes otherwise than as itself.
        let escaped = self.options.escapes == Escapes::Any || !bytes.and(ESCAPED).is_empty();
        bytes = bytes.and(PLAIN);
        if may_end {
            bytes.insert(b'"');
        }
        if escaped {
            bytes.insert(b'\\');
        }
        bytes
    }

    /// Whether the bytes that are read are kept, or held against other items.
    pub(super) fn is_watched(&self, seq: &Frames, state: State) -> bool {
        self.comparing && !state.frame.is_none() && seq.peek(state.frame).watch != Watch::Nothing
    }

    pub(super) fn stand_in_for(&self, seq: &mut Frames, state: State, class: CharClass, bytes: u32) -> Option<State> {
        if state.b != 0 || self.is_watched(seq, state) {
            return None;
        }
        let lang = LangState::from_id(state.c);
        match self.situations.get(state.id) {
            Situation::String { min, max, .. } => {
                let next = self.langs.stays_at(lang, class)?;
                let chars = state.a.saturating_add(1);
                // What may still be read has room, whichever token it comes with.
                let room = |max: &u32| self.langs.is_universal(next) && max.saturating_sub(state.a) > bytes;
                (*min <= chars && max.as_ref().is_none_or(room)).then(|| State { a: chars, c: next.id(), ..state })
            }
            Situation::Key { object } => {
                let machine = self.machines.get(self.object_states.get(*object).machine);
                if state.c == OFF || machine.has_patterns() || !self.langs.at_char_boundary(lang) {
                    return None;
                }
                let any = self.langs.start(self.langs.any())?;
                seq.push_text(NO_TEXT);
                Some(State { a: OFF, c: any.id(), ..state })
            }
            _ => None,
        }
    }

    pub(super) fn exceptions_at(&self, seq: &Frames, state: State) -> ByteSet {
        let Situation::Key { object } = self.situations.get(state.id) else { return ByteSet::empty() };
        let machine = self.machines.get(self.object_states.get(*object).machine);
        let frame = seq.peek(state.frame);
        let text = seq.text_from(frame.count);
        // Also keys that can't come any more: what is no known key must differ from them.
        let node = text.iter().fold(0, |node, byte| machine.child(node, *byte));
        let used = seq.keys(frame.keys).filter_map(|key| key.strip_prefix(text));
        // Where a key ends, the quote; where one goes on with a character that is written otherwise, its escape.
        let mut bytes: ByteSet =
            used.map(|rest| rest.first().copied().unwrap_or(b'"')).chain(machine.bytes_at(node)).collect();
        if !bytes.is_empty() || machine.key_at(node).is_some() {
            bytes.insert(b'"');
            bytes.insert(b'\\');
        }
        bytes
    }
}
