//! Languages of Unicode texts as lazily built byte automata: regular expressions, finite sets, and their boolean algebra.

mod byte_classes;
mod byte_set;
mod compile;
mod content;
mod count;
mod derive;
mod error;
mod format;
mod formula;
mod lengths;
mod literals;
mod loops;
mod near;
mod pool;
mod program;
mod safe;
mod search;
mod spelling;
mod spellings;
mod states;
mod store;
#[cfg(test)]
mod tests;
mod utf8;

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use formwork_grammar::{Regex, StringFormat};
use rustc_hash::FxHashMap;

use compile::Frame;
use count::CountMemo;
use format::Side;
use formula::{Formula, FormulaId, NO, YES};
use lengths::LengthMemo;
use near::NearMemo;
use program::Unit;
use states::{State, States};
use store::{Atom, Store};
use utf8::BOUNDARY;

pub(crate) use byte_classes::preference;
pub use byte_set::ByteSet;
pub use error::LangError;
pub use literals::Literals;
pub(crate) use loops::{LEAST_INSIDE, LangLoop};
pub use near::NEAR_BYTES;
pub use pool::LangPool;

/// A set of Unicode texts, as an id in its [`Langs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lang(FormulaId);

/// A state of a language's automaton, as an id in its [`Langs`]. Some completion of it is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LangState(u32);

impl LangState {
    /// The id as a number.
    pub const fn id(self) -> u32 {
        self.0
    }

    /// The state with this id, which [`LangState::id`] gave for the same [`Langs`].
    pub const fn from_id(id: u32) -> Self {
        Self(id)
    }
}

/// What of a text a pattern has to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Anchor {
    /// All of it.
    Full,
    /// Some part of it, as JSON Schema's `pattern` does.
    Search,
}

/// Bounds on what the automata may grow to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LangLimits {
    /// States of all automata together.
    pub max_states: usize,
    /// Nodes that one pattern may unroll to.
    pub max_nfa: usize,
    /// States that one question of liveness or length may look at.
    pub max_search: usize,
    /// Places in patterns that such a question may go through: a state of a long pattern is at many of them.
    pub max_work: u64,
}

impl Default for LangLimits {
    fn default() -> Self {
        Self { max_states: 1 << 22, max_nfa: 1 << 17, max_search: 1 << 16, max_work: 1 << 24 }
    }
}

/// A store of languages and their states, perhaps in common with others. It only grows, is shared by threads, and known transitions are read
/// without a lock.
///
/// A language is a boolean formula over patterns and finite sets; a state is what is left of it after some bytes. Texts are
/// valid UTF-8 and spelled with the store's alphabet; no other byte ever leads to a state.
///
/// ```
/// use formwork_automaton::{Anchor, ByteSet, LangLimits, Langs};
/// use formwork_grammar::Regex;
/// let langs = Langs::new(ByteSet::all(), LangLimits::default());
/// let hex = langs.regex(&Regex::parse_ecma("^[0-9a-f]+$")?, Anchor::Search)?;
/// let no_digit = langs.not(langs.regex(&Regex::parse_ecma("[0-9]")?, Anchor::Search)?);
/// let both = langs.and(hex, no_digit);
/// assert!(langs.contains(both, "cafe") && !langs.contains(both, "c4fe"));
/// let start = langs.start(both).unwrap();
/// assert_eq!(langs.step(start, b'7'), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Langs {
    common: Arc<Common>,
    /// What was asked of this one has added so many bytes to the states, and to the rest, has gone through so many places in patterns,
    /// and was left open so often.
    bytes: AtomicUsize,
    fixed: AtomicUsize,
    work: AtomicU64,
    undecided: AtomicU64,
}

/// What several stores may have in common.
#[derive(Debug)]
struct Common {
    alphabet: ByteSet,
    limits: LangLimits,
    states: States,
    store: Mutex<Store>,
    lengths: Mutex<LengthMemo>,
    counts: Mutex<CountMemo>,
    formats: Mutex<FxHashMap<(StringFormat, Side), Lang>>,
    /// Whether some question was left open or a pattern refused: nobody else is to begin with that.
    is_spent: AtomicBool,
    near: Mutex<NearMemo>,
    /// Bytes that all have added.
    bytes: AtomicUsize,
}

impl Common {
    fn new(alphabet: ByteSet, limits: LangLimits) -> Self {
        Self {
            alphabet,
            limits,
            states: States::default(),
            store: Mutex::new(Store::new(alphabet, limits)),
            lengths: Mutex::default(),
            counts: Mutex::default(),
            formats: Mutex::default(),
            is_spent: AtomicBool::new(false),
            near: Mutex::default(),
            bytes: AtomicUsize::new(0),
        }
    }

