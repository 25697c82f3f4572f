//! The walk that computes a mask: every token's bytes tried from one state, by way of the trie.

mod known_keys;
mod loops;
mod parts;
mod quoted;
mod tokens;

use std::sync::Arc;

use formwork_automaton::{
    Automaton, ByteSet, CharClass, CharLoop, Frames, LimitKind, Mark, StandIn, State, Step, Symbol, TokenId,
};

use crate::base::{Base, Inside, Split, ends_run};
use crate::cache::{Generation, Part, Tails};
use crate::char_loops::LoopSets;
use crate::mask::Mask;
use crate::trie::{Node, Siblings, Trie};
use crate::vocabulary::Vocabulary;
use crate::walk_memo::WalkMemo;
use known_keys::OnWay;
use parts::{Left, Recording};
use quoted::Aside;
use tokens::Place;

/// A class's base mask pays for itself from about this many tokens on; below, the plain walk is as short.
const LEAST_COVER: u32 = 48;

/// Of more bytes than this, the tokens with each are not tried by themselves: they have too many beginnings in common.
const MOST_ENDS: usize = 48;

/// Nodes of the trie that data decides about: where there are more, the whole mask is taken for this moment's only.
const MOST_OPEN: usize = 48;

/// What a matcher keeps for its walks, so that none allocates.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// The mask computed last.
    pub(crate) mask: Mask,
    /// Parts whose rows were added to its base.
    pub(crate) parts: Vec<Arc<Part>>,
    /// Tokens that these have and it has not.
    pub(crate) removed: Vec<u32>,
    /// The tokens in it that neither its base nor these parts have, or that were removed from the parts.
    pub(crate) added: Vec<u32>,
    /// The tokens that data decides about, which no key covers: they are read anew each time that the mask is used.
    pub(crate) open: Vec<u32>,
    /// Where each node of the path through the trie led: a slot of `memo`, or a place.
    path: Vec<u32>,
    /// The last of them that are not remembered, the outermost first.
    places: Vec<Place>,
    /// The bytes of the path.
    bytes: Vec<u8>,
    /// What is left to be looked at beside each node of the path.
    siblings: Vec<Siblings>,
    /// The way down the keys of which one must be read.
    way: Vec<OnWay>,
    memo: WalkMemo,
    /// What is put aside while the tokens below a node are tried as those of a vocabulary of their own.
    aside: Aside,
}

impl Scratch {
    pub(crate) fn new(vocabulary: &Vocabulary) -> Self {
        Self {
            mask: Mask::none(vocabulary.len()),
            parts: Vec::new(),
            removed: Vec::new(),
            added: Vec::new(),
            open: Vec::new(),
            path: Vec::new(),
            places: Vec::new(),
            bytes: Vec::new(),
            siblings: Vec::new(),
            way: Vec::new(),
            memo: WalkMemo::default(),
            aside: Aside::default(),
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.mask.heap_bytes()
            + self.parts.capacity() * size_of::<Arc<Part>>()
            + (self.removed.capacity() + self.added.capacity() + self.open.capacity() + self.path.capacity()) * 4
            + self.places.capacity() * size_of::<Place>()
            + self.bytes.capacity()
            + self.siblings.capacity() * size_of::<Siblings>()
            + self.way.capacity() * size_of::<OnWay>()
            + self.memo.heap_bytes()
            + self.aside.heap_bytes()
    }

    fn allow(&mut self, id: u32) {
        if self.mask.insert(id) {
            self.added.push(id);
        }
    }

    /// Takes back what was allowed, but for what the base has.
    fn forbid(&mut self, id: u32) {
        if let Some(place) = self.added.iter().position(|added| *added == id) {
            self.added.swap_remove(place);
            self.mask.remove(id);
        } else {
            self.take_from_parts(id);
        }
    }

    /// Takes a token out that a part has.
    fn take_from_parts(&mut self, id: u32) {
        let token = TokenId::new(id);
        let has = |part: &Arc<Part>| part.row.as_ref().is_some_and(|row| row.allows(token));
        if self.mask.allows(token) && self.parts.iter().any(has) {
            self.mask.remove(id);
            self.removed.push(id);
        }
    }

    /// Makes the tokens added all those that a base has not.
    pub(crate) fn flatten(&mut self, base: Option<&Mask>) {
        if self.parts.is_empty() {
            return;
        }
        self.parts.clear();
        self.removed.clear();
        self.added.clear();
        let is_in_base = |id: TokenId| base.is_some_and(|base| base.allows(id));
        let others = self.mask.iter().filter(|id| !is_in_base(*id) && !self.open.contains(&id.get()));
        self.added.extend(others.map(TokenId::get));
    }
}

/// A base mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BaseRow {
    Class(ClassRow),
    /// The tokens that a loop reads.
    Loop(LoopSets),
}

