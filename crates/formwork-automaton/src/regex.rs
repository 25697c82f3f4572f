//! A regular expression over the whole text as an automaton.

use formwork_grammar::Regex;

use crate::automaton::{Automaton, CharLoop, Key, State, Step, Witness};
use crate::char_class::CharClass;
use crate::error::CompileError;
use crate::fingerprint::Fingerprint;
use crate::frames::{FrameId, Frames};
use crate::json::Spelling;
use crate::lang::{Anchor, ByteSet, LangLimits, LangLoop, LangState, Langs};
use crate::symbol::Symbol;

/// The automaton of a regular expression that the whole text must match: the smallest use of the engine, without frames.
///
/// ```
/// use formwork_automaton::{Automaton, Frames, RegexAutomaton, Spelling};
/// use formwork_grammar::Regex;
/// let automaton = RegexAutomaton::new(&Regex::parse_rust("[a-z]{3}")?, Spelling::default())?;
/// let mut seq = Frames::new();
/// let start = automaton.start(&mut seq);
/// assert_eq!(automaton.witness(&seq, start).cost(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RegexAutomaton {
    langs: Langs,
    start: LangState,
    horizon: u32,
}

impl RegexAutomaton {
    /// Makes the automaton, for texts that the given bytes can spell.
    ///
    /// # Errors
    /// An expression without an automaton (a look-around in a loop, repeats that unroll too far), or one that no text matches.
    pub fn new(regex: &Regex, spelling: Spelling) -> Result<Self, CompileError> {
        if let Some((langs, start)) = Self::language(regex, spelling.alphabet)? {
            return Ok(Self { langs, start, horizon: spelling.longest_token });
        }
        let (langs, start) = Self::language(regex, ByteSet::all())?.ok_or_else(CompileError::empty_regex)?;
        let text = langs.completion(start, 0, None).unwrap_or_default();
        Err(CompileError::unspellable(&String::from_utf8_lossy(&text), spelling.alphabet, |alphabet| {
            matches!(Self::language(regex, alphabet), Ok(None))
        }))
    }

    /// The expression's texts in an alphabet: their store, and the state before the first byte, where there is a text.
    fn language(regex: &Regex, alphabet: ByteSet) -> Result<Option<(Langs, LangState)>, CompileError> {
        let langs = Langs::new(alphabet, LangLimits::default());
        let lang = langs.regex(regex, Anchor::Full).map_err(|e| CompileError::pattern("", e))?;
        let start = langs.start(lang);
        Ok(start.map(|start| (langs, start)))
    }
}

impl Automaton for RegexAutomaton {
    fn start(&self, _seq: &mut Frames) -> State {
        State { id: 0, a: 0, b: 0, c: self.start.id(), frame: FrameId::NONE }
    }

    fn step(&self, _seq: &mut Frames, state: State, symbol: Symbol) -> Step {
        let Symbol::Byte(byte) = symbol else { return Step::Dead };
        match self.langs.step(LangState::from_id(state.c), byte) {
            Some(next) => Step::To(State { c: next.id(), ..state }),
            None => Step::Dead,
        }
    }

    fn is_accepting(&self, _seq: &Frames, state: State) -> bool {
        self.langs.is_accepting(LangState::from_id(state.c))
    }

    fn witness(&self, _seq: &Frames, state: State) -> Witness {
        let rest = self.langs.completion(LangState::from_id(state.c), 0, None).unwrap_or_default();
        Witness { symbols: rest.into_iter().map(Symbol::Byte).collect() }
    }

    fn witness_cost(&self, _seq: &Frames, state: State) -> usize {
        self.langs.shortest(LangState::from_id(state.c)) as usize
    }

    fn signature(&self, _seq: &Frames, state: State, _depth: usize) -> Key {
        Key::from_slice(&[state.c])
    }

    fn fingerprint(&self, _seq: &Frames, state: State, _depth: usize) -> Option<Fingerprint> {
        Some(self.langs.state_fingerprint(LangState::from_id(state.c)))
    }

    fn reads_specials(&self) -> bool {
        false
    }

    fn safe_chars(&self, _seq: &Frames, state: State, class: CharClass) -> u32 {
        let state = LangState::from_id(state.c);
        if class != CharClass::Blank && self.langs.at_char_boundary(state) {
            self.langs.safe_chars(state, class)
        } else {
            0
        }
    }

    fn char_loop(&self, _seq: &mut Frames, state: State) -> Option<CharLoop> {
        let LangLoop { after, inside, apart, exits } = self.langs.char_loop(LangState::from_id(state.c), false)?;
        Some(CharLoop { after: State { c: after.id(), ..state }, inside, apart, exits, stand_in: None, short: false })
    }

    fn horizon(&self) -> u32 {
        self.horizon
    }

    fn states(&self) -> usize {
        self.langs.states()
    }

    fn heap_bytes(&self) -> usize {
        self.langs.heap_bytes()
    }

    fn undecided(&self) -> u64 {
        self.langs.undecided()
    }
}
