//! Keys that begin within a token: what follows their quote is tried as masks are, by way of tables of the text that may follow.

use formwork_automaton::{Automaton, CharClass, Mark, State};

use super::Walk;
use super::tokens::Place;
use crate::base::ends_run;
use crate::trie::Trie;
use crate::walk_memo::WalkMemo;

/// A walk's place on its path.
#[derive(Debug, Default)]
pub(super) struct Aside {
    path: Vec<u32>,
    bytes: Vec<u8>,
    places: Vec<Place>,
    memo: WalkMemo,
}

impl Aside {
    pub(super) fn heap_bytes(&self) -> usize {
        self.path.capacity() * 4
            + self.bytes.capacity()
            + self.places.capacity() * size_of::<Place>()
            + self.memo.heap_bytes()
    }
}

impl<A: Automaton + ?Sized> Walk<'_, A> {
    /// Tries the tokens below a quote at `depth` of the path, which leads to `state` and a store like that at `mark`; false where not any
    /// text may follow, and nothing was tried.
    pub(super) fn try_quoted(&mut self, trie: &Trie, at: u32, depth: usize, state: State, mark: Mark) -> bool {
        let class = CharClass::Text;
        if self.is_aside {
            return false;
        }
        self.seq.truncate(mark);
        let any = self.automaton.safe_chars(self.seq, state, class) == u32::MAX;
        if !any {
            self.heed_hint();
            return false;
        }
        let quoted = self.vocabulary.quoted(trie, at);
        let longest = quoted.split.longest(&self.automaton.readable(self.seq, state));
        let stand_in = self.automaton.stand_in(self.seq, state, class, longest.bytes);
        self.heed_hint();
        let Some(stand_in) = stand_in else {
            self.seq.truncate(mark);
            return false;
        };
        self.put_aside(depth);
        self.is_aside = true;
        let (left, tails) = (std::mem::take(&mut self.left), self.tails.take());
        for &id in &quoted.text {
            self.scratch.allow(id);
        }
        self.try_split(state, mark, &quoted.split, &stand_in);
        self.try_exceptions(state, &quoted.rest, |byte| ends_run(class, byte), true, &stand_in);
        (self.left, self.tails) = (left, tails);
        self.is_aside = false;
        self.take_back(depth);
        true
    }

    fn put_aside(&mut self, depth: usize) {
        let scratch = &mut *self.scratch;
        let aside = &mut scratch.aside;
        aside.path.clear();
        aside.path.extend_from_slice(&scratch.path[..=depth + 1]);
        aside.bytes.clear();
        aside.bytes.extend_from_slice(&scratch.bytes[..=depth]);
        std::mem::swap(&mut aside.places, &mut scratch.places);
        // What is remembered holds for the store at the root.
        std::mem::swap(&mut aside.memo, &mut scratch.memo);
        scratch.memo.clear();
    }

    fn take_back(&mut self, depth: usize) {
        let scratch = &mut *self.scratch;
        let aside = &mut scratch.aside;
        scratch.path[..=depth + 1].copy_from_slice(&aside.path);
        scratch.bytes[..=depth].copy_from_slice(&aside.bytes);
        std::mem::swap(&mut aside.places, &mut scratch.places);
        std::mem::swap(&mut aside.memo, &mut scratch.memo);
    }
}