/// A class and the index of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClassRow {
    pub(crate) class: CharClass,
    pub(crate) row: usize,
}

/// How a mask came about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walked {
    /// Frames below the top that the outcome depends on.
    pub(crate) frames: usize,
    /// Whether it depends on data that no key covers, by more than a few tokens: such a mask belongs to this moment only.
    pub(crate) dynamic: bool,
    pub(crate) base: Option<BaseRow>,
    /// A bound that cut some tokens off.
    pub(crate) limit: Option<LimitKind>,
    /// Nodes of tries that were looked at.
    pub(crate) nodes: u64,
}

/// How many frames are consulted where the outermost of them has this depth.
fn frames_below(seq: &Frames, state: State, touched: Option<u32>) -> usize {
    match (touched, frame_depth(seq, state)) {
        (Some(touched), Some(top)) => top.saturating_sub(touched) as usize + 1,
        _ => 0,
    }
}

/// How many frames lie below the innermost one; `None` where none is open.
fn frame_depth(seq: &Frames, state: State) -> Option<u32> {
    (!state.frame.is_none()).then(|| seq.peek(state.frame).depth)
}

/// Where text leads; what that appends to the store stays there, on errors too.
pub(crate) fn read_bytes<A: Automaton + ?Sized>(
    automaton: &A,
    seq: &mut Frames,
    mut state: State,
    bytes: &[u8],
) -> Result<State, Refused> {
    for (offset, &byte) in bytes.iter().enumerate() {
        state = match automaton.step(seq, state, Symbol::Byte(byte)) {
            Step::To(next) => next,
            Step::Dead => {
                return Err(Refused { offset, limit: None });
            }
            Step::Limit(kind) => {
                return Err(Refused { offset, limit: Some(kind) });
            }
        };
    }
    Ok(state)
}

/// Why bytes could not be read, and how many could.
pub(crate) struct Refused {
    pub(crate) offset: usize,
    pub(crate) limit: Option<LimitKind>,
}

/// Whether all of a token can be read; what that appends stays.
pub(crate) fn is_allowed<A: Automaton + ?Sized>(
    automaton: &A,
    vocabulary: &Vocabulary,
    seq: &mut Frames,
    state: State,
    id: u32,
) -> bool {
    read_bytes(automaton, seq, state, vocabulary.bytes(TokenId::new(id)).unwrap_or_default()).is_ok()
}

/// What a walk begins with.
enum Chosen {
    /// A base mask, and how many characters of its class can be read.
    Class(ClassRow, u32),
    Loop(CharLoop),
}

