//! Tables by which walks pass over what may follow a quote where any text may: below the quote's node, a trie is split as the whole
//! vocabulary is.

use std::sync::{Arc, PoisonError, RwLock};

use formwork_automaton::CharClass;
use rustc_hash::FxHashMap;

use crate::base::{Split, safe_characters};
use crate::trie::Trie;
use crate::vocabulary::Vocabulary;

/// The tokens below a node, by their bytes from there on.
#[derive(Debug)]
pub(crate) struct Quoted {
    /// Those that go on with text alone.
    pub(crate) text: Box<[u32]>,
    /// The others.
    pub(crate) rest: Trie,
    pub(crate) split: Split,
}

impl Quoted {
    fn new(vocabulary: &Vocabulary, trie: &Trie, at: u32) -> Self {
        let mut tokens = trie.tokens_from(trie.nodes()[at as usize]);
        tokens.retain(|(bytes, _)| !bytes.is_empty());
        tokens.sort_unstable();
        let (text, rest): (Vec<_>, Vec<_>) = tokens.into_iter().partition(|(bytes, _)| is_text(vocabulary, bytes));
        let others = || rest.iter().map(|(bytes, id)| (bytes.as_slice(), *id));
        Self {
            text: text.into_iter().map(|(_, id)| id).collect(),
            rest: Trie::from_sorted(others(), |_| 0),
            split: Split::new(vocabulary, CharClass::Text, others()),
        }
    }

    fn heap_bytes(&self) -> usize {
        self.text.len() * 4 + self.rest.heap_bytes() + self.split.heap_bytes()
    }
}

/// Whether bytes are text that is safe wherever any is.
fn is_text(vocabulary: &Vocabulary, bytes: &[u8]) -> bool {
    safe_characters(vocabulary, bytes).is_some_and(|(text, _)| text.chars().all(|c| CharClass::Text.contains(c)))
}

/// The tables of one vocabulary, by trie and node: there are only so many nodes of quotes.
#[derive(Debug, Default)]
pub(crate) struct QuotedTables(RwLock<FxHashMap<(u32, u32), Arc<Quoted>>>);

impl QuotedTables {
    /// The tokens below a node of one of the vocabulary's own tries.
    pub(crate) fn below(&self, vocabulary: &Vocabulary, trie: &Trie, at: u32) -> Arc<Quoted> {
        let key = (trie.id(), at);
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        known.unwrap_or_else(|| {
            let new = Arc::new(Quoted::new(vocabulary, trie, at));
            Arc::clone(self.0.write().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(new))
        })
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().map(|quoted| quoted.heap_bytes()).sum()
    }
}
