//! Append-only stores that many threads share.

use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::table::Table;
use crate::weigh::Weigh;

/// What an entry of a table takes besides its value: counters, a slot in a list and a node in a table.
const ENTRY_BYTES: usize = 72;

/// Gives equal values one id, without a lock.
pub(crate) struct Interner<T> {
    items: boxcar::Vec<Arc<T>>,
    ids: Table<Arc<T>, u32>,
    bytes: AtomicUsize,
}

impl<T: Eq + Hash + Weigh> Interner<T> {
    pub(crate) fn new() -> Self {
        Self { items: boxcar::Vec::new(), ids: Table::new(), bytes: AtomicUsize::new(0) }
    }

    pub(crate) fn intern(&self, value: T) -> u32 {
        if let Some(&id) = self.ids.get(&value) {
            return id;
        }
        let value = Arc::new(value);
        self.bytes.fetch_add(value.heap() + ENTRY_BYTES, Ordering::Relaxed);
        let id = to_u32(self.items.push(Arc::clone(&value)));
        // Where another thread has added the value meanwhile, its id is the one, and this one is never used.
        *self.ids.insert(value, id).0
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

/// A table of results that are computed once, read and added to without a lock.
pub(crate) struct Memo<K, V> {
    known: Table<K, V>,
    bytes: AtomicUsize,
}

impl<K: Eq + Hash + Weigh, V: Clone + Weigh> Memo<K, V> {
    pub(crate) fn new() -> Self {
        Self { known: Table::new(), bytes: AtomicUsize::new(0) }
    }

    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.known.get(key).cloned()
    }

    /// Bytes held on the heap, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The result for `key`; `compute` may ask the same table.
    pub(crate) fn get_or(&self, key: K, compute: impl FnOnce() -> V) -> V {
        if let Some(value) = self.get(&key) {
            return value;
        }
        let value = compute();
        let bytes = Table::<K, V>::ENTRY_BYTES + key.heap() + value.heap();
        let (value, new) = self.known.insert(key, value);
        if new {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        value.clone()
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