/// A walk over the vocabulary.
pub(crate) struct Walk<'a, A: ?Sized> {
    automaton: &'a A,
    vocabulary: &'a Vocabulary,
    parts: &'a Generation,
    seq: &'a mut Frames,
    scratch: &'a mut Scratch,
    limit: Option<LimitKind>,
    /// Nodes of tries that were looked at so far.
    nodes: u64,
    /// Nodes whose tokens are left open so far.
    nodes_open: usize,
    /// Whether they would be too many.
    dynamic: bool,
    /// The part that is being found.
    recording: Option<Recording>,
    /// What parts have left to the mask.
    left: Vec<Left>,
    /// The ends of tokens that are tried, where it is not the trie that the walk is of.
    tails: Option<Arc<Tails>>,
    /// Whether the walk's place is put aside.
    is_aside: bool,
}

impl<'a, A: Automaton + ?Sized> Walk<'a, A> {
    /// What a walk needs; `parts` has what other masks have in common with its own.
    pub(crate) fn new(
        automaton: &'a A,
        vocabulary: &'a Vocabulary,
        parts: &'a Generation,
        seq: &'a mut Frames,
        scratch: &'a mut Scratch,
    ) -> Self {
        scratch.parts.clear();
        scratch.removed.clear();
        scratch.added.clear();
        scratch.open.clear();
        scratch.memo.clear();
        seq.begin_walk();
        Self {
            automaton,
            vocabulary,
            parts,
            seq,
            scratch,
            limit: None,
            nodes: 0,
            nodes_open: 0,
            dynamic: false,
            recording: None,
            left: Vec::new(),
            tails: None,
            is_aside: false,
        }
    }

    /// Computes the mask of `state` into the scratch.
    pub(crate) fn compute(mut self, state: State) -> Walked {
        let before = self.seq.mark();
        let base = if self.try_from_known_keys(state, before) { None } else { self.try_from_any(state, before) };
        self.try_specials(state);
        self.settle(state, before);
        let (touched, _) = self.seq.end_walk();
        let frames = frames_below(self.seq, state, touched);
        Walked { frames, dynamic: self.dynamic, base, limit: self.limit, nodes: self.nodes }
    }

    /// Tries all tokens but for those that a base mask has.
    fn try_from_any(&mut self, state: State, before: Mark) -> Option<BaseRow> {
        match self.choose_base(state) {
            None => {
                self.scratch.mask.clear();
                self.try_all(state, before);
                None
            }
            Some(Chosen::Class(at, chars)) => {
                self.try_from_base(state, before, at, chars);
                Some(BaseRow::Class(at))
            }
            Some(Chosen::Loop(at)) => Some(BaseRow::Loop(self.try_from_loop(state, before, &at))),
        }
    }

    /// Makes the scratch's mask, which is that of a state [near](Automaton::near) this one, that of `state`.
    pub(crate) fn read_long(mut self, state: State) {
        let before = self.seq.mark();
        self.try_anew(state, self.vocabulary.long());
        self.settle(state, before);
        self.seq.end_walk();
    }

    /// The base mask that covers most tokens, where one is worth its while.
    fn choose_base(&mut self, state: State) -> Option<Chosen> {
        let profile = self.vocabulary.profile();
        let mut best = None;
        let mut most = LEAST_COVER;
        for class in CharClass::ALL.into_iter().rev() {
            let chars = self.automaton.safe_chars(self.seq, state, class);
            let cover = if chars == 0 { 0 } else { profile.cover(class, chars) };
            if cover > most {
                most = cover;
                best = Some((class, chars));
            }
            if chars == u32::MAX {
                // The classes that follow are not larger.
                break;
            }
        }
        let is_all = best == Some((CharClass::Text, u32::MAX));
        let found = if is_all { None } else { self.automaton.char_loop(self.seq, state) };
        self.heed_hint();
        if let Some(found) = found {
            return Some(Chosen::Loop(found));
        }
        let (class, chars) = best?;
        let row = self.vocabulary.base(class).row(chars, self.vocabulary.longest_token());
        Some(Chosen::Class(ClassRow { class, row }, chars))
    }

    /// After a hint of the automaton: where data decided about it, it decides about the mask.
    fn heed_hint(&mut self) {
        self.dynamic |= self.seq.take_dynamic();
    }

