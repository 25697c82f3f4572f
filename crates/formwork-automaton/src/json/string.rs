//! Strings: a language over decoded characters, read through JSON's escapes, with a window on the length.

use formwork_grammar::Escapes;
use regex_syntax::utf8::Utf8Sequences;

use super::JsonAutomaton;
use super::situation::{Situation, StringAlt};
use crate::automaton::State;
use crate::lang::{ByteSet, Lang, LangState};

/// A plain condition on strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StringAtom {
    pub(super) lang: Lang,
    /// Fewest code points.
    pub(super) min: u32,
    /// Most code points.
    pub(super) max: Option<u32>,
}

/// The bytes that decoded strings may consist of. Control characters, `"` and `\` are always spelled by escapes; with every
/// escape allowed, so is any other character, as long as a raw one begun can also be finished.
pub(super) fn decoded_alphabet(raw: ByteSet, any_escape: bool) -> ByteSet {
    if any_escape && (0x80..=0xBF).all(|b| raw.contains(b)) {
        return ByteSet::all();
    }
    let mut set = raw;
    set.insert_range(0, 0x1F);
    set.insert(b'"');
    set.insert(b'\\');
    set
}

/// How far an escape has been read; packed into a word of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escape {
    /// Not in an escape.
    None,
    /// After `\`.
    Slash,
    /// After `\u` and so many digits with this value; `high` is the high surrogate that came before, or 0.
    Hex { digits: u8, value: u16, high: u16 },
    /// After a high surrogate, before `\`.
    High(u16),
    /// After a high surrogate and `\`.
    HighSlash(u16),
}

impl Escape {
    fn pack(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Slash => 1,
            Self::High(high) => 2 | u32::from(high & 0x3FF) << 16,
            Self::HighSlash(high) => 3 | u32::from(high & 0x3FF) << 16,
            // A high surrogate has ten free bits; a bit of its own says that there is one.
            Self::Hex { digits, value, high } => {
                let high = if high == 0 { 0 } else { 1 << 30 | u32::from(high & 0x3FF) << 20 };
                (4 + u32::from(digits)) | (u32::from(value) << 4) | high
            }
        }
    }

    fn unpack(word: u32) -> Self {
        let sixteen = |w: u32| u16::try_from(w & 0xFFFF).unwrap_or(0);
        let surrogate = |w: u32| 0xD800 | sixteen(w & 0x3FF);
        match word & 0xF {
            0 => Self::None,
            1 => Self::Slash,
            2 => Self::High(surrogate(word >> 16)),
            3 => Self::HighSlash(surrogate(word >> 16)),
            n => Self::Hex {
                digits: u8::try_from(n - 4).unwrap_or(0),
                value: sixteen(word >> 4) & 0xFFF,
                high: if word >> 30 & 1 == 1 { surrogate(word >> 20) } else { 0 },
            },
        }
    }
}

/// What one byte of a JSON string's spelling does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// The closing quote.
    Close,
    /// A byte of a decoded character.
    Byte(u8),
    /// A whole character, by an escape.
    Char(char),
    /// Part of an escape: the characters it may still become, and the word to keep.
    Part { ranges: Ranges, word: u32 },
    /// Not allowed.
    Not,
}

const SHORT: &[(u8, char)] =
    &[(b'"', '"'), (b'\\', '\\'), (b'b', '\u{8}'), (b'f', '\u{c}'), (b'n', '\n'), (b'r', '\r'), (b't', '\t')];
const NONE: (u32, u32) = (1, 0);
/// The control characters without a short escape.
const LONG: Ranges = [(0, 0x07), (0x0B, 0x0B), (0x0E, 0x1F)];

/// Characters, as inclusive ranges of code points (surrogates among them don't count); an empty one has its ends swapped.
type Ranges = [(u32, u32); 3];

impl JsonAutomaton {
    /// Reads one byte of a string's spelling after the escape in `word`.
    pub(super) fn read_string_byte(&self, word: u32, byte: u8) -> Read {
        let any = self.options.escapes == Escapes::Any;
        match Escape::unpack(word) {
            Escape::None => match byte {
                b'"' => Read::Close,
                b'\\' => {
                    let ranges =
                        if any { [(0, 0x10_FFFF), NONE, NONE] } else { [(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)] };
                    Read::Part { ranges, word: Escape::Slash.pack() }
                }
                0..=0x1F => Read::Not,
                _ => Read::Byte(byte),
            },
            Escape::Slash => match (byte, SHORT.iter().find(|(b, _)| *b == byte)) {
                (_, Some((_, c))) => Read::Char(*c),
                (b'/', _) if any => Read::Char('/'),
                (b'u', _) => {
                    let ranges = if any { [(0, 0x10_FFFF), NONE, NONE] } else { LONG };
                    Read::Part { ranges, word: Escape::Hex { digits: 0, value: 0, high: 0 }.pack() }
                }
                _ => Read::Not,
            },
            Escape::Hex { digits, value, high } => read_hex(any, digits, value, high, byte),
            Escape::High(high) if byte == b'\\' => {
                Read::Part { ranges: [beyond(high, 0xDC00, 0xDFFF), NONE, NONE], word: Escape::HighSlash(high).pack() }
            }
            Escape::HighSlash(high) if byte == b'u' => Read::Part {
                ranges: [beyond(high, 0xDC00, 0xDFFF), NONE, NONE],
                word: Escape::Hex { digits: 0, value: 0, high }.pack(),
            },
            Escape::High(_) | Escape::HighSlash(_) => Read::Not,
        }
    }

