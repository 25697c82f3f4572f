//! Walks the states that texts can reach, and computes their masks ahead of time.
//!
//! States are explored by bytes, which is more than tokens alone would reach. Two places are one where all of their stack has the same
//! signature: the mask's own key says too little, since what follows a closing bracket depends on what lies below. Nor does it say how
//! far a counter's end is where no token feels it yet: places tell that up to [`REACH`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use formwork_automaton::{Automaton, Fill, Fingerprint, Frames, Key, State, Step, Symbol, TokenId};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::artefact::{self, Content, KEY_BYTES, Known, MASK_BYTES};
use crate::cache::Generation;
use crate::compiled::CompiledConstraint;
use crate::error::Error;
use crate::fingerprint::fingerprint;
use crate::walk::{BaseRow, Scratch, Walk};

/// Bounds on what is computed ahead of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrecomputeLimits {
    /// Places that are looked at.
    pub states: usize,
    /// Bytes of the artefact.
    pub bytes: usize,
}

impl Default for PrecomputeLimits {
    fn default() -> Self {
        Self { states: 100_000, bytes: 64 << 20 }
    }
}

impl PrecomputeLimits {
    /// Sets how many places are looked at.
    #[must_use]
    pub const fn states(mut self, states: usize) -> Self {
        self.states = states;
        self
    }

    /// Sets the bytes of the artefact.
    #[must_use]
    pub const fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }
}

/// How far an exploration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exploration {
    /// Places looked at.
    pub states: usize,
    /// Places that are known and wait.
    pub waiting: usize,
    /// Mask keys with a mask.
    pub covered: usize,
}

/// Which bound ended an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Bound {
    /// [`PrecomputeLimits::states`].
    States,
    /// [`PrecomputeLimits::bytes`].
    Bytes,
    /// Half of what the automaton's own tables may hold.
    Tables,
}

impl Bound {
    /// The bound's name, as options spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::States => "states",
            Self::Bytes => "bytes",
            Self::Tables => "table_bytes",
        }
    }
}

/// Masks computed ahead of time.
#[derive(Debug)]
pub struct Precomputed {
    known: FxHashMap<Fingerprint, Known>,
    masks: IndexSet<Content, FxBuildHasher>,
    ids: usize,
    covered: usize,
    dynamic: usize,
    uncovered: usize,
    states: usize,
    bound: Option<Bound>,
}

impl Precomputed {
    /// Mask keys with a mask.
    pub fn covered(&self) -> usize {
        self.covered
    }

    /// Mask keys whose masks depend on a sequence's own data (keys used, values seen), so that none can be kept.
    pub fn dynamic(&self) -> usize {
        self.dynamic
    }

    /// Mask keys that were met, those whose masks depend on data not counted.
    pub fn total(&self) -> usize {
        self.covered + self.uncovered
    }

    /// Distinct masks.
    pub fn masks(&self) -> usize {
        self.masks.len()
    }

    /// Places that were looked at.
    pub fn states(&self) -> usize {
        self.states
    }

    /// The bound that ended the exploration before all was seen.
    pub fn bound(&self) -> Option<Bound> {
        self.bound
    }

    /// Bytes of the artefact, but for its header.
    pub fn bytes(&self) -> usize {
        self.known.len() * KEY_BYTES + self.masks.len() * MASK_BYTES + self.ids * 4
    }

    /// The artefact: what an [`Artefact`](crate::Artefact) is read from. `constraint` is what tells the constraint from others; who loads
    /// the artefact names it too.
    pub fn to_bytes(&self, compiled: &CompiledConstraint, constraint: &[u8; 32]) -> Vec<u8> {
        let mut known: Vec<(Fingerprint, Known)> = self.known.iter().map(|(print, known)| (*print, *known)).collect();
        known.sort_unstable_by_key(|(print, _)| *print);
        artefact::write(constraint, compiled.vocabulary(), &known, &self.masks)
    }

    /// What is known of a place's mask.
    fn find<A: Automaton + ?Sized>(&self, automaton: &A, seq: &Frames, state: State) -> Result<Option<Known>, Error> {
        for frames in 0.. {
            let print = fingerprint(automaton, seq, state, frames).ok_or_else(Error::no_fingerprint)?;
            match self.known.get(&print) {
                Some(Known::Deeper) => {}
                known => return Ok(known.copied()),
            }
        }
        Ok(None)
    }

