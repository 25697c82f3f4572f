//! Parts of masks that all constraints have in common: what follows at a node of a trie within any text, and where a value or a key has ended.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use formwork_automaton::{Ending, Opening, TextKind};
use rustc_hash::FxHashMap;

use crate::cache::Part;

/// What a state is like, a trie, and a node of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CommonPlace {
    pub(crate) like: Like,
    pub(crate) trie: u32,
    pub(crate) node: u32,
}

/// What states have in common, whatever the constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Like {
    Text(TextKind),
    Ending(Ending),
    Opening(Opening),
}

/// The parts of one vocabulary.
#[derive(Debug, Default)]
pub(crate) struct CommonParts {
    parts: RwLock<FxHashMap<CommonPlace, Arc<Part>>>,
    bytes: AtomicUsize,
}

/// Parts that come when the others hold so many bytes are not kept: most constraints need a few hundred small ones.
const MOST_BYTES: usize = 1 << 25;

impl CommonParts {
    pub(crate) fn get(&self, place: &CommonPlace) -> Option<Arc<Part>> {
        self.parts.read().unwrap_or_else(PoisonError::into_inner).get(place).cloned()
    }

    pub(crate) fn put(&self, place: CommonPlace, part: &Arc<Part>) {
        let bytes = size_of::<(CommonPlace, Arc<Part>, Part)>() + part.heap_bytes();
        if self.bytes.load(Ordering::Relaxed) + bytes > MOST_BYTES {
            return;
        }
        let mut parts = self.parts.write().unwrap_or_else(PoisonError::into_inner);
        if parts.insert(place, Arc::clone(part)).is_none() {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}
