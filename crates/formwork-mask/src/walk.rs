//! The walk that computes a mask: every token's bytes tried from one state, by way of the trie.

use formwork_automaton::{Automaton, ByteSet, CharClass, Frames, LimitKind, Mark, State, Step, Symbol, TokenId};

use crate::base::{Base, QUOTES_OF_TWO_KEYS, to_u32};
use crate::mask::Mask;
use crate::trie::{Node, Trie};
use crate::vocabulary::Vocabulary;
use crate::walk_memo::{DEAD, FIRST, IMPURE, Slot, WalkMemo};

/// A class's base mask pays for itself from about this many tokens on; below, the plain walk is as short.
const LEAST_COVER: u32 = 48;

/// Of more bytes than this, the tokens with each are not tried by themselves: they have too many beginnings in common.
const MOST_ENDS: usize = 48;

/// What a matcher keeps for its walks, so that none allocates.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// The mask computed last.
    pub(crate) mask: Mask,
    /// The tokens in it that its base has not.
    pub(crate) added: Vec<u32>,
    /// Where each node of the path through the trie led: a slot of `memo`, or [`PLACE`] and an index into `places`.
    path: Vec<u32>,
    /// The last of them that are not remembered, the outermost first.
    places: Vec<Place>,
    /// Tokens to be read whole.
    doubtful: Vec<u32>,
    memo: WalkMemo,
}

/// Added to an index into [`Scratch::places`].
const PLACE: u32 = 1 << 16;

/// A place on the path through the trie of which nothing is remembered.
#[derive(Clone, Copy, Debug)]
struct Place {
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

impl Scratch {
    pub(crate) fn new(vocabulary: &Vocabulary) -> Self {
        Self {
            mask: Mask::none(vocabulary.len()),
            added: Vec::new(),
            path: Vec::new(),
            places: Vec::new(),
            doubtful: Vec::new(),
            memo: WalkMemo::default(),
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.mask.heap_bytes()
            + self.added.capacity() * 4
            + self.path.capacity() * 4
            + self.places.capacity() * size_of::<Place>()
            + self.doubtful.capacity() * 4
            + self.memo.heap_bytes()
    }

    fn allow(&mut self, id: u32) {
        if self.mask.insert(id) {
            self.added.push(id);
        }
    }

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

    /// Takes back what was allowed, but for what the base has.
    fn forbid(&mut self, id: u32) {
        if let Some(place) = self.added.iter().position(|added| *added == id) {
            self.added.swap_remove(place);
            self.mask.remove(id);
        }
    }
}

/// A base mask: a class and the index of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BaseRow {
    pub(crate) class: CharClass,
    pub(crate) row: usize,
}

/// How a mask came about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walked {
    /// Frames below the top that the outcome depends on.
    pub(crate) frames: usize,
    /// Whether it depends on data that no key covers: such a mask belongs to this moment only.
    pub(crate) dynamic: bool,
    pub(crate) base: Option<BaseRow>,
    /// A bound that cut some tokens off.
    pub(crate) limit: Option<LimitKind>,
}