    fn mask(&mut self, content: Content) -> Known {
        let ids = content.len();
        let (index, new) = self.masks.insert_full(content);
        self.ids += if new { ids } else { 0 };
        // An artefact has room for far fewer.
        Known::Mask(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// A place that waits to be looked at. Those come first that a generation meets first: after few bytes, in few containers.
struct Waiting {
    cost: Reverse<(u32, u64)>,
    bytes: u32,
    /// What it holds in memory.
    held: usize,
    seq: Frames,
    state: State,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cost == other.cost
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.cost.cmp(&other.cost)
    }
}

/// How far counters are told apart: characters of a string, items of an array.
const REACH: u32 = 1024;

/// One more container weighs as much as so many bytes.
const BYTES_A_FRAME: u32 = 32;

/// Places that wait, for each that may be looked at: more are not even noted.
const WAITING_FOR_EACH: usize = 4;

/// What the places that wait may hold together.
const WAITING_BYTES: usize = 256 << 20;

/// Places between two reports of how far it is.
const REPORT_EVERY: usize = 64;

/// Explores the states of a constraint and computes their masks, within limits. `show` is told now and then how far it is.
///
/// ```
/// # use std::sync::Arc;
/// # use formwork_automaton::{RegexAutomaton, Spelling};
/// # use formwork_mask::{Artefact, CompiledConstraint, PrecomputeLimits, TokenEntry, Vocabulary, precompute};
/// # let entries = (0..=255).map(|b| TokenEntry::Text(vec![b])).collect();
/// # let vocabulary = Vocabulary::from_tokens(entries, &[])?;
/// # let regex = formwork_grammar::Regex::parse_rust("[a-c]{2}").unwrap();
/// # let automaton = Arc::new(RegexAutomaton::new(&regex, Spelling::default()).unwrap());
/// let compiled = CompiledConstraint::new(automaton, &vocabulary)?;
/// let masks = precompute(&compiled, &PrecomputeLimits::default(), &mut |_| {})?;
/// assert_eq!((masks.covered(), masks.total(), masks.bound()), (3, 3, None));
///
/// let artefact = Artefact::from_bytes(masks.to_bytes(&compiled, &[1; 32]), "[a-c]{2}")?;
/// let compiled = compiled.with_artefact(artefact, &[1; 32])?;
/// assert_eq!(compiled.matcher().mask()?.count(), 3);
/// assert_eq!(compiled.cache_stats().computed, 0);
/// # Ok::<(), formwork_mask::Error>(())
/// ```
///
/// # Errors
/// Where the automaton has no fingerprints.
pub fn precompute(
    compiled: &CompiledConstraint,
    limits: &PrecomputeLimits,
    show: &mut dyn FnMut(Exploration),
) -> Result<Precomputed, Error> {
    let automaton = compiled.automaton();
    let mut explorer = Explorer::new(compiled, &*automaton, *limits);
    explorer.begin();
    while let Some(place) = explorer.waiting.pop() {
        explorer.found.bound = explorer.bound_met();
        if explorer.found.bound.is_some() {
            explorer.waiting.push(place);
            break;
        }
        explorer.look(place)?;
        if explorer.found.states.is_multiple_of(REPORT_EVERY) {
            let (states, waiting) = (explorer.found.states, explorer.waiting.len());
            show(Exploration { states, waiting, covered: explorer.found.covered });
        }
    }
    explorer.finish()
}

/// An exploration under way.
struct Explorer<'a> {
    compiled: &'a CompiledConstraint,
    automaton: &'a dyn Automaton,
    limits: PrecomputeLimits,
    scratch: Scratch,
    /// What masks have in common.
    parts: Generation,
    seen: FxHashSet<Key>,
    waiting: BinaryHeap<Waiting>,
    /// What they hold.
    held: usize,
    noted: u64,
    /// Whether places were met that could not be noted.
    left_out: bool,
    found: Precomputed,
}

impl<'a> Explorer<'a> {
    fn new(compiled: &'a CompiledConstraint, automaton: &'a dyn Automaton, limits: PrecomputeLimits) -> Self {
        let bytes = limits.bytes.min(artefact::MOST_BYTES / 2);
        Self {
            compiled,
            automaton,
            limits: PrecomputeLimits { bytes, ..limits },
            scratch: Scratch::new(compiled.vocabulary()),
            parts: compiled.generation().afresh(),
            seen: FxHashSet::default(),
            waiting: BinaryHeap::new(),
            held: 0,
            noted: 0,
            left_out: false,
            found: Precomputed {
                known: FxHashMap::default(),
                masks: IndexSet::default(),
                ids: 0,
                covered: 0,
                dynamic: 0,
                uncovered: 0,
                states: 0,
                bound: None,
            },
        }
    }

    fn begin(&mut self) {
        let mut seq = Frames::new();
        let state = self.automaton.start(&mut seq);
        self.note(&seq, state, 0);
    }

