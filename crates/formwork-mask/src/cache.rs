//! The masks computed so far for one constraint, found by what they depend on.
//!
//! A *generation* only grows. When it has reached its byte budget the constraint starts a new one; matchers change over at their next
//! mask, and the old one is freed with the last of them. The automaton whose states the masks belong to grows too: sequences that begin
//! when half of its budget is used begin in a new generation with a new automaton.

use std::hash::Hash;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use formwork_automaton::{Automaton, Frames, Key, State};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use crate::index::{Entry, Index};
use crate::mask::Mask;
use crate::trie::{Node, Trie};
use crate::vocabulary::Vocabulary;
use crate::walk::{BaseRow, Scratch, Walked, is_allowed};

/// How many hints are kept.
const HINTS: usize = 256;

/// A stored mask: the tokens that a base and parts have not, or a whole row.
#[derive(Debug)]
struct Stored {
    base: Option<BaseRow>,
    /// Parts whose rows it has, but for the tokens taken out of them.
    parts: Box<[Arc<Part>]>,
    removed: Box<[u32]>,
    added: Box<[u32]>,
    /// Tokens that are read anew at each use.
    open: Box<[u32]>,
    /// The whole row: made at the second use, so that further ones only borrow it.
    row: OnceLock<Mask>,
    uses: AtomicU32,
}

/// Tokens that several masks have in common: those below a node of a trie, from a state whatever the frames below it are.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) tokens: Box<[u32]>,
    /// The same as a row, where they are many and many masks have them.
    pub(crate) row: Option<Mask>,
    /// Tokens that data decides about.
    pub(crate) open: Box<[u32]>,
    /// What is left to the mask.
    pub(crate) pending: Box<[Pending]>,
    /// The same by what follows the closing quote, where text is read that may end in any way.
    pub(crate) closings: Option<Closings>,
}

/// Tokens that end a text: what follows its closing quote.
#[derive(Debug)]
pub(crate) struct Closings {
    /// Of all of them, and of those that have a character before the quote.
    all: Arc<Tails>,
    later: Option<Arc<Tails>>,
}

/// Ends of tokens.
#[derive(Debug)]
pub(crate) struct Tails {
    /// From the quote on: it is the only node of the first level.
    pub(crate) trie: Trie,
    /// The text and the quote of one of the tokens.
    pub(crate) text: Box<[u8]>,
}

impl Closings {
    /// The tokens of all nodes at which a part has left what a closing quote leads to; `None` where there are none.
    pub(crate) fn new(trie: &Trie, pending: &[Pending]) -> Option<Self> {
        let tails = |is_of: &dyn Fn(&Pending) -> bool| {
            let of = || pending.iter().filter(|pending| is_of(pending));
            let from_quote = |(tail, id): (Vec<u8>, u32)| ([&b"\""[..], &tail].concat(), id);
            let mut tokens: Vec<(Vec<u8>, u32)> =
                of().flat_map(|pending| trie.tokens_from(pending.node)).map(from_quote).collect();
            tokens.sort_unstable();
            let trie = Trie::from_sorted(tokens.iter().map(|(tail, id)| (tail.as_slice(), *id)), |_| 0);
            Some(Arc::new(Tails { trie, text: of().next()?.path.clone() }))
        };
        Some(Self { all: tails(&|_| true)?, later: tails(&|pending| pending.path.len() > 1) })
    }

    /// Those of all texts, or of texts that have a character.
    pub(crate) fn of(&self, at_once: bool) -> Option<&Arc<Tails>> {
        if at_once { Some(&self.all) } else { self.later.as_ref() }
    }

    fn heap_bytes(&self) -> usize {
        let tails = std::iter::once(&self.all).chain(&self.later);
        tails.map(|tails| size_of::<Tails>() + tails.trie.heap_bytes() + tails.text.len()).sum()
    }
}

impl Part {
    pub(crate) fn heap_bytes(&self) -> usize {
        let pending: usize = self.pending.iter().map(|pending| size_of::<Pending>() + pending.path.len()).sum();
        let row = self.row.as_ref().map_or(0, Mask::heap_bytes);
        (self.tokens.len() + self.open.len()) * 4
            + pending
            + row
            + self.closings.as_ref().map_or(0, Closings::heap_bytes)
    }
}

/// A node whose tokens, and those below it, a part says nothing of.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) node: Node,
    /// The bytes that lead to it from the part's own node.
    pub(crate) path: Box<[u8]>,
}

