//! The one trait that masks, forced tokens, rollback, witnesses and budgets are written against.

use std::sync::Arc;

use formwork_grammar::Whitespace;
use smallvec::SmallVec;

use crate::char_class::CharClass;
use crate::fingerprint::Fingerprint;
use crate::frames::{FrameId, Frames};
use crate::json::KnownKeys;
use crate::lang::ByteSet;
use crate::symbol::Symbol;

/// A configuration's top: a shared state with its counters, and the frame it stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Id of a shared, data-free state.
    pub id: u32,
    /// Data that the shared state counts with (characters read, digits of an escape …).
    pub a: u32,
    /// More of it.
    pub b: u32,
    /// And more.
    pub c: u32,
    /// The innermost open frame.
    pub frame: FrameId,
}

/// What reading one symbol leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The next state; some completion of it exists.
    To(State),
    /// No completion exists.
    Dead,
    /// A named bound was met: the symbol is refused although the constraint might allow it.
    Limit(LimitKind),
}

/// The bounds that [`Step::Limit`] can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitKind {
    /// Containers nested deeper than the configured depth.
    Depth,
    /// The shared tables hold more than the configured number of bytes.
    TableBytes,
}

/// How much of what its shared tables may hold an automaton has used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fill {
    /// Less than half.
    Little,
    /// Half or more: sequences that begin now had better do so [`afresh`](Automaton::afresh).
    Half,
    /// All: sequences that are under way are to end by their [`witness`](Automaton::witness).
    Full,
}

/// A shortest completion that the automaton found, symbol by symbol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// What to read to get to an accepting state; empty in an accepting state.
    pub symbols: Vec<Symbol>,
}

impl Witness {
    /// Its length in symbols.
    pub fn cost(&self) -> usize {
        self.symbols.len()
    }

    /// Its bytes, where it has no special token.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        self.symbols
            .iter()
            .map(|s| match s {
                Symbol::Byte(b) => Some(*b),
                Symbol::Special(_) => None,
            })
            .collect()
    }
}

/// What a mask may depend on: the words of the top state and of the frames consulted, exact (never a hash).
pub type Key = SmallVec<[u32; 20]>;

/// A state that stands for those after some characters.
#[derive(Clone, Copy, Debug)]
pub struct StandIn {
    /// The state.
    pub state: State,
    /// Whether it also stands for the state before them, as far as text is concerned that begins with a backslash.
    pub escapes: bool,
    /// What the automaton has to know of it to tell its exceptions.
    pub(crate) like: Option<Like>,
}

impl StandIn {
    /// A state that stands in for others; `escapes` where it does for the state before the characters, too.
    ///
    /// ```
    /// use formwork_automaton::{FrameId, StandIn, State};
    /// let state = State { id: 1, a: 0, b: 0, c: 0, frame: FrameId::NONE };
    /// assert!(!StandIn::new(state, false).escapes);
    /// ```
    pub const fn new(state: State, escapes: bool) -> Self {
        Self { state, escapes, like: None }
    }
}

/// Characters that a state reads again and again. In the sets, the bytes from 0x80 on stand for all characters beyond ASCII: all of these
/// bytes are in a set or none is.
#[derive(Clone, Copy, Debug)]
pub struct CharLoop {
    /// A state that stands for those after one or more characters of `inside`, whichever they are.
    pub after: State,
    /// Characters any number of which can be read in any order; one of `apart` may stand among them, also at either end.
    pub inside: ByteSet,
    /// Characters of which one can be read before, after or between those of `inside`.
    pub apart: ByteSet,
    /// Characters among which are all others (those of `apart` included) that can be read after such a text.
    pub exits: ByteSet,
    /// What tells the [exceptions](Automaton::exceptions) of `after`, where it has any.
    pub stand_in: Option<StandIn>,
    /// Whether all this holds for texts of at most [`NEAR_BYTES`](crate::NEAR_BYTES) bytes only.
    pub short: bool,
}

/// A state in text of any kind, and what tells it from others of its kind whatever the constraint.
#[derive(Clone, Copy, Debug)]
pub struct FreeText {
    /// A state that reads what may follow within the text. Where the text ends it is dead, and notes a
    /// [look](Frames::note_look) at the frames.
    pub state: State,
    /// Equal for states that read alike, in all automata.
    pub kind: TextKind,
    /// Where all texts end alike.
    pub end: Option<TextEnd>,
}

/// Where a text leads that may go on in any way.
#[derive(Clone, Copy, Debug)]
pub struct TextEnd {
    /// The state that the closing quote is read from, whatever the text.
    pub before_quote: State,
    /// Whether the quote may come at once; otherwise one character has to come first.
    pub at_once: bool,
}