    /// After a step to a node: whether data decided about it that no key covers. The tokens at the node and below are then left open, where
    /// they are few.
    fn leaves_open(&mut self, trie: &Trie, node: Node) -> bool {
        if !self.seq.take_dynamic() || self.dynamic {
            return false;
        }
        self.nodes_open += node.size as usize;
        if self.nodes_open > MOST_OPEN {
            self.dynamic = true;
            return false;
        }
        trie.each_below(node, |node| trie.each_token(node, |id| self.scratch.open.push(id)));
        true
    }

    /// Tries all tokens.
    fn try_all(&mut self, state: State, before: Mark) {
        let trie = self.vocabulary.trie();
        let stand_in = self.automaton.stand_in_here(self.seq, state);
        self.heed_hint();
        let Some(stand_in) = stand_in else { return self.try_tokens(state, trie, 0) };
        self.try_tails(stand_in.state, before, [trie].into_iter());
        // What text a key has when it ends decides about all that follows.
        self.try_exceptions(state, trie, |byte| matches!(byte, b'"' | b'\\'), false, &stand_in);
        self.try_anew(state, self.vocabulary.two_keys());
    }

    /// Tries what a base mask has not; `chars` characters of its class can be read, whatever they are.
    fn try_from_base(&mut self, state: State, before: Mark, at: ClassRow, chars: u32) {
        let base = self.vocabulary.base(at.class);
        let row = base.row_at(at.row);
        self.scratch.mask.copy_from(&row.mask);
        let longest = base.split(self.vocabulary).longest(&self.automaton.readable(self.seq, state));
        // What follows blanks takes none of their room.
        let room = if at.class == CharClass::Blank { longest.run } else { longest.bytes.saturating_add(1) };
        let stand_in = match row.chars {
            Some(chars) if u32::from(chars) < room => None,
            _ => self.automaton.stand_in(self.seq, state, at.class, longest.bytes),
        };
        self.heed_hint();
        match stand_in {
            Some(stand_in) => {
                self.try_split(state, before, base.split(self.vocabulary), &stand_in);
                let ends = |byte| ends_run(at.class, byte);
                self.try_exceptions(state, base.rest(), ends, true, &stand_in);
            }
            None => self.try_rest(state, at.class, base),
        }
        if let Some(least) = row.chars {
            let inside = base.inside(self.vocabulary);
            let safe = u8::try_from(chars).unwrap_or(u8::MAX).min(Inside::MOST);
            for &id in inside.of_chars(least + 1..=safe) {
                self.scratch.allow(id);
            }
            if self.automaton.most_chars(self.seq, state, at.class) > u32::from(safe) {
                self.try_tokens(state, &inside.trie, safe);
            }
        }
    }

    /// Tries tokens that are not wholly of a class: those that begin with characters of it by way of the stand-in for these.
    fn try_split(&mut self, state: State, before: Mark, split: &Split, stand_in: &StandIn) {
        let escapes = stand_in.escapes.then_some(&split.escapes);
        self.try_tails(stand_in.state, before, [&split.tails].into_iter().chain(escapes));
        self.try_tokens(state, &split.heads, 0);
        if !stand_in.escapes {
            self.try_tokens(state, &split.escapes, 0);
        }
    }