/// A set of masks that only grows.
#[derive(Debug)]
pub(crate) struct Generation {
    automaton: Arc<dyn Automaton>,
    masks: boxcar::Vec<Stored>,
    entries: Index,
    /// How many frames the masks of states with an id depended on last, by the id: where most others are found at once.
    hints: [AtomicU8; HINTS],
    parts: RwLock<FxHashMap<Key, Arc<Part>>>,
    by_content: RwLock<FxHashMap<u64, SmallVec<[usize; 2]>>>,
    bytes: AtomicUsize,
    budget: usize,
}

impl Generation {
    pub(crate) fn new(automaton: Arc<dyn Automaton>, budget: usize) -> Self {
        Self {
            automaton,
            masks: boxcar::Vec::new(),
            entries: Index::new(),
            hints: std::array::from_fn(|_| AtomicU8::new(0)),
            parts: RwLock::default(),
            by_content: RwLock::default(),
            bytes: AtomicUsize::new(0),
            budget,
        }
    }

    /// An empty one with the same automaton.
    pub(crate) fn afresh(&self) -> Self {
        Self::new(Arc::clone(&self.automaton), self.budget)
    }

    /// The automaton whose states the masks belong to.
    pub(crate) fn automaton(&self) -> &Arc<dyn Automaton> {
        &self.automaton
    }

    /// Whether the budget is used up.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) >= self.budget
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn masks(&self) -> usize {
        self.masks.count()
    }

    pub(crate) fn keys(&self) -> usize {
        self.entries.len()
    }

    /// The index of the mask of a state, where it was computed before.
    pub(crate) fn find<A: Automaton + ?Sized>(&self, automaton: &A, seq: &Frames, state: State) -> Option<usize> {
        let hint = &self.hints[state.id as usize % HINTS];
        let likely = hint.load(Ordering::Relaxed);
        if let Some(Entry::Known(index)) = self.entries.get(&key(automaton, seq, state, likely.into())) {
            return Some(index);
        }
        for frames in 0.. {
            match self.entries.get(&key(automaton, seq, state, frames)) {
                Some(Entry::Known(index)) => {
                    hint.store(u8::try_from(frames).unwrap_or(0), Ordering::Relaxed);
                    return Some(index);
                }
                Some(Entry::Deeper) => {}
                Some(Entry::Dynamic) | None => return None,
            }
        }
        None
    }

    /// Keeps a mask just computed; gives its index unless it belongs to this moment only.
    pub(crate) fn keep<A: Automaton + ?Sized>(
        &self,
        automaton: &A,
        seq: &Frames,
        state: State,
        walked: Walked,
        scratch: &Scratch,
    ) -> Option<usize> {
        for frames in 0..walked.frames {
            self.enter(&key(automaton, seq, state, frames), Entry::Deeper);
        }
        let last = key(automaton, seq, state, walked.frames);
        if walked.dynamic {
            self.enter(&last, Entry::Dynamic);
            return None;
        }
        let index = self.intern(walked.base, scratch);
        self.enter(&last, Entry::Known(index));
        Some(index)
    }