    /// The text that finishes the escape in `word` with a given character's spelling, for witnesses: the shortest that
    /// [`read_string_byte`](Self::read_string_byte) allows, by trying bytes in order.
    pub(super) fn finish_escape(&self, word: u32, live: &dyn Fn(char) -> bool) -> Option<(Vec<u8>, char)> {
        let mut out = Vec::new();
        let mut word = word;
        // An escape has at most 12 bytes.
        for _ in 0..12 {
            let candidates = b"nt\"\\bfr/u0123456789abcdef\\";
            let mut next = None;
            for &byte in candidates {
                match self.read_string_byte(word, byte) {
                    Read::Char(c) if live(c) => {
                        out.push(byte);
                        return Some((out, c));
                    }
                    Read::Part { ranges, word } if next.is_none() && word != 0 => {
                        let found = ranges.iter().any(|&(lo, hi)| scalars(lo, hi).any(live));
                        if found {
                            next = Some((byte, word));
                        }
                    }
                    _ => {}
                }
            }
            let (byte, part) = next?;
            out.push(byte);
            word = part;
        }
        None
    }

    /// The languages' step over the bytes of a whole character.
    pub(super) fn step_char(&self, state: LangState, c: char) -> Option<LangState> {
        let mut bytes = [0; 4];
        c.encode_utf8(&mut bytes).bytes().try_fold(state, |s, b| self.langs.step(s, b))
    }

    /// Whether some character in the ranges can follow, with a completion that the window allows.
    fn any_char(&self, state: LangState, ranges: &[(u32, u32)], accepts: &dyn Fn(LangState) -> bool) -> bool {
        ranges.iter().filter_map(|range| scalar_range(*range)).any(|(lo, hi)| {
            Utf8Sequences::new(lo, hi).any(|sequence| {
                let mut bytes = [(0, 0); 4];
                let slots = bytes.iter_mut().zip(sequence.as_slice());
                let len = slots.map(|(slot, range)| *slot = (range.start, range.end)).count();
                self.any_bytes(state, &bytes[..len], accepts)
            })
        })
    }

    fn any_bytes(&self, state: LangState, ranges: &[(u8, u8)], accepts: &dyn Fn(LangState) -> bool) -> bool {
        match ranges.split_first() {
            None => accepts(state),
            Some((&(lo, hi), rest)) => {
                (lo..=hi).any(|b| self.langs.step(state, b).is_some_and(|next| self.any_bytes(next, rest, accepts)))
            }
        }
    }

    /// One language's answer to what was read: its next state, where some completion has a length in the window.
    pub(super) fn follow(
        &self,
        state: LangState,
        read: Read,
        chars: u32,
        min: u32,
        max: Option<u32>,
    ) -> Option<LangState> {
        let fits = |state: LangState, chars: u32| {
            (min <= chars && max.is_none())
                || max.is_none_or(|max| chars <= max)
                    && self.langs.can_finish(state, min.saturating_sub(chars), max.map(|max| max - chars))
        };
        match read {
            Read::Byte(byte) => {
                let next = self.langs.step(state, byte)?;
                // A character counts from its first byte on.
                let chars = chars + u32::from(is_first_byte(byte));
                fits(next, chars).then_some(next)
            }
            Read::Char(c) => self.step_char(state, c).filter(|next| fits(*next, chars + 1)),
            Read::Part { ranges, .. } => {
                if !self.langs.at_char_boundary(state) {
                    return None;
                }
                let any = if self.langs.is_universal(state) && max.is_none() {
                    ranges.iter().any(|range| scalar_range(*range).is_some())
                } else {
                    self.any_char(state, &ranges, &|next| fits(next, chars + 1))
                };
                any.then_some(state)
            }
            Read::Close => {
                let ends = self.langs.is_accepting(state) && min <= chars && max.is_none_or(|max| chars <= max);
                ends.then_some(state)
            }
            Read::Not => None,
        }
    }

    /// One byte in a string with one alternative; the tag where the string closed.
    pub(super) fn step_string(&self, state: State, byte: u8, min: u32, max: Option<u32>) -> StringStep {
        let read = self.read_string_byte(state.b, byte);
        let Some(next) = self.follow(LangState::from_id(state.c), read, state.a, min, max) else {
            return StringStep::Dead;
        };
        match read {
            Read::Close => StringStep::Closed,
            _ => StringStep::To(State { a: chars_after(read, state.a), b: word_after(read), c: next.id(), ..state }),
        }
    }