    /// Tries tokens by what follows the characters of a class that they begin with: `stand_in` stands for the state after these.
    fn try_tails<'t>(&mut self, stand_in: State, before: Mark, tails: impl Iterator<Item = &'t Trie>) {
        for tails in tails {
            self.try_tokens(stand_in, tails, 0);
        }
        if self.seq.mark() != before {
            self.seq.truncate(before);
            // What is remembered holds with what the stand-in has appended.
            self.scratch.memo.clear();
        }
    }

    /// Tries the tokens that are not wholly of a class, but for those whose first byte beyond it can't be read after the characters before.
    fn try_rest(&mut self, state: State, class: CharClass, base: &Base) {
        let ends = base.ends(self.vocabulary);
        let readable = self.automaton.readable_after(self.seq, state, class, ends.longest_run);
        self.heed_hint();
        if readable.len() > MOST_ENDS {
            return self.try_tokens(state, base.rest(), 0);
        }
        for byte in readable.iter() {
            self.try_tokens(state, ends.with(byte), 0);
        }
    }

    /// Tries those tokens afresh for which the stand-in for some characters was no good guide; `ends` says which bytes are not theirs, `whole`
    /// whether tokens that begin with one were tried from here.
    fn try_exceptions(
        &mut self,
        start: State,
        trie: &Trie,
        ends: impl Fn(u8) -> bool,
        whole: bool,
        stand_in: &StandIn,
    ) {
        let here = self.automaton.exceptions(self.seq, start, stand_in);
        self.heed_hint();
        if here.is_empty() {
            return;
        }
        let mark = self.seq.mark();
        // The places along the path, each with the exceptions there, or all bytes behind the characters of the class; and what is left
        // to be looked at from each.
        let mut path = vec![(start, mark, here, trie.roots())];
        while let Some((state, before, wanted, mut left)) = path.pop() {
            let is_first = path.is_empty();
            while left.next < left.end {
                let node = trie.nodes()[left.next as usize];
                left.next += 1;
                // Tokens that begin with another character were tried whole.
                let is_whole = whole && is_first && ends(node.byte) && !(stand_in.escapes && node.byte == b'\\');
                if is_whole || !wanted.contains(node.byte) {
                    continue;
                }
                self.seq.truncate(before);
                let step = self.automaton.step(self.seq, state, Symbol::Byte(node.byte));
                let open = self.leaves_open(trie, node);
                let next = match step {
                    Step::To(next) if !open => next,
                    step => {
                        if let Step::Limit(kind) = step {
                            self.limit = Some(kind);
                        }
                        trie.each_below(node, |node| trie.each_token(node, |id| self.scratch.forbid(id)));
                        continue;
                    }
                };
                trie.each_token(node, |id| self.scratch.allow(id));
                let behind = wanted == ByteSet::all() || ends(node.byte);
                let wanted_next =
                    if behind { ByteSet::all() } else { self.automaton.exceptions(self.seq, next, stand_in) };
                self.heed_hint();
                if !node.is_leaf() && !wanted_next.is_empty() {
                    path.push((state, before, wanted, left));
                    path.push((next, self.seq.mark(), wanted_next, node.children()));
                    break;
                }
            }
        }
        self.seq.truncate(mark);
    }

    /// Tries the special tokens; those that end a sequence are also allowed wherever the automaton accepts.
    fn try_specials(&mut self, state: State) {
        let mark = self.seq.mark();
        for &id in self.vocabulary.specials_for(self.automaton) {
            match self.automaton.step(self.seq, state, Symbol::Special(id)) {
                Step::To(_) => self.scratch.allow(id.get()),
                Step::Dead => {}
                Step::Limit(kind) => self.limit = Some(kind),
            }
            self.seq.truncate(mark);
        }
        if self.automaton.is_accepting(self.seq, state) {
            for id in self.vocabulary.eos() {
                self.scratch.allow(id.get());
            }
        }
        self.heed_hint();
    }

    /// Reads the tokens that were left open; those that data decides about stay open.
    fn settle(&mut self, start: State, before: Mark) {
        let mut open = std::mem::take(&mut self.scratch.open);
        open.retain(|&id| {
            self.seq.truncate(before);
            let allowed = is_allowed(self.automaton, self.vocabulary, self.seq, start, id);
            let by_data = self.seq.take_dynamic();
            if allowed && by_data {
                self.scratch.mask.insert(id);
            } else if allowed {
                self.scratch.allow(id);
            }
            by_data
        });
        self.seq.truncate(before);
        self.scratch.open = open;
    }
}
