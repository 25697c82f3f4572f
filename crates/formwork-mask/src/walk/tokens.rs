//! Trying the tokens of a trie.

use formwork_automaton::{Automaton, ByteSet, CharClass, Frames, Mark, State, Step, Symbol};

use super::{Scratch, Walk};
use crate::base::{QUOTES_OF_TWO_KEYS, to_u32};
use crate::trie::{Node, Trie};
use crate::walk_memo::{DEAD, FIRST, IMPURE, Slot};

/// Added to an index into [`Scratch::places`].
const PLACE: u32 = 1 << 16;

/// A place on the path through the trie of which nothing is remembered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    state: State,
    mark: Mark,
    /// The bytes that can be read.
    readable: ByteSet,
    /// Its index on the path.
    depth: u16,
    run: Run,
    /// Quotes read since characters were passed over; `None` where none were.
    quotes: Option<u8>,
}

impl Place {
    fn new<A: Automaton + ?Sized>(automaton: &A, seq: &Frames, state: State, depth: u16) -> Self {
        let (mark, readable) = (seq.mark(), automaton.readable(seq, state));
        Self { state, mark, readable, depth, run: Run::Unknown, quotes: None }
    }
}

/// Whether characters can be passed over at a place, because a state stands in for those that they lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    Unknown,
    Not,
    /// All but these.
    But(ByteSet),
    /// Some were: `state` is the one before them.
    StandIn,
}

/// Below a node with fewer nodes, it isn't found out whether characters can be passed over.
const LEAST_RUN: u32 = 8;

/// Where a step leads.
enum Taken {
    /// To a place on the path.
    To(u32),
    Nowhere,
    /// That is not settled here.
    Open,
}

impl Scratch {
    /// Puts a place on the path.
    fn put_place(&mut self, place: Place) -> u32 {
        while self.places.last().is_some_and(|last| last.depth >= place.depth) {
            self.places.pop();
        }
        self.places.push(place);
        PLACE + to_u32(self.places.len() - 1)
    }

    /// Whether two keys may have ended since characters were passed over: those of the first are not held against the second.
    fn is_doubtful(&self, place: u32) -> bool {
        let place = place.checked_sub(PLACE).and_then(|index| self.places.get(index as usize));
        place.and_then(|place| place.quotes).is_some_and(|quotes| usize::from(quotes) >= QUOTES_OF_TWO_KEYS)
    }
}

