//! Append-only stores that many threads share.

use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::weigh::Weigh;

/// What an entry of a table takes besides its value: counters, a slot in a list and one in a map.
const ENTRY_BYTES: usize = 48;

/// Gives equal values one id. Values are read without a lock; only finding or adding an id takes one.
pub(crate) struct Interner<T> {
    items: boxcar::Vec<Arc<T>>,
    ids: RwLock<FxHashMap<Arc<T>, u32>>,
    bytes: AtomicUsize,
}

impl<T: Eq + Hash + Weigh> Interner<T> {
    pub(crate) fn new() -> Self {
        Self { items: boxcar::Vec::new(), ids: RwLock::default(), bytes: AtomicUsize::new(0) }
    }

    pub(crate) fn intern(&self, value: T) -> u32 {
        if let Some(&id) = self.ids.read().unwrap_or_else(PoisonError::into_inner).get(&value) {
            return id;
        }
        let mut ids = self.ids.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = ids.get(&value) {
            return id;
        }
        let value = Arc::new(value);
        self.bytes.fetch_add(value.heap() + ENTRY_BYTES, Ordering::Relaxed);
        let id = to_u32(self.items.push(Arc::clone(&value)));
        ids.insert(value, id);
        id
    }

    /// The value of an id that [`Interner::intern`] gave.
    pub(crate) fn get(&self, id: u32) -> &T {
        &self.items[id as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.items.count()
    }

    /// Bytes held on the heap, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl<T> std::fmt::Debug for Interner<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Interner({})", self.items.count())
    }
}

/// A table of results that are computed once.
pub(crate) struct Memo<K, V> {
    known: RwLock<FxHashMap<K, V>>,
    bytes: AtomicUsize,
}

impl<K: Eq + Hash + Weigh, V: Clone + Weigh> Memo<K, V> {
    pub(crate) fn new() -> Self {
        Self { known: RwLock::default(), bytes: AtomicUsize::new(0) }
    }

    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub(crate) fn insert(&self, key: K, value: V) {
        let bytes = size_of::<(K, V)>() + key.heap() + value.heap();
        if self.known.write().unwrap_or_else(PoisonError::into_inner).insert(key, value).is_none() {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Bytes held on the heap, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The result for `key`; `compute` runs without the lock, so it may ask the same table.
    pub(crate) fn get_or(&self, key: K, compute: impl FnOnce() -> V) -> V {
        if let Some(value) = self.get(&key) {
            return value;
        }
        let value = compute();
        self.insert(key, value.clone());
        value
    }
}

impl<K, V> std::fmt::Debug for Memo<K, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Memo")
    }
}

/// A length or an index as a word; one beyond 2³²−1 becomes the last, which is then never valid.
pub(crate) fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