    fn bound_met(&self) -> Option<Bound> {
        if self.found.states >= self.limits.states {
            Some(Bound::States)
        } else if self.found.bytes() >= self.limits.bytes {
            Some(Bound::Bytes)
        } else {
            (self.automaton.fill() != Fill::Little).then_some(Bound::Tables)
        }
    }

    /// Notes a place, unless one like it is known.
    fn note(&mut self, seq: &Frames, state: State, bytes: u32) {
        let depth = if state.frame.is_none() { 0 } else { seq.peek(state.frame).depth + 1 };
        let key = self.automaton.place(seq, state, REACH);
        if self.seen.contains(&key) {
            return;
        }
        let held = size_of::<Waiting>() + seq.heap_bytes();
        let many = self.waiting.len() >= self.limits.states.saturating_mul(WAITING_FOR_EACH);
        if many || self.held + held > WAITING_BYTES {
            self.left_out = true;
            return;
        }
        self.seen.insert(key);
        let cost = Reverse((bytes.saturating_add(depth.saturating_mul(BYTES_A_FRAME)), self.noted));
        self.noted += 1;
        self.held += held;
        self.waiting.push(Waiting { cost, bytes, held, seq: seq.clone(), state });
    }

    /// Finds a place's mask, and the places that follow it.
    fn look(&mut self, mut place: Waiting) -> Result<(), Error> {
        self.found.states += 1;
        self.held -= place.held;
        let (seq, state) = (&mut place.seq, place.state);
        if self.found.find(self.automaton, seq, state)?.is_none() {
            self.walk(seq, state)?;
        }
        let bytes = place.bytes.saturating_add(1);
        let mark = seq.mark();
        let specials = self.compiled.vocabulary().specials_for(self.automaton).iter().copied().map(Symbol::Special);
        let readable = self.automaton.readable(seq, state);
        for symbol in readable.iter().map(Symbol::Byte).chain(specials) {
            if let Step::To(next) = self.automaton.step(seq, state, symbol) {
                self.note(seq, next, bytes);
            }
            seq.truncate(mark);
        }
        Ok(())
    }

    /// Computes a place's mask.
    fn walk(&mut self, seq: &mut Frames, state: State) -> Result<(), Error> {
        let scratch = &mut self.scratch;
        if self.parts.is_full() {
            self.parts = self.parts.afresh();
        }
        let walk = Walk::new(self.automaton, self.compiled.vocabulary(), &self.parts, seq, scratch);
        let walked = walk.compute(state);
        if walked.base.is_none() && scratch.mask.is_empty() && !self.automaton.is_accepting(seq, state) {
            self.found.uncovered += 1;
            return Ok(());
        }
        let print = |frames| fingerprint(self.automaton, seq, state, frames).ok_or_else(Error::no_fingerprint);
        for frames in 0..walked.frames {
            self.found.known.insert(print(frames)?, Known::Deeper);
        }
        let last = print(walked.frames)?;
        let known = if walked.dynamic {
            self.found.dynamic += 1;
            Known::Dynamic
        } else {
            self.found.covered += 1;
            let sorted = |ids: &[u32]| {
                let mut ids: Box<[u32]> = ids.into();
                ids.sort_unstable();
                ids
            };
            let vocabulary = self.compiled.vocabulary();
            let open = sorted(&scratch.open);
            // What depends on the vocabulary's own tables is written out.
            let (base, added) = match walked.base {
                None => {
                    scratch.flatten(None);
                    (None, sorted(&scratch.added))
                }
                Some(BaseRow::Class(at)) => {
                    scratch.flatten(Some(&vocabulary.base(at.class).row_at(at.row).mask));
                    (Some(at), sorted(&scratch.added))
                }
                Some(BaseRow::Loop(sets)) => {
                    let row = vocabulary.loops().row(vocabulary, sets);
                    scratch.flatten(Some(&row));
                    let ids: Vec<u32> = row.iter().map(TokenId::get).chain(scratch.added.iter().copied()).collect();
                    (None, sorted(&ids))
                }
            };
            self.found.mask(Content { base, added, open })
        };
        self.found.known.insert(last, known);
        Ok(())
    }

    /// Counts what was met and not looked at.
    fn finish(mut self) -> Result<Precomputed, Error> {
        if self.left_out && self.found.bound.is_none() {
            self.found.bound = Some(Bound::States);
        }
        for place in &self.waiting {
            if self.found.find(self.automaton, &place.seq, place.state)?.is_none() {
                self.found.uncovered += 1;
            }
        }
        Ok(self.found)
    }
}
