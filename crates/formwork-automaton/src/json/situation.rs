//! Shared states: where in a value the text stands, and what comes back when a value ends.

use super::JsonAutomaton;
use super::form::FormId;
use super::literal::Literal;
use super::space::Gap;

/// The tags of the alternatives that accepted a value, ascending.
pub(super) type TagSet = Box<[u16]>;

/// What a value is asked: for each tag a form. The tags of the forms that the value satisfies are the answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Goal {
    /// The form of each tag.
    pub(super) forms: Box<[FormId]>,
    /// Which schemas set the property order here.
    pub(super) position: u32,
}

/// A shared state. What it counts with stands in the [`State`](crate::State)'s words, as noted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Situation {
    /// The root value has ended.
    Done,
    /// Before a value. a: blanks read; b: the object's keys are kept in its frame.
    Value { goal: u32, gap: Gap },
    /// In a string with one alternative. a: characters read; b: the escape being read; c: the language's state.
    String { tag: u16, min: u32, max: Option<u32> },
    /// In a string with several alternatives. a: characters read; b: the escape being read.
    Strings { alts: Box<[StringAlt]> },
    /// In a number.
    Number { alts: Box<[(u16, u32)]> },
    /// In a number whose text the sequence keeps: tags and atoms. c: where the text begins.
    LongNumber { alts: Box<[(u16, u32)]> },
    /// In a literal, `at` bytes of it read.
    Literal { literal: Literal, at: u8, tags: u32 },
    /// After `{`. a: blanks read; c: keys used.
    ObjectOpen { object: u32 },
    /// After a member's value. a: blanks read; c: keys used.
    ObjectNext { object: u32 },
    /// After `,` in an object. a: blanks read; c: keys used.
    ObjectComma { object: u32 },
    /// In a key; its frame holds the keys used and where the key's text begins. a: the key trie's node; b: the escape being read;
    /// c: the state of the language of other keys.
    Key { object: u32 },
    /// After a key. a: blanks read; c: keys used, this one too where it must be remembered.
    Colon { goal: u32, member: u32 },
    /// After `[`. a: blanks read.
    ArrayOpen { array: u32 },
    /// After an item. a: blanks read; c: items so far.
    ArrayNext { array: u32 },
    /// After `,` in an array. a: blanks read; c: items so far.
    ArrayComma { array: u32 },
}

/// One alternative of a string with several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StringAlt {
    pub(super) tag: u16,
    pub(super) state: u32,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
}

/// What a frame waits for: the container's alternatives after the member, by the tag that the member's value must have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Await {
    /// A member's value.
    Object {
        /// (form's tag in the member's goal, the alternative's own tag, its atom)
        alts: Box<[(u16, u16, u32)]>,
        machine: u32,
        next: u32,
        used: Box<[u32]>,
    },
    /// An item.
    Array { alts: Box<[(u16, u16, u32)]>, index: u32, position: u32 },
}

impl JsonAutomaton {
    /// The interned set with these tags; `None` where there is none.
    pub(super) fn tags(&self, tags: impl IntoIterator<Item = u16>) -> Option<u32> {
        let mut tags: Vec<u16> = tags.into_iter().collect();
        tags.sort_unstable();
        tags.dedup();
        (!tags.is_empty()).then(|| self.tag_sets.intern(tags.into()))
    }

    /// The situation after a member or an item has ended with these tags.
    pub(super) fn pop(&self, awaits: u32, tags: u32) -> u32 {
        self.pops.get_or((awaits, tags), || {
            let tags = self.tag_sets.get(tags);
            let kept = |alts: &[(u16, u16, u32)]| -> Box<[(u16, u32)]> {
                alts.iter()
                    .filter(|(form, ..)| tags.binary_search(form).is_ok())
                    .map(|&(_, tag, atom)| (tag, atom))
                    .collect()
            };
            let situation = match self.awaits.get(awaits) {
                Await::Object { alts, machine, next, used } => {
                    let object = self.object_state(kept(alts), *machine, *next, used.clone());
                    Situation::ObjectNext { object }
                }
                Await::Array { alts, index, position } => {
                    Situation::ArrayNext { array: self.array_state(kept(alts), *index, *position) }
                }
            };
            self.situations.intern(situation)
        })
    }
}