/// How structure may go on where a value has ended: what blanks, commas and closing brackets lead to.
///
/// States for which it is equal, of any automata, read alike all texts of these up to what follows the blanks after a comma.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ending {
    pub(crate) alphabet: ByteSet,
    pub(crate) any_escapes: bool,
    pub(crate) whitespace: Whitespace,
    /// Blanks read so far.
    pub(crate) blanks: u32,
    /// What may come in each of the containers around, from the innermost on.
    pub(crate) levels: u64,
}

/// How a value may begin where a key has ended: what blanks, the colon and the first bytes of a value lead to.
///
/// States for which it is equal, of any automata, read alike all texts of these up to the first byte of a number or a literal, the end of an
/// opening bracket's container and what is within an array. Where [`is_any`](Self::is_any), only to the end of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Opening {
    pub(crate) alphabet: ByteSet,
    pub(crate) any_escapes: bool,
    pub(crate) whitespace: Whitespace,
    /// Blanks read so far.
    pub(crate) blanks: u32,
    /// What may begin.
    pub(crate) value: u32,
    pub(crate) is_any: bool,
}

impl Opening {
    /// Whether any value may follow.
    pub const fn is_any(self) -> bool {
        self.is_any
    }
}

/// The keys that may begin at a place, as far as an [`Ending`] or an [`Opening`] tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NextKey {
    /// Any text.
    Any,
    /// Some known keys, all of which begin with a letter, a digit, `_` or `$`.
    Named,
    /// That isn't told.
    Other,
}

impl NextKey {
    /// Whether a known key of [`NextKey::Named`] may begin so.
    ///
    /// ```
    /// use formwork_automaton::NextKey;
    /// assert!(NextKey::is_first(b'a') && !NextKey::is_first(b','));
    /// ```
    pub const fn is_first(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
    }
}

/// How text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextKind {
    pub(crate) alphabet: ByteSet,
    pub(crate) any_escapes: bool,
    /// What is read of an escape.
    pub(crate) escape: u32,
}

/// Keys that are like each other: those that go on with a certain byte after a certain number of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Like {
    pub(crate) after: u32,
    pub(crate) byte: u8,
    /// Whether only short tokens are to be told apart.
    pub(crate) near: bool,
}

/// A deterministic automaton over bytes and special tokens.
///
/// It is shared and immutable to its users (tables fill lazily behind `&self`); what belongs to one sequence lives in
/// [`Frames`]. Two laws hold for every implementation, and tests check them:
///
/// - **No dead ends.** A state that [`step`](Automaton::step) returns has a completion, and
///   [`witness`](Automaton::witness) names one.
/// - **Keys cover.** Two states with the same [`signature`](Automaton::signature) at depth *d* behave alike for as long as no
///   frame deeper than *d* is read and no key used before is asked for ([`Frames`] notes both).
pub trait Automaton: Send + Sync + std::fmt::Debug {
    /// The state before the first symbol.
    fn start(&self, seq: &mut Frames) -> State;

    /// Reads one symbol.
    fn step(&self, seq: &mut Frames, state: State, symbol: Symbol) -> Step;

    /// Whether generation may end here.
    fn is_accepting(&self, seq: &Frames, state: State) -> bool;

    /// A shortest completion.
    fn witness(&self, seq: &Frames, state: State) -> Witness;

    /// An upper bound of the witness's length in symbols, cheaper than spelling it.
    fn witness_cost(&self, seq: &Frames, state: State) -> usize {
        self.witness(seq, state).cost()
    }

    /// The words that a mask may depend on: the top state's (depth 0), and those of `depth` frames below it. Counters are clipped
    /// to [`horizon`](Automaton::horizon). Frames must be read with [`Frames::peek`].
    fn signature(&self, seq: &Frames, state: State, depth: usize) -> Key;

    /// What an exploration takes for one place: the signature at the stack's whole depth, with counters told apart as far as `reach`, where
    /// that is beyond the horizon.
    fn place(&self, seq: &Frames, state: State, reach: u32) -> Key {
        let _ = reach;
        let depth = if state.frame.is_none() { 0 } else { seq.peek(state.frame).depth as usize + 1 };
        self.signature(seq, state, depth)
    }

    /// What [`signature`](Automaton::signature) says, by content: equal exactly where signatures are equal, and the same in every
    /// process that reads the same constraint for the same spelling, whatever it read before. `None` where the automaton can't say.
    fn fingerprint(&self, seq: &Frames, state: State, depth: usize) -> Option<Fingerprint> {
        let _ = (seq, state, depth);
        None
    }

    /// Whether some state may read a special token. Where none does, walks over a vocabulary needn't try its special tokens, of which some
    /// have hundreds.
    fn reads_specials(&self) -> bool {
        true
    }

    /// How many characters of `class` can be read from here, one after another in any combination, with every prefix live and
    /// every position in between at a character's end; `u32::MAX` where there is no bound. `0` is always right.
    fn safe_chars(&self, seq: &Frames, state: State, class: CharClass) -> u32 {
        let _ = (seq, state, class);
        0
    }

