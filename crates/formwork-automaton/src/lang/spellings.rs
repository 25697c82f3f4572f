//! All character classes of a store, each spelled once.

use rustc_hash::FxHashMap;

use super::byte_classes::{ByteClasses, Partition};
use super::byte_set::ByteSet;
use super::program::SpellingId;
use super::spelling::Spelling;

type Ranges = Box<[(char, char)]>;

/// Spelled classes, shared by all patterns.
#[derive(Debug)]
pub(super) struct Spellings {
    alphabet: ByteSet,
    /// What UTF-8 alone tells apart.
    base: ByteClasses,
    list: Vec<Spelling>,
    known: FxHashMap<Ranges, Option<SpellingId>>,
    bytes: usize,
}

impl Spellings {
    pub(super) fn new(alphabet: ByteSet) -> Self {
        Self {
            alphabet,
            base: Partition::of_alphabet(&alphabet).finish(),
            list: Vec::new(),
            known: FxHashMap::default(),
            bytes: 0,
        }
    }

    /// The class's spelling; `None` where the alphabet spells none of its characters.
    pub(super) fn intern(&mut self, chars: &[(char, char)]) -> Option<SpellingId> {
        if let Some(&known) = self.known.get(chars) {
            return known;
        }
        let id = Spelling::new(chars, &self.alphabet, &self.base).and_then(|spelling| {
            let id = SpellingId::try_from(self.list.len()).ok()?;
            self.bytes += spelling.heap_bytes();
            self.list.push(spelling);
            Some(id)
        });
        self.known.insert(chars.into(), id);
        id
    }

    pub(super) fn all(&self) -> &[Spelling] {
        &self.list
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn base(&self) -> &ByteClasses {
        &self.base
    }
}
