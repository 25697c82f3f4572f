//! What the entries of a schema's tables hold on the heap.

use super::array::{ArrayAtom, ArrayGroup, ArrayState, Counted};
use super::cover::{ArrayCover, ObjectCover};
use super::few::{FewValue, Values};
use super::fingerprint::Table;
use super::form::{Form, FormId};
use super::keys::{AtomKeys, KeyClass, KeyMachine, KeyRef};
use super::number::{NumberAtom, NumberTrack, Role, Rules, SpelledNumbers};
use super::object::{Member, ObjectAtom, ObjectGroup, ObjectState};
use super::situation::{ArrayAlt, Await, Bit, Goal, ObjectAlt, Situation, StringAlt};
use super::sketch::Sketch;
use super::string::StringAtom;
use super::typed::{Evaluated, Typed};
use crate::weigh::{Weigh, weighed, weightless};
use formwork_grammar::NodeId;

weightless!(
    FormId,
    NodeId,
    KeyRef,
    Table,
    Evaluated,
    Role,
    Member,
    StringAtom,
    StringAlt,
    Bit,
    Counted,
    super::liveness::Cheapest
);

weighed! {
    ArrayGroup { prefix }
    ArrayAtom { groups, contains }
    ArrayState { alts }
    ArrayCover { matching }
    ObjectGroup { properties, patterns }
    ObjectAtom { groups, required, not }
    ObjectState { alts, used }
    ObjectCover { names, patterns }
    KeyClass { matched }
    AtomKeys { forms, classes, required }
    Typed { numbers, strings, arrays, objects }
    Values { list }
    Goal { forms }
    ObjectAlt { ways, lifts }
    ArrayAlt { ways, bits }
}

/// What the digits of one number take.
const NUMBER_BYTES: usize = 32;

impl Weigh for NumberAtom {
    fn heap(&self) -> usize {
        4 * NUMBER_BYTES
    }
}

impl Weigh for Rules {
    fn heap(&self) -> usize {
        8 * NUMBER_BYTES
    }
}

impl Weigh for NumberTrack {
    fn heap(&self) -> usize {
        NUMBER_BYTES
    }
}

impl Weigh for SpelledNumbers {
    fn heap(&self) -> usize {
        self.len() * (size_of::<NumberTrack>() + NUMBER_BYTES)
    }
}

impl Weigh for FewValue {
    fn heap(&self) -> usize {
        // The value takes a few times what its text does.
        4 * self.key.len()
    }
}

impl Weigh for Sketch {
    fn heap(&self) -> usize {
        self.texts() * 64
    }
}

impl Weigh for KeyMachine {
    fn heap(&self) -> usize {
        // Each key has places in four lists and a map, and nodes in a trie.
        self.keys.len() * 128 + self.classes.heap()
    }
}

impl Weigh for Form {
    fn heap(&self) -> usize {
        match self {
            Self::False | Self::True | Self::Node(_) | Self::Not(_) => 0,
            Self::Value(text) | Self::Spelled(_, text) => text.heap(),
            Self::And(parts) | Self::Or(parts) => parts.heap(),
        }
    }
}

impl Weigh for Situation {
    fn heap(&self) -> usize {
        match self {
            Self::Strings { alts, .. } => alts.heap(),
            Self::Number { alts, .. } | Self::LongNumber { alts, .. } => alts.heap(),
            _ => 0,
        }
    }
}

impl Weigh for Await {
    fn heap(&self) -> usize {
        match self {
            Self::Object { alts, used, .. } => alts.heap() + used.heap(),
            Self::Array { alts, .. } => alts.heap(),
        }
    }
}
