//! The walk that computes a mask: every token's bytes tried from one state, by way of the trie.

use formwork_automaton::{Automaton, CharClass, Frames, LimitKind, Mark, State, Step, Symbol};

use crate::mask::Mask;
use crate::trie::Trie;
use crate::vocabulary::Vocabulary;
use crate::walk_memo::{Known, Slot, WalkMemo};

/// A class's base mask pays for itself from about this many tokens on; below, the plain walk is as short.
const LEAST_COVER: u32 = 48;

/// What a matcher keeps for its walks, so that none allocates.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// The mask computed last.
    pub(crate) mask: Mask,
    /// The tokens in it that its base has not.
    pub(crate) added: Vec<u32>,
    stack: Vec<Place>,
    memo: WalkMemo,
}

/// A place on the path through the trie.
#[derive(Clone, Copy, Debug)]
struct Place {
    state: State,
    mark: Mark,
    /// Where the store is as at the walk's beginning: the state among those remembered.
    slot: Option<Slot>,
}

impl Scratch {
    pub(crate) fn new(vocabulary: &Vocabulary) -> Self {
        Self { mask: Mask::none(vocabulary.len()), added: Vec::new(), stack: Vec::new(), memo: WalkMemo::default() }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.mask.heap_bytes()
            + self.added.capacity() * 4
            + self.stack.capacity() * size_of::<Place>()
            + self.memo.heap_bytes()
    }

    fn allow(&mut self, id: u32) {
        if self.mask.insert(id) {
            self.added.push(id);
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
            try_tokens(automaton, seq, state, vocabulary.trie(), 0, scratch, &mut limit);
        }
        Some(at) => {
            let base = vocabulary.base(at.class);
            let row = base.row_at(at.row);
            scratch.mask.copy_from(&row.mask);
            try_tokens(automaton, seq, state, base.rest(), 0, scratch, &mut limit);
            if let Some(chars) = row.chars {
                let longer = base.inside(vocabulary);
                try_tokens(automaton, seq, state, longer, chars, scratch, &mut limit);
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

/// Tries the tokens of a trie, but for those known to be of at most `chars` characters.
fn try_tokens<A: Automaton + ?Sized>(
    automaton: &A,
    seq: &mut Frames,
    start: State,
    trie: &Trie,
    chars: u8,
    scratch: &mut Scratch,
    limit: &mut Option<LimitKind>,
) {
    let nodes = trie.nodes();
    let root = Place { state: start, mark: seq.mark(), slot: scratch.memo.slot(start) };
    scratch.stack.clear();
    scratch.stack.push(root);
    let mut at = 0;
    while let Some(&node) = nodes.get(at) {
        if chars > 0 && node.reach <= chars {
            at += node.skip as usize;
            continue;
        }
        // The stack holds the places along the path: those of other branches are dropped as the depth falls.
        scratch.stack.truncate(usize::from(node.depth) + 1);
        let place = scratch.stack.last().copied().unwrap_or(root);
        let known = place.slot.map_or(Known::Impure, |slot| scratch.memo.get(slot, node.byte));
        let next = match known {
            Known::Dead => None,
            Known::To(slot) => Some(Place { state: scratch.memo.state(slot), mark: root.mark, slot: Some(slot) }),
            Known::Nothing | Known::Impure => {
                seq.truncate(place.mark);
                let step = automaton.step(seq, place.state, Symbol::Byte(node.byte));
                take(scratch, root.mark, place.slot, node.byte, step, seq.mark(), limit)
            }
        };
        match next {
            Some(next) => {
                trie.each_token(node, |id| scratch.allow(id));
                if node.skip > 1 {
                    scratch.stack.push(next);
                }
                at += 1;
            }
            None => at += node.skip as usize,
        }
    }
    seq.truncate(root.mark);
}

/// Where a step leads, remembered if it is the same each time.
fn take(
    scratch: &mut Scratch,
    root: Mark,
    from: Option<Slot>,
    byte: u8,
    step: Step,
    mark: Mark,
    limit: &mut Option<LimitKind>,
) -> Option<Place> {
    let pure = mark == root;
    let (next, known) = match step {
        Step::To(state) => {
            let slot = if pure { scratch.memo.slot(state) } else { None };
            (Some(Place { state, mark, slot }), slot.map_or(Known::Impure, Known::To))
        }
        Step::Dead => (None, Known::Dead),
        Step::Limit(kind) => {
            *limit = Some(kind);
            (None, Known::Impure)
        }
    };
    if let Some(from) = from {
        scratch.memo.put(from, byte, known);
    }
    next
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