    /// A number of characters of a class more than which can't be read one after another.
    fn most_chars(&self, seq: &Frames, state: State, class: CharClass) -> u32 {
        let _ = (seq, state, class);
        u32::MAX
    }

    /// Bytes among which are all that can be read here; the others need not be tried.
    fn readable(&self, seq: &Frames, state: State) -> ByteSet {
        let _ = (seq, state);
        ByteSet::all()
    }

    /// A state that stands for those after any one or more characters of the class, as far as tokens of at most `bytes` bytes can tell
    /// them apart by what follows the last of these characters, but for the [`exceptions`](Automaton::exceptions). `None` where some run
    /// of such characters can't be read; always right. What it appends to the sequence is the caller's to truncate.
    fn stand_in(&self, seq: &mut Frames, state: State, class: CharClass, bytes: u32) -> Option<StandIn> {
        let _ = (seq, state, class, bytes);
        None
    }

    /// A state that stands for this one itself, but for the [exceptions](Automaton::exceptions), and that depends on less. What it appends to
    /// the sequence is the caller's to truncate.
    fn stand_in_here(&self, seq: &mut Frames, state: State) -> Option<StandIn> {
        let _ = (seq, state);
        None
    }

    /// Bytes among which are all those that can be read, other than as part of a character of the class, after at most `chars` characters
    /// of the class (also none).
    fn readable_after(&self, seq: &Frames, state: State, class: CharClass, chars: u32) -> ByteSet {
        let _ = (seq, state, class, chars);
        ByteSet::all()
    }

    /// The characters that can be read again and again from here, where that is known of many. What it appends to the sequence belongs to
    /// the state `after` and is the caller's to truncate.
    fn char_loop(&self, seq: &mut Frames, state: State) -> Option<CharLoop> {
        let _ = (seq, state);
        None
    }

    /// A state that no text of at most [`NEAR_BYTES`](crate::NEAR_BYTES) bytes tells from this one: its mask is that of this one but for
    /// longer tokens. `None` where none is known, and also where this one's own mask is as good.
    fn near(&self, seq: &Frames, state: State) -> Option<State> {
        let _ = (seq, state);
        None
    }

    /// Says how many nodes of a trie were looked at to compute the mask of a state: as much may be spent to find states
    /// [near](Automaton::near) each other.
    fn note_cost(&self, state: State, nodes: u64) {
        let _ = (state, nodes);
    }

    /// Where any text may follow, whatever it is: a state that stands for this one as long as the text goes on.
    fn free_text(&self, seq: &Frames, state: State) -> Option<FreeText> {
        let _ = (seq, state);
        None
    }

    /// How structure may go on from here, for texts with at most so many closing brackets. `None` where no value has just ended, or where
    /// that is not known.
    fn ending(&self, seq: &Frames, state: State, brackets: u32) -> Option<Ending> {
        let _ = (seq, state, brackets);
        None
    }

    /// How a value may begin from here. `None` where no key has just ended, or where that is not known.
    fn opening(&self, seq: &mut Frames, state: State) -> Option<Opening> {
        let _ = (seq, state);
        None
    }

    /// In a key: those of which one must be read, where that is known. [`State::a`] is the node of their trie that the state is at, and to
    /// close a key it doesn't matter how its node was come to.
    fn known_keys(&self, seq: &Frames, state: State) -> Option<KnownKeys<'_>> {
        let _ = (seq, state);
        None
    }

    /// At the beginning of a key: what an [`Ending`] or an [`Opening`] before has said of it.
    fn next_key(&self, seq: &Frames, state: State) -> NextKey {
        let _ = (seq, state);
        NextKey::Other
    }

    /// Bytes among which are all those at which a [`stand-in`](Automaton::stand_in) is no good guide, in the state that it was made for or
    /// one that characters of the class lead to from there.
    fn exceptions(&self, seq: &Frames, state: State, stand_in: &StandIn) -> ByteSet {
        let _ = (seq, state, stand_in);
        ByteSet::empty()
    }

    /// The longest run of bytes that a caller reads before it asks for a new mask (the longest token): counters in signatures
    /// are clipped to it.
    fn horizon(&self) -> u32;

    /// How many shared states there are so far.
    fn states(&self) -> usize {
        0
    }

    /// Bytes held on the heap, roughly.
    fn heap_bytes(&self) -> usize {
        0
    }

    /// How much of what its shared tables may hold is used: cheap, to be asked before anything is added.
    fn fill(&self) -> Fill {
        Fill::Little
    }

    /// The same automaton with empty tables; `None` where they don't grow.
    fn afresh(&self) -> Option<Arc<dyn Automaton>> {
        None
    }

    /// How often an undecided liveness question was answered with "not allowed".
    fn undecided(&self) -> u64 {
        0
    }
}
