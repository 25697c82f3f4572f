//! A constraint compiled for one vocabulary, with the masks found so far.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use formwork_automaton::{Automaton, Fill};

use crate::artefact::Artefact;
use crate::cache::Generation;
use crate::error::Error;
use crate::matcher::Matcher;
use crate::vocabulary::Vocabulary;

/// How many bytes of masks a constraint keeps, unless told otherwise.
const DEFAULT_CACHE_BYTES: usize = 128 << 20;

/// An automaton, a vocabulary and the masks computed so far. Cheap to clone, shared by threads.
#[derive(Clone)]
pub struct CompiledConstraint {
    shared: Arc<Shared>,
}

struct Shared {
    vocabulary: Vocabulary,
    cache_bytes: usize,
    generation: RwLock<Arc<Generation>>,
    /// Masks computed ahead of time.
    artefact: Option<Artefact>,
    computed: AtomicU64,
    dynamic: AtomicU64,
    loaded: AtomicU64,
    renewals: AtomicU64,
    /// What automata that were replaced left undecided.
    undecided: AtomicU64,
}

/// Counts of a constraint's mask cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheStats {
    /// Distinct masks held.
    pub masks: usize,
    /// Keys that lead to them.
    pub keys: usize,
    /// Bytes held.
    pub bytes: usize,
    /// Bytes that may be held.
    pub budget: usize,
    /// Masks computed by a walk over the vocabulary, since the constraint was compiled.
    pub computed: u64,
    /// Of those, masks that depended on the sequence's own data and were not kept.
    pub dynamic: u64,
    /// Masks taken from an artefact instead.
    pub loaded: u64,
    /// How often the byte budget was reached and the cache started afresh.
    pub renewals: u64,
}

impl CompiledConstraint {
    /// Joins an automaton to the vocabulary that it was built for.
    ///
    /// # Errors
    /// Where the vocabulary has longer tokens than the automaton's horizon.
    pub fn new(automaton: Arc<dyn Automaton>, vocabulary: &Vocabulary) -> Result<Self, Error> {
        let longest = vocabulary.longest_token();
        let horizon = automaton.horizon();
        if longest > horizon as usize {
            return Err(Error::wrong_horizon(horizon, longest));
        }
        Ok(Self::with_parts(automaton, vocabulary.clone(), DEFAULT_CACHE_BYTES, None))
    }

    /// The same constraint with an empty cache that may grow to `bytes`.
    #[must_use]
    pub fn with_cache_bytes(&self, bytes: usize) -> Self {
        Self::with_parts(self.automaton(), self.vocabulary().clone(), bytes, self.artefact().cloned())
    }

    /// The same constraint with an empty cache and masks computed ahead of time: those that are there are taken over, not computed.
    /// `constraint` is what the artefact was [written](crate::Precomputed::to_bytes) with.
    ///
    /// # Errors
    /// Where the artefact was made for another constraint or vocabulary.
    pub fn with_artefact(&self, artefact: Artefact, constraint: &[u8; 32]) -> Result<Self, Error> {
        artefact.check(constraint, self.vocabulary())?;
        let bytes = self.shared.cache_bytes;
        Ok(Self::with_parts(self.automaton(), self.vocabulary().clone(), bytes, Some(artefact)))
    }

    fn with_parts(
        automaton: Arc<dyn Automaton>,
        vocabulary: Vocabulary,
        cache_bytes: usize,
        artefact: Option<Artefact>,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                vocabulary,
                cache_bytes,
                generation: RwLock::new(Arc::new(Generation::new(automaton, cache_bytes))),
                artefact,
                computed: AtomicU64::new(0),
                dynamic: AtomicU64::new(0),
                loaded: AtomicU64::new(0),
                renewals: AtomicU64::new(0),
                undecided: AtomicU64::new(0),
            }),
        }
    }

    /// A matcher at the start of a new sequence.
    pub fn matcher(&self) -> Matcher {
        self.replace_automaton();
        Matcher::new(self.clone())
    }

    /// The automaton that new sequences follow.
    pub fn automaton(&self) -> Arc<dyn Automaton> {
        Arc::clone(self.generation().automaton())
    }

    /// How often an undecided liveness question was answered with "not allowed".
    pub fn undecided(&self) -> u64 {
        self.shared.undecided.load(Ordering::Relaxed) + self.generation().automaton().undecided()
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.shared.vocabulary
    }

    /// What the mask cache holds and did.
    pub fn cache_stats(&self) -> CacheStats {
        let generation = self.generation();
        CacheStats {
            masks: generation.masks(),
            keys: generation.keys(),
            bytes: generation.bytes(),
            budget: self.shared.cache_bytes,
            computed: self.shared.computed.load(Ordering::Relaxed),
            dynamic: self.shared.dynamic.load(Ordering::Relaxed),
            loaded: self.shared.loaded.load(Ordering::Relaxed),
            renewals: self.shared.renewals.load(Ordering::Relaxed),
        }
    }

    /// The generation that new masks go to.
    pub(crate) fn generation(&self) -> Arc<Generation> {
        let current = self.shared.generation.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    /// The generation to use instead of a full one: started now, unless another thread has.
    pub(crate) fn renew(&self, full: &Arc<Generation>) -> Arc<Generation> {
        let mut current = self.shared.generation.write().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&current, full) {
            *current = Arc::new(Generation::new(Arc::clone(full.automaton()), self.shared.cache_bytes));
            self.shared.renewals.fetch_add(1, Ordering::Relaxed);
        }
        if Arc::ptr_eq(current.automaton(), full.automaton()) {
            return Arc::clone(&current);
        }
        // States of the sequence belong to an automaton that new sequences don't follow any more.
        Arc::new(Generation::new(Arc::clone(full.automaton()), self.shared.cache_bytes))
    }

    /// Starts a new automaton, where half of what the tables of the present one may hold is used.
    fn replace_automaton(&self) {
        if self.generation().automaton().fill() == Fill::Little {
            return;
        }
        let mut current = self.shared.generation.write().unwrap_or_else(PoisonError::into_inner);
        let old = current.automaton();
        if old.fill() == Fill::Little {
            return;
        }
        if let Some(automaton) = old.afresh() {
            self.shared.undecided.fetch_add(old.undecided(), Ordering::Relaxed);
            *current = Arc::new(Generation::new(automaton, self.shared.cache_bytes));
            self.shared.renewals.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Masks computed ahead of time.
    pub(crate) fn artefact(&self) -> Option<&Artefact> {
        self.shared.artefact.as_ref()
    }

    pub(crate) fn count_loaded(&self) {
        self.shared.loaded.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_walk(&self, dynamic: bool) {
        self.shared.computed.fetch_add(1, Ordering::Relaxed);
        if dynamic {
            self.shared.dynamic.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for CompiledConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledConstraint")
            .field("vocabulary", &self.shared.vocabulary)
            .field("cache", &self.cache_stats())
            .finish_non_exhaustive()
    }
}
