//! Languages that automata have in common.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use super::{ByteSet, Common, LangLimits, Langs};

/// Bytes from which on new automata begin with an empty store.
const MOST_BYTES: usize = 64 << 20;

/// Stores of languages that automata share, so that a pattern or a format which one of them has read is known to all. Cheap to clone.
///
/// A store that has grown to its bound, has left a question open or has refused a pattern is handed out no more; it goes with the last
/// automaton that uses it.
///
/// ```
/// use formwork_automaton::{Anchor, ByteSet, LangPool};
/// use formwork_grammar::Regex;
/// let pool = LangPool::default();
/// let [one, other] = [pool.langs(ByteSet::all()), pool.clone().langs(ByteSet::all())];
/// let hex = one.regex(&Regex::parse_ecma("^[0-9a-f]+$")?, Anchor::Search)?;
/// assert!(other.contains(hex, "cafe"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LangPool(Arc<Mutex<Vec<Arc<Common>>>>);

impl LangPool {
    /// The store of an alphabet's languages. What is asked of it counts as its own work alone.
    pub fn langs(&self, alphabet: ByteSet) -> Langs {
        let mut stores = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stores.retain(|store| !store.is_spent.load(Ordering::Relaxed) && store.heap_bytes() < MOST_BYTES);
        if let Some(known) = stores.iter().find(|store| store.alphabet == alphabet) {
            return Langs::of(Arc::clone(known));
        }
        let store = Arc::new(Common::new(alphabet, LangLimits::default()));
        stores.push(Arc::clone(&store));
        Langs::of(store)
    }

    /// Bytes held on the heap, roughly.
    pub fn heap_bytes(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|store| store.heap_bytes()).sum()
    }
}
