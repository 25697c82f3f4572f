//! Work space for walks, lent to whichever matcher computes a mask, so that matchers stay small.

use std::sync::{Mutex, PoisonError};

use crate::vocabulary::Vocabulary;
use crate::walk::Scratch;

/// The work space that is not in use. There is as much as walks ever went on at once.
#[derive(Debug, Default)]
pub(crate) struct ScratchPool {
    // Held only to take one or put one back, never during a walk.
    idle: Mutex<Vec<Scratch>>,
}

impl ScratchPool {
    /// Work space for a walk over the vocabulary, made now where none is idle.
    pub(crate) fn take(&self, vocabulary: &Vocabulary) -> Scratch {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(mut scratch) = idle else { return Scratch::new(vocabulary) };
        if scratch.mask.vocabulary_len() != vocabulary.len() {
            // A matcher took the mask and had none to give in exchange.
            scratch.mask.reset(vocabulary.len());
        }
        scratch
    }

    /// Puts it back for the next walk.
    pub(crate) fn give_back(&self, scratch: Scratch) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
    }

    /// Bytes held on the heap by what is idle.
    pub(crate) fn heap_bytes(&self) -> usize {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.iter().map(|scratch| size_of::<Scratch>() + scratch.heap_bytes()).sum()
    }
}