/// Computes the mask of `state` into `scratch`.
pub(crate) fn walk<A: Automaton + ?Sized>(
    automaton: &A,
    vocabulary: &Vocabulary,
    seq: &mut Frames,
    state: State,
    scratch: &mut Scratch,
) -> Walked {
    let top = frame_depth(seq, state);
    let before = seq.mark();
    scratch.added.clear();
    scratch.memo.clear();
    seq.begin_walk();

    let base = choose_base(automaton, vocabulary, seq, state);
    let mut limit = None;
    match base {
        None => {
            scratch.mask.clear();
            try_tokens(automaton, seq, state, vocabulary.trie(), 0, vocabulary, scratch, &mut limit);
        }
        Some(at) => {
            let base = vocabulary.base(at.class);
            let row = base.row_at(at.row);
            scratch.mask.copy_from(&row.mask);
            let longest = base.split(vocabulary).longest(&automaton.readable(seq, state));
            let stand_in = match row.chars {
                Some(chars) if u32::from(chars) <= longest => None,
                _ => automaton.stand_in(seq, state, at.class, longest),
            };
            match stand_in {
                Some(stand_in) => {
                    try_split(automaton, seq, state, stand_in, before, base, vocabulary, scratch, &mut limit);
                }
                None => try_rest(automaton, seq, state, at.class, base, vocabulary, scratch, &mut limit),
            }
            if let Some(chars) = row.chars {
                let longer = base.inside(vocabulary);
                try_tokens(automaton, seq, state, longer, chars, vocabulary, scratch, &mut limit);
            }
        }
    }
    try_specials(automaton, vocabulary, seq, state, scratch, &mut limit);

    seq.truncate(before);
    let (touched, dynamic) = seq.end_walk();
    let frames = match (touched, top) {
        (Some(touched), Some(top)) => top.saturating_sub(touched) as usize + 1,
        _ => 0,
    };
    Walked { frames, dynamic, base, limit }
}

/// How many frames lie below the innermost one; `None` where none is open.
fn frame_depth(seq: &Frames, state: State) -> Option<u32> {
    (!state.frame.is_none()).then(|| seq.peek(state.frame).depth)
}

