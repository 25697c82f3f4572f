//! Trying the tokens of a trie.

use formwork_automaton::{Automaton, ByteSet, CharClass, Frames, Mark, State, Step, Symbol};

use super::{Scratch, Walk};
use crate::base::{QUOTES_OF_TWO_KEYS, to_u32};
use crate::trie::{Node, Siblings, Trie};
use crate::walk_memo::{DEAD, FIRST, IMPURE, LIVE, Slot};

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

    /// A place in a known key, from which no more than its quote is tried by steps.
    fn at_key(state: State, mark: Mark, depth: u16) -> Self {
        Self { state, mark, readable: ByteSet::of(b"\""), depth, run: Run::Not, quotes: None }
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

/// Among more siblings than this, those whose few bytes can be read are looked for.
const MANY_SIBLINGS: u32 = 24;
/// So few bytes.
const FEW_BYTES: usize = 24;

/// Where a step leads.
pub(super) enum Taken {
    /// To a place on the path.
    To(u32),
    /// To the end of all tokens that begin so.
    End,
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

    /// The state at a place on the path, and where the store stands there; `None` where a state stands in for others.
    fn place_at(&self, place: u32, root: Mark) -> Option<(State, Mark)> {
        if let Ok(slot) = Slot::try_from(place) {
            return Some((self.memo.state(slot), root));
        }
        let place = self.places.get(place.checked_sub(PLACE)? as usize)?;
        place.quotes.is_none().then_some((place.state, place.mark))
    }
}

/// The index on the path of what follows a node.
fn deeper(depth: usize) -> u16 {
    u16::try_from(depth + 1).unwrap_or(u16::MAX)
}

/// Whether two keys may have ended since characters were passed over: those of the first are not held against the second.
fn is_doubtful(quotes: Option<u8>) -> bool {
    quotes.is_some_and(|quotes| usize::from(quotes) >= QUOTES_OF_TWO_KEYS)
}

impl<A: Automaton + ?Sized> Walk<'_, A> {
    /// Tries the tokens of a trie, but for those known to be of at most `chars` characters.
    pub(super) fn try_tokens(&mut self, start: State, trie: &Trie, chars: u8) {
        let root = self.seq.mark();
        self.begin_tokens();
        self.put_state(start, 0, root);
        self.descend(trie, trie.roots(), 0, chars, root);
        self.seq.truncate(root);
        self.try_left(trie, start, root);
    }

    /// Makes room for the path through a trie.
    pub(super) fn begin_tokens(&mut self) {
        let longest = self.vocabulary.longest_token() + 2;
        self.scratch.places.clear();
        self.scratch.path.resize(longest, 0);
        self.scratch.bytes.resize(longest, 0);
    }

    /// Puts a state on the path.
    pub(super) fn put_state(&mut self, state: State, depth: usize, root: Mark) {
        let is_pure = self.seq.mark() == root;
        let readable = || self.automaton.readable(self.seq, state);
        let slot = if is_pure { self.scratch.memo.slot(state, readable) } else { None };
        self.scratch.path[depth] = if let Some(slot) = slot {
            u32::from(slot)
        } else {
            self.put_place_at(state, depth);
            self.scratch.path[depth]
        };
        self.heed_hint();
    }

    /// Puts a state on the path of which nothing is remembered.
    pub(super) fn put_place_at(&mut self, state: State, depth: usize) {
        let place = Place::new(self.automaton, self.seq, state, u16::try_from(depth).unwrap_or(u16::MAX));
        self.scratch.path[depth] = self.scratch.put_place(place);
    }

    /// Puts a state on the path from which no more than the quote that closes a key is tried.
    pub(super) fn put_key_end(&mut self, state: State, mark: Mark, depth: usize) {
        let place = Place::at_key(state, mark, u16::try_from(depth).unwrap_or(u16::MAX));
        self.scratch.path[depth] = self.scratch.put_place(place);
    }

    /// Tries the tokens below a place on the path.
    pub(super) fn descend(&mut self, trie: &Trie, below: Siblings, depth: usize, chars: u8, root: Mark) {
        // A part's own descent goes on above what is left of the one around it.
        let floor = self.scratch.siblings.len();
        self.scratch.siblings.push(below);
        while self.scratch.siblings.len() > floor {
            let Some(mut left) = self.scratch.siblings.pop() else { break };
            let depth = depth + self.scratch.siblings.len() - floor;
            if let Some(children) = self.try_siblings(trie, &mut left, depth, chars, root) {
                self.scratch.siblings.extend([left, children]);
            }
        }
    }

    /// Tries the tokens that end at siblings, up to one that others go on from; gives its children.
    fn try_siblings(
        &mut self,
        trie: &Trie,
        left: &mut Siblings,
        depth: usize,
        chars: u8,
        root: Mark,
    ) -> Option<Siblings> {
        let here = self.scratch.path[depth];
        let slot = Slot::try_from(here).ok();
        let place = here.checked_sub(PLACE).map(|at| at as usize);
        let readable = match (slot, place) {
            (Some(slot), _) => self.scratch.memo.readable(slot),
            (_, Some(at)) => self.scratch.places[at].readable,
            _ => return None,
        };
        let readable = if left.end - left.next > MANY_SIBLINGS { trie.among(*left, readable) } else { readable };
        let is_sparse = left.end - left.next > MANY_SIBLINGS && readable.len() <= FEW_BYTES;
        while left.next < left.end {
            if is_sparse && !trie.skip_to(left, &readable) {
                break;
            }
            let index = left.next;
            left.next += 1;
            self.nodes += 1;
            // Most siblings end here, before more of them than their byte is looked at.
            let byte = trie.bytes()[index as usize];
            let known = slot.map(|slot| self.scratch.memo.get(slot, byte));
            if known == Some(DEAD) || known.is_none() && !readable.contains(byte) {
                continue;
            }
            let node = trie.nodes()[index as usize];
            if chars > 0 && node.reach <= chars {
                continue;
            }
            let taken = match (slot.zip(known), place) {
                (Some((slot, known)), _) => match known {
                    LIVE if node.is_leaf() => Taken::End,
                    _ if known >= FIRST => Taken::To(u32::from(known - FIRST)),
                    _ => {
                        self.seq.truncate(root);
                        self.take(trie, slot, root, node, depth)
                    }
                },
                (None, Some(at)) => self.take_from_place(trie, at, node, depth),
                _ => continue,
            };
            let next = match taken {
                Taken::To(next) => Some(next).filter(|_| !node.is_leaf()),
                Taken::End => None,
                Taken::Nowhere | Taken::Open => continue,
            };
            trie.each_token(node, |id| self.allow(id));
            let Some(next) = next else { continue };
            self.scratch.bytes[depth] = node.byte;
            self.scratch.path[depth + 1] = next;
            if node.byte == b'"'
                && let Some((state, mark)) = self.scratch.place_at(next, root)
                && let Some(keys) = self.automaton.known_keys(self.seq, state)
            {
                self.try_known_keys(trie, node.children(), depth + 1, (state, mark), keys, root);
                continue;
            }
            if chars == 0
                && self.is_part(node)
                && let Some((state, mark)) = self.scratch.place_at(next, root)
            {
                // A key depends on too much for a part.
                let is_key = node.byte == b'"' && mark != root;
                if !is_key || !self.try_quoted(trie, index, depth, state, mark) {
                    self.try_part(trie, index, depth, state, mark, root);
                }
                continue;
            }
            return Some(node.children());
        }
        None
    }

    /// The place that a node leads to. Where a known key begins, its bytes are not looked for: its trie has them.
    fn place_behind(&self, node: Node, state: State, depth: usize) -> Place {
        if node.byte == b'"' && self.automaton.known_keys(self.seq, state).is_some() {
            return Place::at_key(state, self.seq.mark(), deeper(depth));
        }
        Place::new(self.automaton, self.seq, state, deeper(depth))
    }

    /// Takes a step from a state that is remembered.
    fn take(&mut self, trie: &Trie, from: Slot, root: Mark, node: Node, depth: usize) -> Taken {
        self.scratch.bytes[depth] = node.byte;
        if self.is_beyond(node) {
            return self.try_beyond(trie, self.scratch.memo.state(from), root, node, depth);
        }
        self.seq.take_look();
        let step = self.automaton.step(self.seq, self.scratch.memo.state(from), Symbol::Byte(node.byte));
        if self.leaves_open(trie, node) {
            return Taken::Open;
        }
        // What frames had a say in is asked anew, so that no part overlooks it.
        let looked = self.seq.looked();
        if self.leaves_pending(node, depth) {
            return Taken::Open;
        }
        let is_pure = self.seq.mark() == root;
        let (taken, known) = match step {
            Step::To(_) if node.is_leaf() => (Taken::End, if is_pure && !looked { LIVE } else { IMPURE }),
            Step::To(state) => {
                let readable = || self.automaton.readable(self.seq, state);
                let slot = if is_pure { self.scratch.memo.slot(state, readable) } else { None };
                let known = slot.filter(|_| !looked).map_or(IMPURE, |slot| slot + FIRST);
                let next = if let Some(slot) = slot {
                    u32::from(slot)
                } else {
                    let place = self.place_behind(node, state, depth);
                    self.scratch.put_place(place)
                };
                self.heed_hint();
                (Taken::To(next), known)
            }
            Step::Dead => (Taken::Nowhere, if looked { IMPURE } else { DEAD }),
            Step::Limit(kind) => {
                self.limit = Some(kind);
                (Taken::Nowhere, IMPURE)
            }
        };
        self.scratch.memo.put(from, node.byte, known);
        taken
    }

    /// Takes a step from a place of which nothing is remembered.
    fn take_from_place(&mut self, trie: &Trie, at: usize, node: Node, depth: usize) -> Taken {
        self.scratch.bytes[depth] = node.byte;
        let place = self.scratch.places[at];
        let in_run = CharClass::Ascii.contains(char::from(node.byte));
        if in_run && place.run == Run::StandIn {
            return Taken::To(PLACE + to_u32(at));
        }
        self.seq.truncate(place.mark);
        if self.is_beyond(node) {
            return self.try_beyond(trie, place.state, place.mark, node, depth);
        }
        let longest = to_u32(self.vocabulary.longest_token());
        let mut run = place.run;
        if in_run && run == Run::Unknown && node.size >= LEAST_RUN {
            let stand_in = self.automaton.stand_in(self.seq, place.state, CharClass::Ascii, longest);
            self.seq.truncate(place.mark);
            run = stand_in.map_or(Run::Not, |at| Run::But(self.automaton.exceptions(self.seq, place.state, &at)));
            self.heed_hint();
            self.scratch.places[at].run = run;
        }
        let state = match run {
            Run::But(exceptions) if in_run && !exceptions.contains(node.byte) => {
                let depth = deeper(depth);
                return Taken::To(self.scratch.put_place(Place { depth, run: Run::StandIn, quotes: Some(0), ..place }));
            }
            Run::StandIn => match self.automaton.stand_in(self.seq, place.state, CharClass::Ascii, longest) {
                Some(stand_in) => stand_in.state,
                None => return Taken::Nowhere,
            },
            _ => place.state,
        };
        self.heed_hint();
        self.seq.take_look();
        let step = self.automaton.step(self.seq, state, Symbol::Byte(node.byte));
        if self.leaves_open(trie, node) || self.leaves_pending(node, depth) {
            return Taken::Open;
        }
        match step {
            Step::To(state) => {
                let quotes = place.quotes.map(|quotes| quotes.saturating_add(u8::from(node.byte == b'"')));
                if is_doubtful(quotes) {
                    trie.each_below(node, |node| trie.each_token(node, |id| self.scratch.open.push(id)));
                    return Taken::Open;
                }
                if node.is_leaf() {
                    return Taken::End;
                }
                let place = match quotes {
                    None => self.place_behind(node, state, depth),
                    Some(_) => Place { quotes, ..Place::new(self.automaton, self.seq, state, deeper(depth)) },
                };
                self.heed_hint();
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