    /// What a panic elsewhere left behind is still consistent: tables are only appended to.
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes held on the heap, roughly.
    fn heap_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// The store, locked: what it grows by meanwhile is put down to who has locked it.
struct Metered<'a> {
    langs: &'a Langs,
    store: MutexGuard<'a, Store>,
    bytes: usize,
    fixed: usize,
    work: u64,
    undecided: u64,
}

impl Metered<'_> {
    fn bytes(langs: &Langs, store: &Store) -> usize {
        langs.common.states.heap_bytes() + store.state_bytes()
    }
}

impl Deref for Metered<'_> {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl DerefMut for Metered<'_> {
    fn deref_mut(&mut self) -> &mut Store {
        &mut self.store
    }
}

impl Drop for Metered<'_> {
    fn drop(&mut self) {
        let langs = self.langs;
        langs.add_bytes(&langs.bytes, Self::bytes(langs, &self.store).saturating_sub(self.bytes));
        langs.add_bytes(&langs.fixed, self.store.fixed_bytes() - self.fixed);
        self.langs.work.fetch_add(self.store.work - self.work, Ordering::Relaxed);
        if self.store.undecided > self.undecided {
            self.langs.leave_open(self.store.undecided - self.undecided);
        }
    }
}

impl Langs {
    /// An empty store whose texts are spelled with the bytes of `alphabet`.
    pub fn new(alphabet: ByteSet, limits: LangLimits) -> Self {
        Self::of(Arc::new(Common::new(alphabet, limits)))
    }

    fn of(common: Arc<Common>) -> Self {
        let [bytes, fixed] = [0, 0].map(AtomicUsize::new);
        Self { common, bytes, fixed, work: AtomicU64::new(0), undecided: AtomicU64::new(0) }
    }