/// The base mask that covers most tokens, where one is worth its while.
fn choose_base<A: Automaton + ?Sized>(
    automaton: &A,
    vocabulary: &Vocabulary,
    seq: &Frames,
    state: State,
) -> Option<BaseRow> {
    let profile = vocabulary.profile();
    let mut best = None;
    let mut most = LEAST_COVER;
    for class in CharClass::ALL.into_iter().rev() {
        let chars = automaton.safe_chars(seq, state, class);
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
    best.map(|(class, chars)| BaseRow { class, row: vocabulary.base(class).row(chars, vocabulary.longest_token()) })
}

/// Tries the tokens that are not wholly of a class by what follows their first characters of the class: `stand_in` stands for the state
/// after those.
#[expect(clippy::too_many_arguments, reason = "the parts of one walk")]
fn try_split<A: Automaton + ?Sized>(
    automaton: &A,
    seq: &mut Frames,
    state: State,
    stand_in: State,
    before: Mark,
    base: &Base,
    vocabulary: &Vocabulary,
    scratch: &mut Scratch,
    limit: &mut Option<LimitKind>,
) {
    let split = base.split(vocabulary);
    let appended = seq.mark() != before;
    try_tokens(automaton, seq, stand_in, &split.tails, 0, vocabulary, scratch, limit);
    if appended {
        seq.truncate(before);
        // What is remembered holds with what the stand-in has appended.
        scratch.memo.clear();
    }
    try_tokens(automaton, seq, state, &split.heads, 0, vocabulary, scratch, limit);
    try_exceptions(automaton, seq, state, base, scratch, limit);
}

/// Tries the tokens that are not wholly of a class, but for those whose first byte beyond it can't be read after the characters before.
#[expect(clippy::too_many_arguments, reason = "the parts of one walk")]
fn try_rest<A: Automaton + ?Sized>(
    automaton: &A,
    seq: &mut Frames,
    state: State,
    class: CharClass,
    base: &Base,
    vocabulary: &Vocabulary,
    scratch: &mut Scratch,
    limit: &mut Option<LimitKind>,
) {
    let ends = base.ends(vocabulary);
    let readable = automaton.readable_after(seq, state, class, ends.longest_run);
    if readable.len() > MOST_ENDS {
        return try_tokens(automaton, seq, state, base.rest(), 0, vocabulary, scratch, limit);
    }
    for byte in readable.iter() {
        try_tokens(automaton, seq, state, ends.with(byte), 0, vocabulary, scratch, limit);
    }
}

/// Tries those tokens afresh for which the stand-in was no good guide.
fn try_exceptions<A: Automaton + ?Sized>(
    automaton: &A,
    seq: &mut Frames,
    start: State,
    base: &Base,
    scratch: &mut Scratch,
    limit: &mut Option<LimitKind>,
) {
    let here = automaton.exceptions(seq, start);
    if here.is_empty() {
        return;
    }
    let nodes = base.rest().nodes();
    let mark = seq.mark();
    // The places along the path, each with the exceptions there, or all bytes behind the characters of the class.
    let mut path = vec![(start, mark, here)];
    let mut at = 0;
    while let Some(&node) = nodes.get(at) {
        path.truncate(usize::from(node.depth) + 1);
        let Some(&(state, before, wanted)) = path.last() else { break };
        let end = at + node.skip as usize;
        // Tokens that begin with another character were tried whole.
        if !wanted.contains(node.byte) || (node.depth == 0 && base.ends_run(node.byte)) {
            at = end;
            continue;
        }
        seq.truncate(before);
        match automaton.step(seq, state, Symbol::Byte(node.byte)) {
            Step::To(state) => {
                base.rest().each_token(node, |id| scratch.allow(id));
                let behind = wanted == ByteSet::all() || base.ends_run(node.byte);
                let wanted = if behind { ByteSet::all() } else { automaton.exceptions(seq, state) };
                if node.skip > 1 && !wanted.is_empty() {
                    path.push((state, seq.mark(), wanted));
                    at += 1;
                } else {
                    at = end;
                }
            }
            step => {
                if let Step::Limit(kind) = step {
                    *limit = Some(kind);
                }
                for &node in &nodes[at..end] {
                    base.rest().each_token(node, |id| scratch.forbid(id));
                }
                at = end;
            }
        }
    }
    seq.truncate(mark);
}

/// Tries the tokens of a trie, but for those known to be of at most `chars` characters.
#[expect(clippy::too_many_arguments, reason = "the parts of one walk")]
fn try_tokens<A: Automaton + ?Sized>(
    automaton: &A,
    seq: &mut Frames,
    start: State,
    trie: &Trie,
    chars: u8,
    vocabulary: &Vocabulary,
    scratch: &mut Scratch,
    limit: &mut Option<LimitKind>,
) {
    let nodes = trie.nodes();
    let root = seq.mark();
    scratch.places.clear();
    scratch.path.resize(vocabulary.longest_token() + 2, 0);
    let slot = scratch.memo.slot(start, || automaton.readable(seq, start));
    scratch.path[0] = slot.map_or_else(|| scratch.put_place(Place::new(automaton, seq, start, 0)), u32::from);
    let mut at = 0;
    while let Some(&node) = nodes.get(at) {
        if chars > 0 && node.reach <= chars {
            at += node.skip as usize;
            continue;
        }
        let depth = usize::from(node.depth);
        let here = scratch.path[depth];
        let slot = Slot::try_from(here).ok();
        if let Some(slot) = slot {
            let known = scratch.memo.get(slot, node.byte);
            if known == DEAD {
                at += node.skip as usize;
                continue;
            }
            if known >= FIRST {
                trie.each_token(node, |id| scratch.allow(id));
                scratch.path[depth + 1] = u32::from(known - FIRST);
                at += 1;
                continue;
            }
        }
        let next = match slot {
            Some(slot) => {
                seq.truncate(root);
                take(automaton, seq, scratch, slot, root, node, limit)
            }
            None => take_from_place(automaton, seq, scratch, here, node, limit),
        };
        let Some(next) = next else {
            at += node.skip as usize;
            continue;
        };
        if scratch.is_doubtful(next) {
            trie.each_token(node, |id| scratch.doubtful.push(id));
        } else {
            trie.each_token(node, |id| scratch.allow(id));
        }
        scratch.path[depth + 1] = next;
        at += 1;
    }
    seq.truncate(root);
    while let Some(id) = scratch.doubtful.pop() {
        let bytes = vocabulary.bytes(TokenId::new(id)).unwrap_or_default();
        if is_allowed(automaton, seq, start, bytes) {
            scratch.allow(id);
        }
        seq.truncate(root);
    }
}

/// Takes a step from a state that is remembered; gives the next place on the path, where there is one.
fn take<A: Automaton + ?Sized>(
    automaton: &A,
    seq: &mut Frames,
    scratch: &mut Scratch,
    from: Slot,
    root: Mark,
    node: Node,
    limit: &mut Option<LimitKind>,
) -> Option<u32> {
    let (next, known) = match automaton.step(seq, scratch.memo.state(from), Symbol::Byte(node.byte)) {
        Step::To(state) => {
            let slot =
                if seq.mark() == root { scratch.memo.slot(state, || automaton.readable(seq, state)) } else { None };
            let known = slot.map_or(IMPURE, |slot| slot + FIRST);
            let place = || scratch.put_place(Place::new(automaton, seq, state, node.depth + 1));
            (Some(slot.map_or_else(place, u32::from)), known)
        }
        Step::Dead => (None, DEAD),
        Step::Limit(kind) => {
            *limit = Some(kind);
            (None, IMPURE)
        }
    };
    scratch.memo.put(from, node.byte, known);
    next
}

/// Takes a step from a place of which nothing is remembered; gives the next place on the path, where there is one.
fn take_from_place<A: Automaton + ?Sized>(
    automaton: &A,
    seq: &mut Frames,
    scratch: &mut Scratch,
    here: u32,
    node: Node,
    limit: &mut Option<LimitKind>,
) -> Option<u32> {
    let at = (here - PLACE) as usize;
    let place = scratch.places[at];
    if !place.readable.contains(node.byte) {
        return None;
    }
    let in_run = CharClass::Ascii.contains(char::from(node.byte));
    if in_run && place.run == Run::StandIn {
        return Some(here);
    }
    seq.truncate(place.mark);
    let longest = to_u32(scratch.path.len());
    let mut run = place.run;
    if in_run && run == Run::Unknown && node.skip >= LEAST_RUN {
        let is_run = automaton.stand_in(seq, place.state, CharClass::Ascii, longest).is_some();
        seq.truncate(place.mark);
        run = if is_run { Run::But(automaton.exceptions(seq, place.state)) } else { Run::Not };
        scratch.places[at].run = run;
    }
    let depth = node.depth + 1;
    let state = match run {
        Run::But(exceptions) if in_run && !exceptions.contains(node.byte) => {
            return Some(scratch.put_place(Place { depth, run: Run::StandIn, quotes: Some(0), ..place }));
        }
        Run::StandIn => automaton.stand_in(seq, place.state, CharClass::Ascii, longest)?,
        _ => place.state,
    };
    match automaton.step(seq, state, Symbol::Byte(node.byte)) {
        Step::To(state) => {
            let quotes = place.quotes.map(|quotes| quotes.saturating_add(u8::from(node.byte == b'"')));
            Some(scratch.put_place(Place { quotes, ..Place::new(automaton, seq, state, depth) }))
        }
        Step::Dead => None,
        Step::Limit(kind) => {
            *limit = Some(kind);
            None
        }
    }
}

/// Whether all of a token can be read.
fn is_allowed<A: Automaton + ?Sized>(automaton: &A, seq: &mut Frames, mut state: State, bytes: &[u8]) -> bool {
    for &byte in bytes {
        let Step::To(next) = automaton.step(seq, state, Symbol::Byte(byte)) else { return false };
        state = next;
    }
    true
}

/// Tries the special tokens; those that end a sequence are also allowed wherever the automaton accepts.
fn try_specials<A: Automaton + ?Sized>(
    automaton: &A,
    vocabulary: &Vocabulary,
    seq: &mut Frames,
    state: State,
    scratch: &mut Scratch,
    limit: &mut Option<LimitKind>,
) {
    let mark = seq.mark();
    for &id in vocabulary.special_list() {
        match automaton.step(seq, state, Symbol::Special(id)) {
            Step::To(_) => scratch.allow(id.get()),
            Step::Dead => {}
            Step::Limit(kind) => *limit = Some(kind),
        }
        seq.truncate(mark);
    }
    if automaton.is_accepting(seq, state) {
        for id in vocabulary.eos() {
            scratch.allow(id.get());
        }
    }
}