impl<A: Automaton + ?Sized> Walk<'_, A> {
    /// Tries the tokens of a trie, but for those known to be of at most `chars` characters.
    pub(super) fn try_tokens(&mut self, start: State, trie: &Trie, chars: u8) {
        let root = self.seq.mark();
        let readable = self.automaton.readable(self.seq, start);
        self.scratch.places.clear();
        self.scratch.path.resize(self.vocabulary.longest_token() + 2, 0);
        let slot = self.scratch.memo.slot(start, || readable);
        self.scratch.path[0] = if let Some(slot) = slot {
            u32::from(slot)
        } else {
            let place = Place::new(self.automaton, self.seq, start, 0);
            self.scratch.put_place(place)
        };
        self.heed_hint();
        for &(byte, at) in trie.roots() {
            if readable.contains(byte) {
                self.try_subtree(trie, at as usize, chars, root);
            }
        }
        self.seq.truncate(root);
    }

    /// Tries the tokens that begin with a node of the first level.
    fn try_subtree(&mut self, trie: &Trie, first: usize, chars: u8, root: Mark) {
        let nodes = trie.nodes();
        let end = first + nodes[first].skip as usize;
        let mut at = first;
        while at < end {
            let node = nodes[at];
            if chars > 0 && node.reach <= chars {
                at += node.skip as usize;
                continue;
            }
            let depth = usize::from(node.depth);
            let here = self.scratch.path[depth];
            let slot = Slot::try_from(here).ok();
            if let Some(slot) = slot {
                let known = self.scratch.memo.get(slot, node.byte);
                if known == DEAD {
                    at += node.skip as usize;
                    continue;
                }
                if known >= FIRST {
                    trie.each_token(node, |id| self.scratch.allow(id));
                    self.scratch.path[depth + 1] = u32::from(known - FIRST);
                    at += 1;
                    continue;
                }
            }
            let subtree = &nodes[at..at + node.skip as usize];
            let taken = match slot {
                Some(slot) => {
                    self.seq.truncate(root);
                    self.take(trie, slot, root, subtree)
                }
                None => self.take_from_place(trie, here, subtree),
            };
            let Taken::To(next) = taken else {
                at += node.skip as usize;
                continue;
            };
            if self.scratch.is_doubtful(next) {
                trie.each_token(node, |id| self.scratch.open.push(id));
            } else {
                trie.each_token(node, |id| self.scratch.allow(id));
            }
            self.scratch.path[depth + 1] = next;
            at += 1;
        }
    }

    /// Takes a step from a state that is remembered.
    fn take(&mut self, trie: &Trie, from: Slot, root: Mark, subtree: &[Node]) -> Taken {
        let node = subtree[0];
        let step = self.automaton.step(self.seq, self.scratch.memo.state(from), Symbol::Byte(node.byte));
        if self.leaves_open(trie, subtree) {
            return Taken::Open;
        }
        let (next, known) = match step {
            Step::To(state) => {
                let readable = || self.automaton.readable(self.seq, state);
                let slot = if self.seq.mark() == root { self.scratch.memo.slot(state, readable) } else { None };
                let known = slot.map_or(IMPURE, |slot| slot + FIRST);
                let next = match slot {
                    Some(slot) => u32::from(slot),
                    None => self.scratch.put_place(Place::new(self.automaton, self.seq, state, node.depth + 1)),
                };
                (Taken::To(next), known)
            }
            Step::Dead => (Taken::Nowhere, DEAD),
            Step::Limit(kind) => {
                self.limit = Some(kind);
                (Taken::Nowhere, IMPURE)
            }
        };
        self.heed_hint();
        self.scratch.memo.put(from, node.byte, known);
        next
    }

    /// Takes a step from a place of which nothing is remembered.
    fn take_from_place(&mut self, trie: &Trie, here: u32, subtree: &[Node]) -> Taken {
        let node = subtree[0];
        let at = (here - PLACE) as usize;
        let place = self.scratch.places[at];
        if !place.readable.contains(node.byte) {
            return Taken::Nowhere;
        }
        let in_run = CharClass::Ascii.contains(char::from(node.byte));
        if in_run && place.run == Run::StandIn {
            return Taken::To(here);
        }
        self.seq.truncate(place.mark);
        let longest = to_u32(self.vocabulary.longest_token());
        let mut run = place.run;
        if in_run && run == Run::Unknown && node.skip >= LEAST_RUN {
            let is_run = self.automaton.stand_in(self.seq, place.state, CharClass::Ascii, longest).is_some();
            self.seq.truncate(place.mark);
            run = if is_run { Run::But(self.automaton.exceptions(self.seq, place.state)) } else { Run::Not };
            self.heed_hint();
            self.scratch.places[at].run = run;
        }
        let depth = node.depth + 1;
        let state = match run {
            Run::But(exceptions) if in_run && !exceptions.contains(node.byte) => {
                return Taken::To(self.scratch.put_place(Place { depth, run: Run::StandIn, quotes: Some(0), ..place }));
            }
            Run::StandIn => match self.automaton.stand_in(self.seq, place.state, CharClass::Ascii, longest) {
                Some(state) => state,
                None => return Taken::Nowhere,
            },
            _ => place.state,
        };
        self.heed_hint();
        let step = self.automaton.step(self.seq, state, Symbol::Byte(node.byte));
        if self.leaves_open(trie, subtree) {
            return Taken::Open;
        }
        match step {
            Step::To(state) => {
                let quotes = place.quotes.map(|quotes| quotes.saturating_add(u8::from(node.byte == b'"')));
                let place = Place { quotes, ..Place::new(self.automaton, self.seq, state, depth) };
                Taken::To(self.scratch.put_place(place))
            }
            Step::Dead => Taken::Nowhere,
            Step::Limit(kind) => {
                self.limit = Some(kind);
                Taken::Nowhere
            }
        }
    }
}
