//! Shared states: where in a value the text stands, and what comes back when a value ends.

use super::JsonAutomaton;
use super::form::FormId;
use super::literal::Literal;
use super::space::Gap;

/// The tag of a string that stands for any text, of which frames say what follows it.
pub(super) const FREE: u16 = u16::MAX;

/// The tags of the alternatives that accepted a value, ascending.
pub(super) type TagSet = Box<[u16]>;

/// What a value is asked: for each tag a form. The tags of the forms that the value satisfies are the answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Goal {
    /// The form of each tag.
    pub(super) forms: Box<[FormId]>,
    /// The value must satisfy one of the forms with a tag below this one; the others only watch: what they say matters to what may
    /// follow, but none of them makes the value one that is allowed.
    pub(super) active: u16,
    /// Which schemas set the property order here.
    pub(super) position: u32,
}

impl Goal {
    /// A goal whose first `active` forms are asked for, and whose others only watch.
    pub(super) fn new(forms: Vec<FormId>, active: usize, position: u32) -> Self {
        Self { forms: forms.into(), active: u16::try_from(active).unwrap_or(u16::MAX), position }
    }
}

/// A shared state. What it counts with stands in the [`State`](crate::State)'s words, as noted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Situation {
    /// The root value has ended.
    Done,
    /// Before a value. a: blanks read; b: the object's keys are kept in its frame.
    Value { goal: u32, gap: Gap },
    /// In a string with one alternative. a: characters read; b: the escape being read; c: the language's state. `near`: that stands for
    /// those which the next token won't tell from it, and characters are not counted.
    String { tag: u16, min: u32, max: Option<u32>, near: bool },
    /// In a string with several alternatives. a: characters read; b: the escape being read.
    Strings { alts: Box<[StringAlt]>, active: u16 },
    /// In a number.
    Number { alts: Box<[(u16, u32)]>, active: u16 },
    /// In a number whose text the sequence keeps: tags and atoms. c: where the text begins.
    LongNumber { alts: Box<[(u16, u32)]>, active: u16 },
    /// In a literal, `at` bytes of it read; the tags that it will have.
    Literal { literal: Literal, at: u8, tags: u32 },
    /// After `{`. a: blanks read; c: keys used.
    ObjectOpen { object: u32 },
    /// After a member's value. a: blanks read; c: keys used.
    ObjectNext { object: u32 },
    /// After `,` in an object. a: blanks read; c: keys used.
    ObjectComma { object: u32 },
    /// In a key; its frame holds the keys used and where the key's text begins. a: the key trie's node; b: the escape being read;
    /// c: the state of the language of other keys. `near`: what the text leads to in languages matters only as far as the next token tells.
    Key { object: u32, near: bool },
    /// In a key of a class, none of those known or used, where no key of another class may come; its text is not kept. b: the escape being read; c: the
    /// state of the language of other keys.
    FreeKey { object: u32, class: u32 },
    /// After a key. a: blanks read; c: keys used, this one too where it must be remembered.
    Colon { goal: u32, member: u32 },
    /// After `[`. a: blanks read; b: no items yet.
    ArrayOpen { array: u32 },
    /// After an item. a: blanks read; b: the items so far, where somebody compares them; c: their number.
    ArrayNext { array: u32 },
    /// After `,` in an array. a: blanks read; b: the items so far, where somebody compares them; c: their number.
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

/// What a frame waits for: the container's alternatives after the member, by the tags that the member's value has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Await {
    /// A member's value.
    Object { alts: Box<[ObjectAlt]>, machine: u32, next: u32, used: Box<[u32]>, count: u32, active: u16 },
    /// An item, of which the goal is asked.
    Array { alts: Box<[ArrayAlt]>, goal: u32, index: u32, position: u32, active: u16 },
}

