//! Strings: a language over decoded characters, read through JSON's escapes, with a window on the length.

use regex_syntax::utf8::Utf8Sequences;

use super::JsonAutomaton;
use super::escape::Read;
use super::situation::{Situation, StringAlt};
use super::typed::least;
use crate::automaton::State;
use crate::lang::{Lang, LangState};

/// A plain condition on strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StringAtom {
    /// The strings that are written.
    pub(super) lang: Lang,
    /// Those that are meant, where they are more: outside of these, and only there, the condition surely doesn't hold.
    pub(super) wide: Lang,
    /// Fewest code points.
    pub(super) min: u32,
    /// Most code points.
    pub(super) max: Option<u32>,
}

impl StringAtom {
    /// The strings of a language, of any length.
    pub(super) fn of(lang: Lang) -> Self {
        Self { lang, wide: lang, min: 0, max: None }
    }
}

impl JsonAutomaton {
    /// What holds where both do.
    pub(super) fn meet_strings(&self, a: StringAtom, b: StringAtom) -> StringAtom {
        StringAtom {
            lang: self.langs.and(a.lang, b.lang),
            wide: self.langs.and(a.wide, b.wide),
            min: a.min.max(b.min),
            max: least(a.max, b.max),
        }
    }

    /// Where the strings of an atom begin; `None` where none can be written.
    pub(super) fn string_start(&self, atom: &StringAtom) -> Option<LangState> {
        self.langs.start(atom.lang).filter(|start| self.langs.can_finish(*start, atom.min, atom.max))
    }

    /// Atoms that together hold for the strings that one doesn't hold for; with a language that was narrowed, not for those that are
    /// in doubt.
    pub(super) fn string_complement(&self, atom: StringAtom) -> Vec<StringAtom> {
        let any = StringAtom::of(self.langs.any());
        let mut out = Vec::new();
        if atom.lang != any.lang {
            out.push(StringAtom { lang: self.langs.not(atom.wide), wide: self.langs.not(atom.lang), ..any });
        }
        out.extend(atom.min.checked_sub(1).map(|max| StringAtom { max: Some(max), ..any }));
        out.extend(atom.max.map(|max| StringAtom { min: max.saturating_add(1), ..any }));
        out
    }

    /// The languages' step over the bytes of a whole character.
    pub(super) fn step_char(&self, state: LangState, c: char) -> Option<LangState> {
        let mut bytes = [0; 4];
        c.encode_utf8(&mut bytes).bytes().try_fold(state, |s, b| self.langs.step(s, b))
    }

    /// Whether some character in the ranges can follow, with a completion that the window allows.
    pub(super) fn any_char(
        &self,
        state: LangState,
        ranges: &[(u32, u32)],
        accepts: &dyn Fn(LangState) -> bool,
    ) -> bool {
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
            Read::Part { .. } => {
                let fits = |next: LangState| fits(next, chars + 1);
                let leads_on = self.langs.at_char_boundary(state)
                    && self.escaping.leads_on(read, &|ranges| self.any_char(state, ranges, &fits));
                leads_on.then_some(state)
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
        let read = self.escaping.read(state.b, byte);
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
        let read = self.escaping.read(state.b, byte);
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
                let id = self.situations.intern(Situation::String { tag, min, max, near: false });
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

/// A range's ends, surrogates left out; `None` where no character is in it.
fn scalar_range((lo, hi): (u32, u32)) -> Option<(char, char)> {
    let lo = char::from_u32(if (0xD800..=0xDFFF).contains(&lo) { 0xE000 } else { lo })?;
    let hi = char::from_u32(if (0xD800..=0xDFFF).contains(&hi) { 0xD7FF } else { hi })?;
    (lo <= hi).then_some((lo, hi))
}