    /// A part that was found before.
    pub(crate) fn find_part(&self, key: &Key) -> Option<Arc<Part>> {
        self.parts.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Keeps a part.
    pub(crate) fn keep_part(&self, key: Key, part: Arc<Part>) {
        let words = if key.spilled() { key.capacity() } else { 0 };
        let bytes = size_of::<(Key, Arc<Part>, Part)>() + words * 4 + part.heap_bytes();
        if self.parts.write().unwrap_or_else(PoisonError::into_inner).insert(key, part).is_none() {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    fn enter(&self, key: &[u32], entry: Entry) {
        let bytes = self.entries.insert(key, entry).unwrap_or(0);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The index of a stored mask equal to the one in `scratch`, stored now if there is none.
    fn intern(&self, base: Option<BaseRow>, scratch: &Scratch) -> usize {
        let hash = {
            let mut state = FxHasher::default();
            base.hash(&mut state);
            for part in &scratch.parts {
                std::ptr::hash(Arc::as_ptr(part), &mut state);
            }
            scratch.removed.hash(&mut state);
            scratch.added.hash(&mut state);
            scratch.open.hash(&mut state);
            std::hash::Hasher::finish(&state)
        };
        let find = |indices: &[usize]| {
            indices.iter().copied().find(|&index| {
                self.masks.get(index).is_some_and(|stored| {
                    let same_parts = stored.parts.len() == scratch.parts.len()
                        && stored.parts.iter().zip(&scratch.parts).all(|(a, b)| Arc::ptr_eq(a, b));
                    let same_ids = *stored.added == scratch.added[..] && *stored.removed == scratch.removed[..];
                    stored.base == base && same_parts && same_ids && *stored.open == scratch.open[..]
                })
            })
        };
        {
            let by_content = self.by_content.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(index) = by_content.get(&hash).and_then(|indices| find(indices)) {
                return index;
            }
        }
        let mut by_content = self.by_content.write().unwrap_or_else(PoisonError::into_inner);
        let indices = by_content.entry(hash).or_default();
        if let Some(index) = find(indices) {
            return index;
        }
        let [removed, added, open] = [&scratch.removed, &scratch.added, &scratch.open].map(|ids| ids.as_slice().into());
        let parts = scratch.parts.as_slice().into();
        let stored = Stored { base, parts, removed, added, open, row: OnceLock::new(), uses: AtomicU32::new(0) };
        let ids = stored.added.len() + stored.removed.len() + stored.open.len();
        let bytes = size_of::<Stored>() + ids * 4 + stored.parts.len() * size_of::<Arc<Part>>() + 32;
        let index = self.masks.push(stored);
        indices.push(index);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        index
    }

    /// Makes the mask of a state readable, and says whether as a shared row; otherwise it is in `own`.
    pub(crate) fn load(
        &self,
        index: usize,
        vocabulary: &Vocabulary,
        seq: &mut Frames,
        state: State,
        own: &mut Mask,
    ) -> bool {
        let Some(stored) = self.masks.get(index) else {
            return false;
        };
        let shared = self.load_stored(stored, vocabulary, own);
        if stored.open.is_empty() {
            return shared;
        }
        if let Some(row) = stored.row.get().filter(|_| shared) {
            own.copy_from(row);
        }
        let mark = seq.mark();
        for &id in &stored.open {
            if is_allowed(&*self.automaton, vocabulary, seq, state, id) {
                own.insert(id);
            }
            seq.truncate(mark);
        }
        false
    }

    /// Makes a mask readable but for what is read anew, and says whether as a shared row.
    fn load_stored(&self, stored: &Stored, vocabulary: &Vocabulary, own: &mut Mask) -> bool {
        if stored.row.get().is_some() {
            return true;
        }
        let fill = |mask: &mut Mask| {
            match stored.base {
                Some(BaseRow::Class(at)) => mask.copy_from(&vocabulary.base(at.class).row_at(at.row).mask),
                Some(BaseRow::Loop(sets)) => mask.copy_from(&vocabulary.loops().row(vocabulary, sets)),
                None => mask.reset(vocabulary.len()),
            }
            for row in stored.parts.iter().filter_map(|part| part.row.as_ref()) {
                mask.add(row);
            }
            for &id in &stored.removed {
                mask.remove(id);
            }
            for &id in &stored.added {
                mask.insert(id);
            }
        };
        let row_bytes = vocabulary.row_words() * size_of::<u32>();
        // Rows may take half of the budget: they save time, not work.
        let again = stored.uses.fetch_add(1, Ordering::Relaxed) > 0;
        if again && self.bytes() + row_bytes < self.budget / 2 {
            stored.row.get_or_init(|| {
                self.bytes.fetch_add(row_bytes, Ordering::Relaxed);
                let mut mask = Mask::none(vocabulary.len());
                fill(&mut mask);
                mask
            });
            return true;
        }
        fill(own);
        false
    }

    /// A mask's shared row, once [`Generation::load`] has said that there is one.
    pub(crate) fn row(&self, index: usize) -> Option<&Mask> {
        self.masks.get(index)?.row.get()
    }
}

/// The words that a mask may depend on, `frames` frames deep.
///
/// The automaton's own words say nothing about keys used, whose every lookup is noted; only that a frame has no keys at all leaves
/// no trace, so that is part of the key here.
#[inline]
fn key<A: Automaton + ?Sized>(automaton: &A, seq: &Frames, state: State, frames: usize) -> Key {
    let mut key = automaton.signature(seq, state, frames);
    let mut empty = without_keys(seq, state);
    for chunk in 0..frames.div_ceil(32) {
        let bits = (0..(frames - chunk * 32).min(32)).zip(&mut empty);
        key.push(bits.fold(0, |word, (bit, is_empty)| word | u32::from(is_empty) << bit));
    }
    key.push(u32::try_from(frames).unwrap_or(u32::MAX));
    key
}

/// For each open frame, the innermost first, whether it has no keys at all.
pub(crate) fn without_keys(seq: &Frames, state: State) -> impl Iterator<Item = bool> {
    let mut at = state.frame;
    std::iter::from_fn(move || {
        if at.is_none() {
            return None;
        }
        let frame = seq.peek(at);
        at = frame.parent;
        Some(frame.keys.is_empty())
    })
}