    fn store(&self) -> Metered<'_> {
        let store = self.common.store();
        let (bytes, fixed) = (Metered::bytes(self, &store), store.fixed_bytes());
        let (work, undecided) = (store.work, store.undecided);
        Metered { langs: self, store, bytes, fixed, work, undecided }
    }

    /// Adds what a table has grown by to one of the counts, and to that of all.
    fn add_bytes(&self, count: &AtomicUsize, bytes: usize) {
        count.fetch_add(bytes, Ordering::Relaxed);
        self.common.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn leave_open(&self, questions: u64) {
        self.undecided.fetch_add(questions, Ordering::Relaxed);
        self.common.is_spent.store(true, Ordering::Relaxed);
    }

    /// Every text.
    pub fn any(&self) -> Lang {
        Lang(YES)
    }

    /// No text.
    pub fn none(&self) -> Lang {
        Lang(NO)
    }

    /// A finite set of texts. Those that the alphabet can't spell are left out.
    pub fn literals<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Lang {
        let literals = Literals::new(texts, &self.common.alphabet);
        Lang(self.store().literals(literals))
    }

    /// The texts that a pattern matches. The same pattern is compiled once.
    ///
    /// # Errors
    /// Where a look-around can't be turned into an automaton, or repeats unroll beyond [`LangLimits::max_nfa`].
    pub fn regex(&self, re: &Regex, anchor: Anchor) -> Result<Lang, LangError> {
        let frame = match anchor {
            Anchor::Full => Frame::Exact,
            Anchor::Search => Frame::Anywhere,
        };
        let found = self.store().pattern(re, frame).map(Lang);
        if found.is_err() {
            self.common.is_spent.store(true, Ordering::Relaxed);
        }
        found
    }

    /// The texts of so many characters.
    ///
    /// # Errors
    /// Where the counts unroll beyond [`LangLimits::max_nfa`].
    pub fn of_length(&self, min: u32, max: Option<u32>) -> Result<Lang, LangError> {
        if min == 0 && max.is_none() {
            return Ok(self.any());
        }
        let max = max.map_or_else(String::new, |max| max.to_string());
        match Regex::parse_rust(&format!("(?s:.{{{min},{max}}})")) {
            Ok(regex) => self.regex(&regex, Anchor::Full),
            // A window that crosses itself.
            Err(_) => Ok(self.none()),
        }
    }

    /// Texts in both. A finite set stays one.
    pub fn and(&self, a: Lang, b: Lang) -> Lang {
        for (finite, other) in [(a, b), (b, a)] {
            if let Some(texts) = self.literal_set(finite) {
                let kept: Vec<&str> = texts.iter().filter(|text| self.contains(other, text)).collect();
                return if kept.len() == texts.len() { finite } else { self.literals(kept) };
            }
        }
        Lang(self.store().and(&[a.0, b.0]))
    }

    /// Texts in either. Two finite sets become one.
    pub fn or(&self, a: Lang, b: Lang) -> Lang {
        if let (Some(a), Some(b)) = (self.literal_set(a), self.literal_set(b)) {
            return self.literals(a.iter().chain(b.iter()));
        }
        Lang(self.store().or(&[a.0, b.0]))
    }

    /// All texts that are not in it.
    pub fn not(&self, a: Lang) -> Lang {
        Lang(self.store().not(a.0))
    }

    /// Texts of `a` that are not in `b`.
    pub fn minus(&self, a: Lang, b: Lang) -> Lang {
        self.and(a, self.not(b))
    }

    /// Whether no text is in it.
    pub fn is_empty(&self, a: Lang) -> bool {
        self.start(a).is_none()
    }

    /// Whether no text is in both.
    pub fn is_disjoint(&self, a: Lang, b: Lang) -> bool {
        self.is_empty(self.and(a, b))
    }

    /// Whether a text is in it.
    pub fn contains(&self, a: Lang, text: &str) -> bool {
        let mut state = self.start(a);
        for byte in text.bytes() {
            state = state.and_then(|s| self.step(s, byte));
        }
        state.is_some_and(|s| self.is_accepting(s))
    }

    /// The texts, where the language is a plain finite set (not empty, and not made with a pattern or complement alone).
    pub fn literal_set(&self, a: Lang) -> Option<Literals> {
        let store = self.store();
        match *store.formulas.get(a.0) {
            Formula::Literals { atom, range } if range.depth == 0 => match store.atoms.get(atom as usize) {
                Some(Atom::Literals { literals, .. }) => Some(literals.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The state before the first byte; `None` where no text is in the language.
    pub fn start(&self, a: Lang) -> Option<LangState> {
        let mut store = self.store();
        let id = self.common.states.intern(&mut store, a.0, BOUNDARY)?;
        self.common.states.is_live(&mut store, id).then_some(LangState(id))
    }

    /// The state after one more byte; `None` where no completion exists.
    #[inline]
    pub fn step(&self, s: LangState, byte: u8) -> Option<LangState> {
        let state = self.common.states.get(s.0)?;
        self.step_class(s.0, state, state.classes.class(byte)).map(LangState)
    }

    #[inline]
    fn step_class(&self, id: u32, state: &State, class: u8) -> Option<u32> {
        match States::known(state, class) {
            Some(known) => known,
            None => self.common.states.live_edge(&mut self.store(), id, class),
        }
    }

    /// Whether the text so far is in the language.
    #[inline]
    pub fn is_accepting(&self, s: LangState) -> bool {
        self.common.states.get(s.0).is_some_and(|state| state.accepting)
    }

    /// Whether the bytes so far end with a whole character.
    #[inline]
    pub fn at_char_boundary(&self, s: LangState) -> bool {
        self.common.states.get(s.0).is_some_and(|state| state.utf8 == BOUNDARY)
    }

    /// Whether every completion is accepted (a sufficient check: `false` says nothing).
    #[inline]
    pub fn is_universal(&self, s: LangState) -> bool {
        self.common.states.get(s.0).is_some_and(State::is_universal)
    }

    /// Bytes to the nearest accepting state.
    pub fn shortest(&self, s: LangState) -> u32 {
        self.distance(s, Unit::Bytes)
    }

    /// The fewest further characters to an accepting state. In the middle of a character, that one was counted at its first
    /// byte.
    pub fn chars_to_accept(&self, s: LangState) -> u32 {
        self.distance(s, Unit::Chars)
    }

    fn distance(&self, s: LangState, unit: Unit) -> u32 {
        match self.common.states.known_distance(s.0, unit) {
            Some(known) => known,
            None => self.common.states.distance(&mut self.store(), s.0, unit),
        }
    }

    /// The first byte of a shortest completion, the most readable where several begin one; `None` in an accepting state.
    pub fn shortest_next(&self, s: LangState) -> Option<u8> {
        self.common.states.shortest_next(&mut self.store(), s.0)
    }

    /// How often a limit left a question undecided, which was then answered with "no completion".
    pub fn undecided(&self) -> u64 {
        self.undecided.load(Ordering::Relaxed)
    }

    /// How many places in patterns were gone through so far.
    pub(crate) fn work(&self) -> u64 {
        self.work.load(Ordering::Relaxed)
    }

    fn note_undecided(&self) {
        self.leave_open(1);
    }

    /// How many states there are so far.
    pub(crate) fn states(&self) -> usize {
        self.common.states.len()
    }

    /// Bytes of the states that were added, which grow with what is read.
    pub(crate) fn state_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bytes held on the heap, roughly: those that were added for this one.
    pub fn heap_bytes(&self) -> usize {
        self.fixed.load(Ordering::Relaxed) + self.state_bytes()
    }
}
