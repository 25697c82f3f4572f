//! Finite sets of texts, kept sorted: a state is the range of texts that share what was read.

use std::sync::Arc;

use super::byte_classes::{ByteClasses, Partition};
use super::byte_set::ByteSet;
use crate::interner::to_u32;

/// A finite set of texts, sorted by their bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Literals(Arc<[Box<str>]>);

impl Literals {
    /// The texts that the alphabet can spell.
    pub(super) fn new<'a>(texts: impl IntoIterator<Item = &'a str>, alphabet: &ByteSet) -> Self {
        let full = *alphabet == ByteSet::all();
        let mut list: Vec<Box<str>> = texts
            .into_iter()
            .filter(|text| full || text.bytes().all(|b| alphabet.contains(b)))
            .map(Box::from)
            .collect();
        if !list.is_sorted() {
            list.sort_unstable();
        }
        list.dedup();
        Self(list.into())
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The texts, sorted by their bytes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|text| &**text)
    }

    /// The bytes that some text holds, each told apart.
    pub(super) fn classes(&self, base: &ByteClasses) -> ByteClasses {
        let mut used = ByteSet::empty();
        for byte in self.iter().flat_map(str::bytes) {
            used.insert(byte);
        }
        let mut partition = Partition::from_classes(base);
        partition.split(used.iter().map(|byte| (byte, byte, u16::from(byte))));
        partition.finish()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.iter().map(|text| text.len() + 16).sum()
    }
}

/// The texts `first..last`, which agree in their first `depth` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Range {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) depth: u32,
}

impl Range {
    pub(super) fn all(literals: &Literals) -> Self {
        Self { first: 0, last: to_u32(literals.len()), depth: 0 }
    }

    fn texts(self, literals: &Literals) -> &[Box<str>] {
        literals.0.get(self.first as usize..self.last as usize).unwrap_or_default()
    }

    /// The texts that go on with this byte.
    pub(super) fn step(self, literals: &Literals, byte: u8) -> Option<Self> {
        let texts = self.texts(literals);
        let depth = self.depth as usize;
        let at = |text: &str| text.as_bytes().get(depth).copied();
        // A text that ends here is the least of the range, and sorts before any byte.
        let from = texts.partition_point(|text| at(text) < Some(byte));
        let to = from + texts.get(from..)?.partition_point(|text| at(text) == Some(byte));
        (from < to).then(|| Self {
            first: self.first + to_u32(from),
            last: self.first + to_u32(to),
            depth: self.depth + 1,
        })
    }

    pub(super) fn is_accepting(self, literals: &Literals) -> bool {
        self.texts(literals).first().is_some_and(|text| text.len() == self.depth as usize)
    }

    /// The fewest bytes, and the fewest characters begun, to the end of one of the texts.
    pub(super) fn distances(self, literals: &Literals) -> (u32, u32) {
        let depth = self.depth as usize;
        let texts = self.texts(literals);
        let chars = |bytes: &[u8]| bytes.iter().filter(|b| !matches!(b, 0x80..=0xBF)).count();
        let rest = |text: &str| text.as_bytes().get(depth..).map_or((0, 0), |rest| (rest.len(), chars(rest)));
        let (mut bytes, mut characters) = (usize::MAX, usize::MAX);
        for text in texts {
            if text.len() - depth < bytes.min(characters) || !text.is_ascii() {
                let (b, c) = rest(text);
                bytes = bytes.min(b);
                characters = characters.min(c);
            }
        }
        (to_u32(bytes), to_u32(characters))
    }
}
