//! Tables by which walks pass over the tokens that a loop of characters reads.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use formwork_automaton::{ByteSet, CharClass, CharLoop, TokenId};
use rustc_hash::FxHashMap;

use crate::base::characters;
use crate::mask::Mask;
use crate::trie::Siblings;
use crate::vocabulary::Vocabulary;

/// How many rows are kept.
const MOST_ROWS: usize = 128;

/// A set of characters as bits: those of ASCII by their numbers from 3 on, all others beyond ASCII as bit 0.
type CharBits = u128;

/// The bit of all characters beyond ASCII.
const WIDE: CharBits = 1;
/// The bit of tokens that are text and yet in no base mask.
const ODD: CharBits = 1 << 1;
/// The bit of U+0000–U+0002.
const CONTROL: CharBits = 1 << 2;

fn bit_of(byte: u8) -> CharBits {
    match byte {
        0..=2 => CONTROL,
        0x80.. => WIDE,
        byte => 1 << byte,
    }
}

fn bits_of(bytes: &ByteSet) -> CharBits {
    bytes.iter().fold(0, |bits, byte| bits | bit_of(byte))
}

/// The characters of a loop that decide about its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LoopSets {
    inside: CharBits,
    apart: CharBits,
    /// Without tokens longer than states can be near each other.
    short: bool,
}

impl LoopSets {
    pub(crate) fn new(of: &CharLoop) -> Self {
        Self { inside: bits_of(&of.inside), apart: bits_of(&of.apart), short: of.short }
    }
}

/// What a walk from a loop looks for: all that leads out of it.
pub(crate) fn sought(exits: &ByteSet) -> CharBits {
    bits_of(exits) | ODD
}

/// The tables of one vocabulary.
#[derive(Debug)]
pub(crate) struct CharLoops {
    /// For each node of the vocabulary's trie, the characters of what follows it in its tokens.
    below: Vec<CharBits>,
    /// The tokens with a character, by its bit; and those with two of it.
    with: OnceLock<Vec<[Mask; 2]>>,
    rows: RwLock<FxHashMap<LoopSets, Arc<Mask>>>,
}

impl CharLoops {
    pub(crate) fn new(vocabulary: &Vocabulary) -> Self {
        let (trie, profile) = (vocabulary.trie(), vocabulary.profile());
        let mut below: Vec<CharBits> = vec![0; trie.nodes().len()];
        // Children follow their parents.
        for (index, &node) in trie.nodes().iter().enumerate().rev() {
            let Siblings { next, end } = node.children();
            let children = (next as usize..end as usize).map(|child| below[child] | bit_of(trie.bytes()[child]));
            let mut bits = children.fold(0, |all, bits| all | bits);
            trie.each_token(node, |id| {
                let is_text = vocabulary.bytes(TokenId::new(id)).and_then(characters).is_some();
                if is_text && profile.chars(id) == 0 {
                    bits |= ODD;
                }
            });
            below[index] = bits;
        }
        Self { below, with: OnceLock::new(), rows: RwLock::default() }
    }

    /// The characters of what follows a node, by its index.
    pub(crate) fn below(&self, node: u32) -> CharBits {
        self.below[node as usize]
    }

    /// The tokens of characters inside a loop with at most one of those apart.
    pub(crate) fn row(&self, vocabulary: &Vocabulary, sets: LoopSets) -> Arc<Mask> {
        let known = self.rows.read().unwrap_or_else(PoisonError::into_inner).get(&sets).cloned();
        known.unwrap_or_else(|| {
            let row = Arc::new(self.new_row(vocabulary, sets));
            let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
            if rows.len() >= MOST_ROWS {
                rows.clear();
            }
            rows.insert(sets, Arc::clone(&row));
            row
        })
    }

    fn new_row(&self, vocabulary: &Vocabulary, sets: LoopSets) -> Mask {
        let with = self.with(vocabulary);
        let text = vocabulary.base(CharClass::Text);
        let mut row = Mask::none(vocabulary.len());
        row.copy_from(&text.whole_row().mask);
        let (mut one, mut two) = (Mask::none(vocabulary.len()), Mask::none(vocabulary.len()));
        for (bit, [once, twice]) in with.iter().enumerate() {
            if sets.inside >> bit & 1 == 1 {
                continue;
            }
            if sets.apart >> bit & 1 == 1 {
                two.add(twice);
                two.add_both(&one, once);
                one.add(once);
            } else {
                row.take_out(once);
            }
        }
        row.take_out(&two);
        if sets.short {
            for &id in &*vocabulary.long().ids {
                row.remove(id);
            }
        }
        row
    }

    fn with(&self, vocabulary: &Vocabulary) -> &[[Mask; 2]] {
        self.with.get_or_init(|| {
            let none = || [Mask::none(vocabulary.len()), Mask::none(vocabulary.len())];
            let mut with: Vec<[Mask; 2]> = (0..128).map(|_| none()).collect();
            for id in vocabulary.ids() {
                let mut seen: CharBits = 0;
                for &byte in vocabulary.bytes(id).unwrap_or_default() {
                    let bit = bit_of(byte);
                    let [once, twice] = &mut with[bit.trailing_zeros() as usize];
                    if seen & bit != 0 {
                        twice.insert(id.get());
                    }
                    once.insert(id.get());
                    seen |= bit;
                }
            }
            with
        })
    }

    /// Builds what is otherwise built on first use.
    pub(crate) fn prepare(&self, vocabulary: &Vocabulary) {
        self.with(vocabulary);
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let masks = self.with.get().into_iter().flatten().flatten().map(Mask::heap_bytes).sum::<usize>();
        let rows = self.rows.read().unwrap_or_else(PoisonError::into_inner);
        self.below.capacity() * size_of::<CharBits>() + masks + rows.values().map(|row| row.heap_bytes()).sum::<usize>()
    }
}
