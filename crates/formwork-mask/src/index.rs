//! Where masks are found by what they depend on: a table that threads read and add to without a lock.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use rustc_hash::FxHasher;

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
///
/// It is a tree by the bits of the keys' hashes, each node with a key of its own, so that nothing ever moves: a node is complete before a
/// link to it is set, and a link is set once.
#[derive(Debug)]
pub(crate) struct Index {
    roots: [Link; 1 << ROOT_BITS],
    nodes: boxcar::Vec<Node>,
    keys: AtomicUsize,
}

const ROOT_BITS: u32 = 6;

/// Below each node there are four, by two bits of the hash.
const BITS: u32 = 2;

#[derive(Debug)]
struct Node {
    hash: u64,
    key: Box<[u32]>,
    entry: AtomicU32,
    below: [Link; 1 << BITS],
}

/// A node's number, counted from 1, or 0 for none yet.
#[derive(Debug, Default)]
struct Link(AtomicU32);

impl Index {
    pub(crate) fn new() -> Self {
        Self { roots: std::array::from_fn(|_| Link::default()), nodes: boxcar::Vec::new(), keys: AtomicUsize::new(0) }
    }

    /// How many keys it has.
    pub(crate) fn len(&self) -> usize {
        self.keys.load(Ordering::Relaxed)
    }

    pub(crate) fn get(&self, key: &[u32]) -> Option<Entry> {
        let mut hash = hash_of(key);
        let (whole, mut link) = (hash, &self.roots[take_bits(&mut hash, ROOT_BITS)]);
        while let Some(node) = self.follow(link) {
            if node.hash == whole && *node.key == *key {
                return Some(Entry::from_word(node.entry.load(Ordering::Acquire)));
            }
            link = &node.below[take_bits(&mut hash, BITS)];
        }
        None
    }

    /// Sets the entry of a key; gives the bytes that this takes, where the key is new.
    pub(crate) fn insert(&self, key: &[u32], entry: Entry) -> Option<usize> {
        let word = entry.to_word()?;
        let mut hash = hash_of(key);
        let (whole, mut link) = (hash, &self.roots[take_bits(&mut hash, ROOT_BITS)]);
        let mut new = None;
        loop {
            let Some(node) = self.follow(link) else {
                let number = match new {
                    Some(number) => number,
                    None => self.push(Node::new(whole, key, word))?,
                };
                new = Some(number);
                if link.0.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                    self.keys.fetch_add(1, Ordering::Relaxed);
                    return Some(size_of::<Node>() + size_of_val(key));
                }
                // Another thread was here first: it may have added this very key, and then the new node is never linked.
                continue;
            };
            if node.hash == whole && *node.key == *key {
                node.entry.store(word, Ordering::Release);
                return None;
            }
            link = &node.below[take_bits(&mut hash, BITS)];
        }
    }

    fn follow(&self, link: &Link) -> Option<&Node> {
        let number = link.0.load(Ordering::Acquire);
        self.nodes.get((number as usize).wrapping_sub(1))
    }

    /// The number of a new node; `None` where all are used.
    fn push(&self, node: Node) -> Option<u32> {
        u32::try_from(self.nodes.push(node)).ok()?.checked_add(1)
    }
}

impl Node {
    fn new(hash: u64, key: &[u32], entry: u32) -> Self {
        Self { hash, key: key.into(), entry: AtomicU32::new(entry), below: std::array::from_fn(|_| Link::default()) }
    }
}

fn hash_of(key: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    hasher.finish()
}

/// The lowest bits, which are then gone.
#[expect(clippy::cast_possible_truncation, reason = "a few bits")]
fn take_bits(hash: &mut u64, bits: u32) -> usize {
    let taken = *hash as usize & ((1 << bits) - 1);
    *hash >>= bits;
    taken
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Barrier;

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

    #[test]
    fn threads_that_add_the_same_keys_agree() {
        const THREADS: usize = 8;
        const KEYS: u32 = 5_000;
        let (index, barrier) = (Index::new(), Barrier::new(THREADS));
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (index, barrier) = (&index, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    let mut new = 0;
                    for n in 0..KEYS {
                        // Some begin at the other end.
                        let n = if thread % 2 == 0 { n } else { KEYS - 1 - n };
                        new += usize::from(index.insert(&[n, 7], Entry::Known(n as usize)).is_some());
                        assert_eq!(index.get(&[n, 7]), Some(Entry::Known(n as usize)));
                    }
                    new
                });
            }
        });
        assert_eq!(index.len(), KEYS as usize);
        for n in 0..KEYS {
            assert_eq!(index.get(&[n, 7]), Some(Entry::Known(n as usize)));
        }
        assert_eq!(index.get(&[KEYS, 7]), None);
    }
}
