//! What a walk over the vocabulary can do without: bytes that can't be read, and text that makes no difference.

use formwork_grammar::Escapes;

use super::JsonAutomaton;
use super::keys::{KeyMachine, KnownKeys};
use super::literal::Literal;
use super::object::OFF;
use super::situation::{FREE, Goal, Situation};
use crate::automaton::{CharLoop, FreeText, Like, StandIn, State, TextEnd, TextKind};
use crate::char_class::CharClass;
use crate::frames::{FrameId, Frames, Watch};
use crate::interner::to_u32;
use crate::lang::{ByteSet, LEAST_INSIDE, LangState};

/// A byte of no text: it makes a key that is none of those used.
const NO_TEXT: u8 = 0xFF;

/// Characters of which one is taken to stand for most.
const SAMPLES: &[u8] = b"jq~Z0_ ";

const BLANKS: ByteSet = ByteSet::of(b" \t\n\r");
const VALUE: ByteSet = BLANKS.or(ByteSet::of(b"\"-0123456789{[tfn"));
const NUMBER_END: ByteSet = BLANKS.or(ByteSet::of(b",]}"));
const NUMBER: ByteSet = NUMBER_END.or(ByteSet::of(b"0123456789.eE+-"));
/// The bytes within characters of several bytes, and those that begin them or are whole ones.
const WITHIN_CHAR: ByteSet = ByteSet::range(0x80, 0xBF);
const CHAR: ByteSet = ByteSet::range(0x20, 0x7F).or(ByteSet::range(0xC2, 0xF4));
/// Bytes of strings that JSON writes as escapes.
pub(super) const ESCAPED: ByteSet = ByteSet::CLEAN.complement().or(ByteSet::of(b"\"\\\x7F"));
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
            Situation::Value { goal, .. } => self.value_bytes.get_or(*goal, || self.first_bytes(*goal)).or(BLANKS),
            Situation::ArrayComma { .. } => VALUE,
            Situation::String { .. }
            | Situation::Strings { .. }
            | Situation::Key { .. }
            | Situation::FreeKey { .. }
                if state.b != 0 =>
            {
                self.escaping.readable(state.b)
            }
            Situation::Key { object, .. } if state.c == OFF => self.known_bytes(*object, state),
            Situation::String { .. } | Situation::Key { .. } | Situation::FreeKey { .. } => self.text_bytes(state.c),
            Situation::Strings { alts, .. } => alts.first().map_or(ByteSet::CLEAN, |alt| self.text_bytes(alt.state)),
            Situation::Number { alts, .. } => self.number_bytes(alts).or(NUMBER_END),
            Situation::LongNumber { .. } => NUMBER,
            Situation::Literal { literal, at, .. } => Self::next_of(*literal, *at),
            Situation::ObjectOpen { .. } => OBJECT_OPEN,
            Situation::ObjectNext { .. } => OBJECT_NEXT,
            Situation::ObjectComma { .. } => OBJECT_COMMA,
            Situation::Colon { .. } => COLON,
            Situation::ArrayOpen { .. } => ARRAY_OPEN,
            Situation::ArrayNext { .. } => ARRAY_NEXT,
        }
    }

    /// The bytes that a value of some type can begin with which the goal has.
    pub(super) fn first_bytes(&self, goal: u32) -> ByteSet {
        let Goal { forms, active, .. } = self.goal(goal);
        let mut bytes = ByteSet::empty();
        for form in forms.iter().take(usize::from(*active)) {
            let typed = self.typed(*form);
            let types = [
                (typed.null, &b"n"[..]),
                (typed.booleans & 0b01 != 0, b"f"),
                (typed.booleans & 0b10 != 0, b"t"),
                (!typed.numbers.is_empty(), b"-0123456789"),
                (!typed.strings.is_empty(), b"\""),
                (!typed.arrays.is_empty(), b"["),
                (!typed.objects.is_empty(), b"{"),
            ];
            bytes = types.iter().filter(|(has, _)| *has).fold(bytes, |all, (_, first)| all.or(ByteSet::of(first)));
        }
        bytes
    }

    /// The bytes that can be read as text where a language is in a state.
    fn text_bytes(&self, lang: u32) -> ByteSet {
        if self.langs.at_char_boundary(LangState::from_id(lang)) { CHAR } else { WITHIN_CHAR }
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
        bytes = self.as_written(bytes);
        if may_end {
            bytes.insert(b'"');
        }
        bytes
    }

    /// The first bytes of what JSON writes for characters: themselves, or a backslash.
    fn as_written(&self, chars: ByteSet) -> ByteSet {
        let mut bytes = chars.and(ByteSet::PLAIN);
        if self.options.escapes == Escapes::Any || !chars.and(ESCAPED).is_empty() {
            bytes.insert(b'\\');
        }
        bytes
    }

    pub(super) fn stand_in_for(&self, seq: &mut Frames, state: State, class: CharClass, bytes: u32) -> Option<StandIn> {
        if class == CharClass::Blank {
            let from = self.behind_number(seq, state).unwrap_or(state);
            let after = State { a: from.a.saturating_add(1), ..from };
            return (self.safe_blanks(seq, state) > 0).then(|| StandIn::new(after, false));
        }
        if state.b != 0 || self.watch_at(seq, state) != Watch::Nothing {
            return None;
        }
        let lang = LangState::from_id(state.c);
        match self.situations.get(state.id) {
            Situation::String { min, max, .. } => {
                let next = self.langs.stays_at(lang, class)?;
                let chars = state.a.saturating_add(1);
                // What may still be read has room, whichever token it comes with.
                let room = |max: &u32| self.langs.is_universal(next) && max.saturating_sub(state.a) > bytes;
                (*min <= chars && max.as_ref().is_none_or(room))
                    .then(|| StandIn::new(State { a: chars, c: next.id(), ..state }, next == lang))
            }
            Situation::Key { object, .. } => {
                let machine = self.machines.get(self.object_states.get(*object).machine);
                if state.c == OFF || !self.langs.at_char_boundary(lang) {
                    return None;
                }
                if machine.has_patterns() {
                    return self.patterned_stand_in(seq, state, *object, class);
                }
                let any = self.langs.start(self.langs.any())?;
                seq.push_text(NO_TEXT);
                Some(StandIn::new(State { a: OFF, c: any.id(), ..state }, true))
            }
            _ => None,
        }
    }

    pub(super) fn free_text_at(&self, seq: &Frames, state: State) -> Option<FreeText> {
        let end = match self.situations.get(state.id) {
            Situation::String { min, max: None, .. } => {
                let (at_once, later) = (*min <= state.a, state.a.saturating_add(1));
                let before_quote = State { a: if at_once { state.a } else { later }, b: 0, ..state };
                (*min <= later).then_some(TextEnd { before_quote, at_once })
            }
            Situation::Key { .. } | Situation::FreeKey { .. } if state.c != OFF => None,
            _ => return None,
        };
        if !self.langs.is_universal(LangState::from_id(state.c)) || self.watch_at(seq, state) != Watch::Nothing {
            return None;
        }
        let id = self.situations.intern(Situation::String { tag: FREE, min: 0, max: None, near: false });
        let any_escapes = self.options.escapes == Escapes::Any;
        let kind = TextKind { alphabet: self.alphabet, any_escapes, escape: state.b };
        Some(FreeText { state: State { id, a: 0, frame: FrameId::NONE, ..state }, kind, end })
    }

    pub(super) fn char_loop_at(&self, seq: &mut Frames, state: State) -> Option<CharLoop> {
        if let Some((object, machine)) = self.patterned_key(seq, state) {
            return self.key_loop(seq, state, object, machine);
        }
        let Situation::String { min, max: None, near, .. } = self.situations.get(state.id) else { return None };
        let chars = if *near { 0 } else { state.a.saturating_add(1) };
        if state.b != 0 || *min > chars || self.watch_at(seq, state) != Watch::Nothing {
            return None;
        }
        let find = || self.langs.char_loop(LangState::from_id(state.c), *near);
        // What is known of near states may be more the next time.
        let found = if *near { find() } else { self.char_loops.get_or(state.c, find) }?;
        let mut exits = self.as_written(found.exits);
        exits.insert(b'"');
        let after = State { a: chars, c: found.after.id(), ..state };
        Some(CharLoop { after, inside: found.inside, apart: found.apart, exits, stand_in: None, short: false })
    }

    /// The object of a key that patterns may match, and that nobody compares, with its machine.
    pub(super) fn patterned_key(&self, seq: &Frames, state: State) -> Option<(u32, &KeyMachine)> {
        let Situation::Key { object, .. } = *self.situations.get(state.id) else { return None };
        let machine = self.machines.get(self.object_states.get(object).machine);
        (state.c != OFF && machine.has_patterns() && self.watch_at(seq, state) == Watch::Nothing)
            .then_some((object, machine))
    }

    /// The characters that a key that patterns may match reads again and again, whatever came before it.
    fn key_loop(&self, seq: &mut Frames, state: State, object: u32, machine: &KeyMachine) -> Option<CharLoop> {
        let lang = LangState::from_id(state.c);
        // All of a class of characters do better.
        let is_safe = self.safe_chars_of(seq, state, CharClass::Ascii) > 0;
        if state.b != 0 || !self.langs.at_char_boundary(lang) || is_safe {
            return None;
        }
        let text = seq.text_from(seq.peek(state.frame).count);
        let now = self.key_langs(object, machine, text);
        // All states go by those near them, or none does; of those, more may be known the next time.
        let near = self.langs.near(lang).is_some();
        let inside_of = |lang: LangState| {
            let find = || self.langs.inside(lang, near);
            if near { find() } else { self.key_loops.get_or(lang.id(), find) }
        };
        let keeps = |inside: ByteSet| {
            let find = || self.langs.keeps_reading(lang, &inside, near);
            if near { find() } else { self.kept.get_or((state.c, inside), find) }
        };
        let first = self.langs.live_chars(lang);
        let (byte, other, inside) = SAMPLES.iter().find_map(|&byte| {
            let other = self.langs.step(lang, byte)?;
            let after = now.iter().filter_map(|lang| self.langs.step((*lang)?, byte));
            let inside = after.map(inside_of).fold(inside_of(other).and(first), ByteSet::and);
            (inside.contains(byte) && inside.len() >= LEAST_INSIDE && keeps(inside)).then_some((byte, other, inside))
        })?;
        let live = first.or(self.langs.live_chars(other)).or(machine.bytes_at(state.a).collect());
        let mut exits = self.as_written(live).and(inside.complement());
        exits.insert(b'"');
        let like = Some(Like { after: to_u32(text.len()), byte, near });
        seq.push_text(byte);
        seq.push_text(NO_TEXT);
        let after = State { a: OFF, c: other.id(), ..state };
        let stand_in = Some(StandIn { like, ..StandIn::new(after, false) });
        Some(CharLoop { after, inside, apart: ByteSet::empty(), exits, stand_in, short: near })
    }

    /// The keys of which one must be read, where they are written byte by byte and nobody compares them.
    pub(super) fn known_keys_at(&self, seq: &Frames, state: State) -> Option<KnownKeys<'_>> {
        let Situation::Key { object, .. } = self.situations.get(state.id) else { return None };
        let is_bare = state.c == OFF && state.b == 0 && self.options.escapes != Escapes::Any;
        if !is_bare || self.watch_at(seq, state) != Watch::Nothing {
            return None;
        }
        self.machines.get(self.object_states.get(*object).machine).ways(self.allowed_keys(*object))
    }

    /// What stands for a key that is none of those known or used, where all others are of one class.
    pub(super) fn free_key(&self, seq: &mut Frames, state: State) -> Option<StandIn> {
        let (object, _) = self.patterned_key(seq, state)?;
        let [class] = *self.allowed_classes(object) else { return None };
        let id = self.situations.intern(Situation::FreeKey { object, class });
        seq.push_text(NO_TEXT);
        Some(StandIn::new(State { id, a: 0, ..state }, false))
    }

    /// The stand-in of a key that patterns may match: that of a character which most are like, after which no other makes a difference.
    fn patterned_stand_in(&self, seq: &mut Frames, state: State, object: u32, class: CharClass) -> Option<StandIn> {
        let machine = self.machines.get(self.object_states.get(object).machine);
        let start = seq.peek(state.frame).count;
        let text = seq.text_from(start);
        let now = self.key_langs(object, machine, text);
        let stays = |lang: Option<LangState>| lang.is_none_or(|s| self.langs.stays_at(s, class) == Some(s));
        let (byte, other) = SAMPLES.iter().find_map(|&byte| {
            let after = now.iter().map(|lang| self.langs.step((*lang)?, byte));
            let other = self.langs.step(LangState::from_id(state.c), byte)?;
            (class.contains(char::from(byte)) && after.chain([Some(other)]).all(stays)).then_some((byte, other))
        })?;
        let like = Some(Like { after: to_u32(text.len()), byte, near: false });
        seq.push_text(byte);
        seq.push_text(NO_TEXT);
        Some(StandIn { like, ..StandIn::new(State { a: OFF, c: other.id(), ..state }, true) })
    }

    /// The states that a key's text leads to, in the languages that say which class it is of, and in that of all that may come.
    fn key_langs(&self, object: u32, machine: &KeyMachine, text: &[u8]) -> Vec<Option<LangState>> {
        let starts = machine.classes.iter().map(|class| Some(class.start)).chain([self.other_keys(object)]);
        starts.map(|start| self.text_to(start?, text)).collect()
    }

    /// Where the text of a key leads in a language.
    pub(super) fn text_to(&self, start: LangState, text: &[u8]) -> Option<LangState> {
        text.iter().filter(|byte| **byte != NO_TEXT).try_fold(start, |state, byte| self.langs.step(state, *byte))
    }

    /// The bytes by which keys that go on after `text` are of other classes than those that go on with `like`; `None` where nothing tells
    /// them apart.
    fn telling_bytes(&self, object: u32, machine: &KeyMachine, text: &[u8], like: Like) -> Option<ByteSet> {
        let Some(origin) = text.get(..like.after as usize) else { return Some(ByteSet::all()) };
        let settle = |lang: LangState| self.langs.settled(lang, like.near);
        let langs = |text: &[u8]| -> Vec<Option<LangState>> {
            self.key_langs(object, machine, text).into_iter().map(|lang| lang.map(settle)).collect()
        };
        let now = langs(text);
        let then = langs(&[origin, &[like.byte]].concat());
        if now == then {
            return None;
        }
        let ids = now.iter().chain(&then).map(|lang| lang.map_or(OFF, LangState::id));
        Some(self.telling.get_or(ids.chain([u32::from(like.near)]).collect(), || {
            let tells = |byte: u8| {
                let step = |lang: &Option<LangState>| self.langs.step((*lang)?, byte).map(settle);
                now.iter().zip(&then).any(|(now, then)| step(now) != step(then))
            };
            (0..=u8::MAX).filter(|byte| tells(*byte)).collect()
        }))
    }

    pub(super) fn exceptions_at(&self, seq: &Frames, state: State, stand_in: &StandIn) -> ByteSet {
        let Situation::Key { object, .. } = self.situations.get(state.id) else { return ByteSet::empty() };
        let machine = self.machines.get(self.object_states.get(*object).machine);
        let frame = seq.peek(state.frame);
        let text = seq.text_from(frame.count);
        // Also keys that can't come any more: what is no known key must differ from them.
        let node = text.iter().fold(0, |node, byte| machine.child(node, *byte));
        let used = || seq.keys(frame.keys).filter_map(|key| key.strip_prefix(text));
        let mut bytes: ByteSet =
            used().filter_map(|rest| rest.first().copied()).chain(machine.bytes_at(node)).collect();
        let telling = stand_in.like.and_then(|like| self.telling_bytes(*object, machine, text, like));
        bytes = bytes.or(telling.unwrap_or_default());
        // Where one goes on with a character that is written otherwise, its escape.
        if self.options.escapes == Escapes::Any && !bytes.is_empty() || !bytes.and(ESCAPED).is_empty() {
            bytes.insert(b'\\');
        }
        // Where a key ends, the quote.
        if !bytes.is_empty() || telling.is_some() || machine.key_at(node).is_some() || used().any(<[u8]>::is_empty) {
            bytes.insert(b'"');
        }
        bytes
    }
}