/// An object's alternative while a member's value is read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ObjectAlt {
    /// The alternative's own tag.
    pub(super) tag: u16,
    /// (tag of a form in the member's goal, the atom that is left at least where the value satisfies it); the alternative needs
    /// one of them.
    pub(super) ways: Box<[(u16, u32)]>,
    /// The atom that is left where nothing is lifted.
    pub(super) base: u32,
    /// (tag of a form, the excluded atom that fails where the value satisfies it)
    pub(super) lifts: Box<[(u16, u32)]>,
}

/// An array's alternative while an item is read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ArrayAlt {
    /// The alternative's own tag.
    pub(super) tag: u16,
    /// (tag of a form in the item's goal, the atom that is left then); the alternative needs one of them.
    pub(super) ways: Box<[(u16, u32)]>,
    /// The atom before the item.
    pub(super) base: u32,
    pub(super) bits: Box<[Bit]>,
}

/// Where a goal says whether an item is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Bit {
    /// Place of the counted form in its atom.
    pub(super) index: u32,
    /// The form's tag.
    pub(super) yes: u16,
    /// Its negation's tag. Where a limit has made the alternatives fewer, neither may be among the answers.
    pub(super) no: u16,
}

impl Bit {
    /// A tag that no value has.
    pub(super) const NOTHING: u16 = u16::MAX;
}

impl JsonAutomaton {
    /// The interned set with these tags; `None` where there is none.
    pub(super) fn tags(&self, tags: impl IntoIterator<Item = u16>) -> Option<u32> {
        self.answer(tags, u16::MAX)
    }

    /// The interned set with these tags; `None` where none of them is active.
    pub(super) fn answer(&self, tags: impl IntoIterator<Item = u16>, active: u16) -> Option<u32> {
        let mut tags: Vec<u16> = tags.into_iter().collect();
        tags.sort_unstable();
        tags.dedup();
        tags.first().is_some_and(|tag| *tag < active).then(|| self.tag_sets.intern(tags.into()))
    }

    /// The situation after a member or an item has ended with these tags; `None` where no alternative is left, which takes a
    /// limit that was met. `repeated`: the item equals one before it.
    pub(super) fn pop(&self, awaits: u32, tags: u32, repeated: bool) -> Option<u32> {
        self.pops.get_or((awaits, tags, repeated), || {
            let tags = self.tag_sets.get(tags);
            let has = |tag: u16| tags.binary_search(&tag).is_ok();
            let (situation, alive) = match self.awaits.get(awaits) {
                Await::Object { alts, machine, next, used, count, active } => {
                    let kept: Box<[(u16, u32)]> = alts
                        .iter()
                        .filter(|alt| alt.ways.iter().any(|(form, _)| has(*form)))
                        .map(|alt| {
                            let lifted = |not: &u32| alt.lifts.iter().any(|(form, n)| n == not && has(*form));
                            (alt.tag, self.excluding(alt.base, |not| !lifted(not)))
                        })
                        .collect();
                    let alive = kept.iter().any(|(tag, _)| tag < active);
                    let object = self.object_state(kept, *machine, *next, used.clone(), *count, *active);
                    (Situation::ObjectNext { object }, alive)
                }
                Await::Array { alts, index, position, active, .. } => {
                    let kept: Box<[(u16, u32)]> = alts
                        .iter()
                        .filter(|alt| alt.ways.iter().any(|(form, _)| has(*form)))
                        .filter_map(|alt| {
                            let bits = |index: u32| alt.bits.iter().filter(move |bit| bit.index == index);
                            let surely = |index: u32| bits(index).any(|bit| has(bit.yes));
                            let perhaps =
                                |index: u32| bits(index).next().is_some() && !bits(index).any(|bit| has(bit.no));
                            let base = if repeated { self.after_repeat(alt.base)? } else { alt.base };
                            Some((alt.tag, self.after_item(base, &surely, &perhaps)?))
                        })
                        .collect();
                    let alive = kept.iter().any(|(tag, _)| tag < active);
                    (Situation::ArrayNext { array: self.array_state(kept, *index, *position, *active) }, alive)
                }
            };
            alive.then(|| self.situations.intern(situation))
        })
    }
}