    /// One byte in a string with several alternatives: those that are left.
    pub(super) fn step_strings(&self, alts: &[StringAlt], state: State, byte: u8) -> (Read, Vec<StringAlt>) {
        let read = self.read_string_byte(state.b, byte);
        let follow = |alt: &StringAlt| {
            let next = self.follow(LangState::from_id(alt.state), read, state.a, alt.min, alt.max)?;
            Some(StringAlt { state: next.id(), ..*alt })
        };
        (read, alts.iter().filter_map(follow).collect())
    }

    /// The state in a string with these alternatives, after so many characters and within an escape.
    pub(super) fn string_state(
        &self,
        alts: &[StringAlt],
        active: u16,
        state: State,
        chars: u32,
        word: u32,
    ) -> Option<State> {
        if !alts.iter().any(|alt| alt.tag < active) {
            return None;
        }
        match *alts {
            [] => None,
            [StringAlt { tag, state: lang, min, max }] => {
                let id = self.situations.intern(Situation::String { tag, min, max });
                Some(State { id, a: chars, b: word, c: lang, ..state })
            }
            _ => {
                let active = if alts.iter().all(|alt| alt.tag < active) { u16::MAX } else { active };
                let id = self.situations.intern(Situation::Strings { alts: alts.into(), active });
                Some(State { id, a: chars, b: word, c: 0, ..state })
            }
        }
    }
}

/// What a byte in a string led to.
#[derive(Clone, Copy, Debug)]
pub(super) enum StringStep {
    Dead,
    Closed,
    To(State),
}

pub(super) fn chars_after(read: Read, chars: u32) -> u32 {
    match read {
        Read::Byte(byte) => chars.saturating_add(u32::from(is_first_byte(byte))),
        Read::Char(_) => chars.saturating_add(1),
        _ => chars,
    }
}

pub(super) fn word_after(read: Read) -> u32 {
    match read {
        Read::Part { word, .. } => word,
        _ => 0,
    }
}

pub(super) fn is_first_byte(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

fn read_hex(any: bool, digits: u8, value: u16, high: u16, byte: u8) -> Read {
    let Some(digit) = char::from(byte).to_digit(16).and_then(|d| u16::try_from(d).ok()) else { return Read::Not };
    if !any && byte.is_ascii_uppercase() {
        return Read::Not;
    }
    let value = value << 4 | digit;
    if digits < 3 {
        let shift = 4 * (3 - u32::from(digits));
        let (lo, hi) = (u32::from(value) << shift, ((u32::from(value) + 1) << shift) - 1);
        let ranges = match (any, high) {
            (false, _) => LONG.map(|(from, to)| (lo.max(from), hi.min(to))),
            (true, 0) => [(lo, hi), astral(lo, hi), NONE],
            (true, high) => [beyond(high, lo.max(0xDC00), hi.min(0xDFFF)), NONE, NONE],
        };
        return Read::Part { ranges, word: Escape::Hex { digits: digits + 1, value, high }.pack() };
    }
    let code = u32::from(value);
    if high != 0 {
        let (code, _) = beyond(high, code, code);
        return match (0xDC00..=0xDFFF).contains(&value).then(|| char::from_u32(code)).flatten() {
            Some(c) => Read::Char(c),
            None => Read::Not,
        };
    }
    match char::from_u32(code) {
        Some(c) if any || LONG.iter().any(|r| (r.0..=r.1).contains(&code)) => Read::Char(c),
        None if any && code < 0xDC00 => {
            Read::Part { ranges: [beyond(value, 0xDC00, 0xDFFF), NONE, NONE], word: Escape::High(value).pack() }
        }
        _ => Read::Not,
    }
}

/// The characters that a high surrogate and a low one in `lo..=hi` make.
fn beyond(high: u16, lo: u32, hi: u32) -> (u32, u32) {
    let base = 0x1_0000 + ((u32::from(high) & 0x3FF) << 10);
    if lo > hi || hi < 0xDC00 { NONE } else { (base + (lo & 0x3FF), base + (hi & 0x3FF)) }
}

/// The characters that high surrogates in `lo..=hi` can begin.
fn astral(lo: u32, hi: u32) -> (u32, u32) {
    let (lo, hi) = (lo.max(0xD800), hi.min(0xDBFF));
    if lo > hi { NONE } else { (0x1_0000 + ((lo & 0x3FF) << 10), 0x1_0000 + ((hi & 0x3FF) << 10) + 0x3FF) }
}

/// A range's ends, surrogates left out; `None` where no character is in it.
fn scalar_range((lo, hi): (u32, u32)) -> Option<(char, char)> {
    let lo = char::from_u32(if (0xD800..=0xDFFF).contains(&lo) { 0xE000 } else { lo })?;
    let hi = char::from_u32(if (0xD800..=0xDFFF).contains(&hi) { 0xD7FF } else { hi })?;
    (lo <= hi).then_some((lo, hi))
}

fn scalars(lo: u32, hi: u32) -> impl Iterator<Item = char> {
    (lo..=hi).filter_map(char::from_u32)
}
