//! Parts of masks that all constraints have in common: what follows at a node of a trie within any text.

use std::sync::{Arc, PoisonError, RwLock};

use formwork_automaton::TextKind;
use rustc_hash::FxHashMap;

use crate::cache::Part;

/// How text is read, a trie, and a node of it.
pub(crate) type TextPlace = (TextKind, u32, u32);

/// The parts of one vocabulary. There are only so many nodes, and so many places in an escape at which one of them begins.
#[derive(Debug, Default)]
pub(crate) struct TextParts(RwLock<FxHashMap<TextPlace, Arc<Part>>>);

impl TextParts {
    pub(crate) fn get(&self, place: &TextPlace) -> Option<Arc<Part>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(place).cloned()
    }

    pub(crate) fn put(&self, place: TextPlace, part: &Arc<Part>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).entry(place).or_insert_with(|| Arc::clone(part));
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let parts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        parts.values().map(|part| size_of::<(TextPlace, Part)>() + part.heap_bytes()).sum()
    }
}
