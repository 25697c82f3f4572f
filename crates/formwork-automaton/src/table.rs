//! A table that threads read and add to without a lock.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use rustc_hash::FxHasher;

/// Values under keys, for shared tables: entries are only added, and the first one under a key stays.
///
/// It is a tree by the bits of the keys' hashes, each node with an entry of its own, so that nothing ever moves: a node is complete before
/// a link to it is set, and a link is set once.
///
/// ```
/// let table = formwork_automaton::Table::new();
/// assert_eq!(table.insert("a", 1), (&1, true));
/// assert_eq!(table.insert("a", 2), (&1, false));
/// assert_eq!((table.get("a"), table.get("b"), table.len()), (Some(&1), None, 1));
/// ```
pub struct Table<K, V> {
    roots: [Link; 1 << ROOT_BITS],
    nodes: boxcar::Vec<Node<K, V>>,
    len: AtomicUsize,
}

const ROOT_BITS: u32 = 5;

/// Below each node there are four, by two bits of the hash.
const BITS: u32 = 2;

struct Node<K, V> {
    hash: u64,
    key: K,
    value: V,
    below: [Link; 1 << BITS],
}

/// A node's number, counted from 1, or 0 for none yet.
#[derive(Default)]
struct Link(AtomicU32);

impl<K: Eq + Hash, V> Table<K, V> {
    /// Bytes that an entry takes, but for what its key and its value hold on the heap.
    pub const ENTRY_BYTES: usize = size_of::<Node<K, V>>();

    /// An empty table.
    pub fn new() -> Self {
        Self { roots: std::array::from_fn(|_| Link::default()), nodes: boxcar::Vec::new(), len: AtomicUsize::new(0) }
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value under a key.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let hash = hash_of(key);
        let mut way = Way::new(self, hash);
        while let Some(node) = self.node(way.link) {
            if node.hash == hash && node.key.borrow() == key {
                return Some(&node.value);
            }
            way.follow(node);
        }
        None
    }

    /// Adds a value, unless there is one under the key; gives the one that is then there, and whether it is new.
    ///
    /// # Panics
    /// Where it would have more than 2³² entries.
    pub fn insert(&self, key: K, value: V) -> (&V, bool) {
        let hash = hash_of(&key);
        let mut way = Way::new(self, hash);
        // Past the nodes that are there, so that none is made in vain.
        while let Some(node) = self.node(way.link) {
            if node.hash == hash && node.key == key {
                return (&node.value, false);
            }
            way.follow(node);
        }
        let index = self.nodes.push(Node { hash, key, value, below: Default::default() });
        let number = u32::try_from(index + 1).expect("a table has at most 2³² entries");
        let new = &self.nodes[index];
        loop {
            if way.link.0.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                self.len.fetch_add(1, Ordering::Relaxed);
                return (&new.value, true);
            }
            // Another thread was here first. Where it has added this very key, the new node is never linked.
            while let Some(node) = self.node(way.link) {
                if node.hash == hash && node.key == new.key {
                    return (&node.value, false);
                }
                way.follow(node);
            }
        }
    }

    fn node(&self, link: &Link) -> Option<&Node<K, V>> {
        let number = link.0.load(Ordering::Acquire);
        self.nodes.get((number as usize).wrapping_sub(1))
    }
}

/// The way down the tree to where a key is, or would be.
struct Way<'a> {
    link: &'a Link,
    /// The bits of the hash that have not chosen a link yet.
    bits: u64,
}

impl<'a> Way<'a> {
    fn new<K, V>(table: &'a Table<K, V>, hash: u64) -> Self {
        Self { link: &table.roots[lowest(hash, ROOT_BITS)], bits: hash >> ROOT_BITS }
    }

    fn follow<K, V>(&mut self, node: &'a Node<K, V>) {
        self.link = &node.below[lowest(self.bits, BITS)];
        self.bits >>= BITS;
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a few bits")]
const fn lowest(hash: u64, bits: u32) -> usize {
    hash as usize & ((1 << bits) - 1)
}

fn hash_of<Q: Hash + ?Sized>(key: &Q) -> u64 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    hasher.finish()
}

impl<K: Eq + Hash, V> Default for Table<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Eq + Hash, V> fmt::Debug for Table<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({})", self.len())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Barrier;

    use super::*;
    use proptest::prelude::*;

    /// A key with few hashes, so that many of them are equal.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Crowded(u32);

    impl Hash for Crowded {
        fn hash<H: Hasher>(&self, state: &mut H) {
            (self.0 % 3).hash(state);
        }
    }

    proptest! {
        #[test]
        fn behaves_like_a_map(acts in proptest::collection::vec((0_u32..200, 0_u32..9), 0..300)) {
            let (table, crowded, mut map) = (Table::new(), Table::new(), BTreeMap::new());
            for (key, value) in acts {
                prop_assert_eq!(table.get(&key), map.get(&key));
                let new = !map.contains_key(&key);
                let first = *map.entry(key).or_insert(value);
                prop_assert_eq!(table.insert(key, value), (&first, new));
                prop_assert_eq!(crowded.insert(Crowded(key), value), (&first, new));
            }
            prop_assert_eq!((table.len(), crowded.len()), (map.len(), map.len()));
            for (key, value) in map {
                prop_assert_eq!((table.get(&key), crowded.get(&Crowded(key))), (Some(&value), Some(&value)));
            }
        }
    }

    #[test]
    fn threads_that_add_the_same_keys_agree() {
        const THREADS: u32 = 8;
        const KEYS: u32 = 5_000;
        let (table, barrier) = (Table::new(), Barrier::new(THREADS as usize));
        let (table, barrier) = (&table, &barrier);
        let threads: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let add = |thread: u32| {
                barrier.wait();
                // Some begin at the other end.
                let key = |n| if thread.is_multiple_of(2) { n } else { KEYS - 1 - n };
                let mut seen: Vec<(u32, u32)> = (0..KEYS).map(|n| (key(n), *table.insert(key(n), thread).0)).collect();
                seen.sort_unstable();
                seen.into_iter().map(|(_, by)| by).collect()
            };
            let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || add(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(table.len(), KEYS as usize);
        for seen in threads {
            assert!((0..KEYS).zip(seen).all(|(key, by)| table.get(&key) == Some(&by)));
        }
        assert_eq!(table.get(&KEYS), None);
    }
}
