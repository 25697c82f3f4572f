//! Where masks are found by what they depend on.

use std::sync::atomic::{AtomicU32, Ordering};

use formwork_automaton::Table;

/// What is known under one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The mask with this index.
    Known(usize),
    /// The mask depends on one more frame at least.
    Deeper,
    /// The mask depends on data that no key covers.
    Dynamic,
}

impl Entry {
    /// `None` where the index of a mask is beyond what a word holds.
    fn to_word(self) -> Option<u32> {
        match self {
            Self::Deeper => Some(0),
            Self::Dynamic => Some(1),
            Self::Known(index) => u32::try_from(index).ok()?.checked_add(2),
        }
    }

    fn from_word(word: u32) -> Self {
        match word {
            0 => Self::Deeper,
            1 => Self::Dynamic,
            known => Self::Known(known as usize - 2),
        }
    }
}

/// Entries under keys of words. Keys are only added.
#[derive(Debug)]
pub(crate) struct Index(Table<Box<[u32]>, AtomicU32>);

impl Index {
    pub(crate) fn new() -> Self {
        Self(Table::new())
    }

    /// How many keys it has.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn get(&self, key: &[u32]) -> Option<Entry> {
        self.0.get(key).map(|entry| Entry::from_word(entry.load(Ordering::Acquire)))
    }

    /// Sets the entry of a key; gives the bytes that this takes, where the key is new.
    pub(crate) fn insert(&self, key: &[u32], entry: Entry) -> Option<usize> {
        let word = entry.to_word()?;
        if let Some(known) = self.0.get(key) {
            known.store(word, Ordering::Release);
            return None;
        }
        let (known, new) = self.0.insert(key.into(), AtomicU32::new(word));
        if new {
            return Some(Table::<Box<[u32]>, AtomicU32>::ENTRY_BYTES + size_of_val(key));
        }
        known.store(word, Ordering::Release);
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    fn entries() -> impl Strategy<Value = Entry> {
        prop_oneof![(0_usize..9).prop_map(Entry::Known), Just(Entry::Deeper), Just(Entry::Dynamic)]
    }

    proptest! {
        #[test]
        fn behaves_like_a_map(acts in proptest::collection::vec((proptest::collection::vec(0_u32..4, 0..4), entries()), 0..300)) {
            let (index, mut map) = (Index::new(), BTreeMap::new());
            for (key, entry) in acts {
                prop_assert_eq!(index.get(&key), map.get(&key).copied());
                let new = map.insert(key.clone(), entry).is_none();
                prop_assert_eq!(index.insert(&key, entry).is_some(), new);
            }
            prop_assert_eq!(index.len(), map.len());
            for (key, entry) in map {
                prop_assert_eq!(index.get(&key), Some(entry));
            }
        }
    }
}
