//! One sequence under a constraint: which tokens may come next, reading one, taking some back.

use std::fmt;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use formwork_automaton::{Automaton, Fill, Frames, LimitKind, Mark, State, Step, Symbol, TokenId, Witness};

use crate::cache::Generation;
use crate::compiled::CompiledConstraint;
use crate::error::Error;
use crate::history::History;
use crate::mask::Mask;
use crate::spelling;
use crate::vocabulary::Vocabulary;
use crate::walk::{Refused, Scratch, Walk, Walked, read_bytes};

/// The most tokens, or bytes, that [`Matcher::forced`] and [`Matcher::forced_bytes`] give at once.
const MOST_FORCED: usize = 4096;

/// Follows one sequence: says which tokens may come next, reads them, takes them back.
///
/// A step is one successful [`advance`](Matcher::advance) or [`advance_bytes`](Matcher::advance_bytes); each can be taken back.
pub struct Matcher {
    constraint: CompiledConstraint,
    generation: Arc<Generation>,
    seq: Frames,
    at: Position,
    past: History<(Position, Mark)>,
    /// The mask of the present position where no shared row has it; without words until one is needed.
    row: Mask,
    current: Current,
    /// Masks computed for this sequence and its forks.
    computed: Arc<AtomicU64>,
}

/// Where a sequence stands.
#[derive(Clone, Copy, Debug)]
struct Position {
    state: State,
    finished: bool,
}

/// Where the mask of the present position is.
#[derive(Clone, Copy, Debug)]
enum Current {
    Unknown,
    Shared(usize),
    Own,
}

impl Matcher {
    pub(crate) fn new(constraint: CompiledConstraint) -> Self {
        let mut seq = Frames::new();
        let generation = constraint.generation();
        let state = generation.automaton().start(&mut seq);
        Self {
            generation,
            constraint,
            seq,
            at: Position { state, finished: false },
            past: History::new(),
            row: Mask::none(0),
            current: Current::Unknown,
            computed: Arc::default(),
        }
    }

    /// The constraint that the sequence is under.
    pub fn constraint(&self) -> &CompiledConstraint {
        &self.constraint
    }

    /// The automaton that the sequence follows.
    pub fn automaton(&self) -> &Arc<dyn Automaton> {
        self.generation.automaton()
    }

    fn vocabulary(&self) -> &Vocabulary {
        self.constraint.vocabulary()
    }

    /// Which tokens may come next. Tokens that end the sequence are among them exactly where it may end here (or where the grammar
    /// itself names such a token).
    ///
    /// Borrowed from the constraint's cache where the state was seen before, else from this matcher.
    ///
    /// # Errors
    /// After the end of the sequence, and where no token can follow an incomplete text.
    #[doc(alias = "fill_bitmask")]
    #[doc(alias = "compute_mask")]
    pub fn mask(&mut self) -> Result<&Mask, Error> {
        if matches!(self.current, Current::Unknown) {
            self.find_mask()?;
        }
        Ok(self.found_mask())
    }

    /// The mask that [`Matcher::find_mask`] found.
    fn found_mask(&self) -> &Mask {
        match self.current {
            Current::Shared(index) => self.generation.row(index).unwrap_or(&self.row),
            Current::Unknown | Current::Own => &self.row,
        }
    }

    /// Finds the mask where that takes no walk, and says whether it did.
    pub(crate) fn find_known(&mut self) -> Result<bool, Error> {
        if !matches!(self.current, Current::Unknown) {
            return Ok(true);
        }
        if self.at.finished {
            return Err(Error::finished());
        }
        if self.generation.is_full() {
            self.generation = self.constraint.renew(&self.generation);
        }
        let automaton = &**self.generation.automaton();
        let Some(index) = self.generation.find(automaton, &self.seq, self.at.state) else { return Ok(false) };
        self.take_known(index);
        Ok(true)
    }

    /// Makes a mask that the generation has the present one.
    fn take_known(&mut self, index: usize) {
        let vocabulary = self.constraint.vocabulary();
        let shared = self.generation.load(index, vocabulary, &mut self.seq, self.at.state, &mut self.row);
        self.current = if shared { Current::Shared(index) } else { Current::Own };
    }

    fn find_mask(&mut self) -> Result<(), Error> {
        if self.find_known()? {
            return Ok(());
        }
        let automaton = &**self.generation.automaton();
        let vocabulary = self.constraint.vocabulary();
        let state = self.at.state;
        if automaton.fill() == Fill::Full {
            return self.find_last_mask();
        }
        let mut scratch = vocabulary.scratches().take(vocabulary);
        let artefact = self.constraint.artefact();
        if let Some(found) = artefact.and_then(|a| a.find(automaton, &self.seq, state, &mut scratch))
            && let Some(index) = self.generation.keep(automaton, &self.seq, state, found, &scratch)
        {
            vocabulary.scratches().give_back(scratch);
            self.constraint.count_loaded();
            self.take_known(index);
            return Ok(());
        }
        if let Some(near) = automaton.near(&self.seq, state) {
            self.find_near_mask(near, &mut scratch);
            self.constraint.vocabulary().scratches().give_back(scratch);
            return Ok(());
        }
        let walked = self.compute(state, &mut scratch);
        let automaton = &**self.generation.automaton();
        let vocabulary = self.constraint.vocabulary();
        automaton.note_cost(state, walked.nodes);
        if walked.base.is_none() && scratch.mask.is_empty() && !automaton.is_accepting(&self.seq, state) {
            return Err(Error::dead_end(walked.limit));
        }
        self.generation.keep(automaton, &self.seq, state, walked, &scratch);
        mem::swap(&mut scratch.mask, &mut self.row);
        vocabulary.scratches().give_back(scratch);
        self.current = Current::Own;
        Ok(())
    }

    fn walk<'a>(&'a mut self, scratch: &'a mut Scratch) -> Walk<'a, dyn Automaton> {
        let automaton = &**self.generation.automaton();
        Walk::new(automaton, self.constraint.vocabulary(), &self.generation, &mut self.seq, scratch)
    }

    /// Computes a mask into the scratch.
    fn compute(&mut self, state: State, scratch: &mut Scratch) -> Walked {
        let walked = self.walk(scratch).compute(state);
        self.constraint.count_walk(walked.dynamic);
        self.computed.fetch_add(1, Ordering::Relaxed);
        walked
    }

    /// Makes the mask of a state near the present one the present one's.
    fn find_near_mask(&mut self, near: State, scratch: &mut Scratch) {
        let automaton = &**self.generation.automaton();
        let (vocabulary, generation) = (self.constraint.vocabulary(), &*self.generation);
        if let Some(index) = generation.find(automaton, &self.seq, near) {
            if generation.load(index, vocabulary, &mut self.seq, near, &mut scratch.mask)
                && let Some(row) = generation.row(index)
            {
                scratch.mask.copy_from(row);
            }
        } else {
            let walked = self.compute(near, scratch);
            self.generation.keep(&**self.generation.automaton(), &self.seq, near, walked, scratch);
        }
        let state = self.at.state;
        self.walk(scratch).read_long(state);
        mem::swap(&mut scratch.mask, &mut self.row);
        self.current = Current::Own;
    }

    /// The mask where the automaton's tables are full: the tokens that go on as the shortest completion does. All states that these lead
    /// to are few, whatever the constraint.
    fn find_last_mask(&mut self) -> Result<(), Error> {
        let mask = &mut self.row;
        mask.reset(self.constraint.vocabulary().len());
        let automaton = &**self.generation.automaton();
        let witness = automaton.witness(&self.seq, self.at.state);
        let next = spelling::first_tokens(self.constraint.vocabulary(), &witness.symbols);
        let ends = automaton.is_accepting(&self.seq, self.at.state);
        let eos = self.constraint.vocabulary().eos().iter().copied().filter(|_| ends);
        for token in next.into_iter().chain(eos.map(TokenId::get)) {
            mask.insert(token);
        }
        if mask.iter().next().is_none() {
            return Err(Error::dead_end(Some(LimitKind::TableBytes)));
        }
        self.current = Current::Own;
        Ok(())
    }

    /// Reads a token.
    ///
    /// # Errors
    /// Where the token is not allowed here, ends the sequence too early, comes after its end or is not in the vocabulary; the matcher is
    /// then unchanged.
    #[doc(alias = "accept_token")]
    #[doc(alias = "commit_token")]
    #[doc(alias = "consume_token")]
    pub fn advance(&mut self, token: TokenId) -> Result<(), Error> {
        let mark = self.seq.mark();
        match self.read(token) {
            Ok(next) => {
                self.step_to(next, mark);
                Ok(())
            }
            Err(error) => {
                self.seq.truncate(mark);
                Err(error)
            }
        }
    }

    /// Reads text, whatever its tokens: all of it or, on an error, nothing.
    ///
    /// # Errors
    /// Where some byte is not allowed ([`Error::byte_offset`] says which: the number of bytes that could be read), or after the end of the
    /// sequence.
    pub fn advance_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.at.finished {
            return Err(Error::finished());
        }
        let mark = self.seq.mark();
        match read_bytes(&**self.generation.automaton(), &mut self.seq, self.at.state, bytes) {
            Ok(state) => {
                self.step_to(Position { state, finished: false }, mark);
                Ok(())
            }
            Err(refused) => {
                self.seq.truncate(mark);
                Err(Error::byte_not_allowed(bytes[refused.offset], refused.offset, refused.limit))
            }
        }
    }

    /// Reads tokens up to the first that is not allowed, and says how many it read.
    #[doc(alias = "validate_tokens")]
    pub fn try_advance(&mut self, tokens: &[TokenId]) -> usize {
        tokens.iter().take_while(|&&token| self.advance(token).is_ok()).count()
    }

    /// Takes the last `steps` steps back.
    ///
    /// # Errors
    /// Where fewer were taken; the matcher is then unchanged.
    pub fn rollback(&mut self, steps: usize) -> Result<(), Error> {
        let taken = self.past.len();
        let left = taken.checked_sub(steps).ok_or_else(|| Error::rollback_too_far(steps, taken))?;
        if let Some((position, mark)) = self.past.truncate(left) {
            self.seq.truncate(mark);
            self.at = position;
            self.current = Current::Unknown;
        }
        Ok(())
    }

    /// How many steps were taken and can be taken back.
    pub fn steps(&self) -> usize {
        self.past.len()
    }

    /// A second matcher at the same place; the two go on independently.
    #[doc(alias = "deep_clone")]
    #[must_use]
    pub fn fork(&self) -> Self {
        Self {
            constraint: self.constraint.clone(),
            generation: Arc::clone(&self.generation),
            seq: self.seq.clone(),
            at: self.at,
            past: self.past.clone(),
            row: Mask::none(0),
            current: match self.current {
                Current::Shared(index) => Current::Shared(index),
                Current::Unknown | Current::Own => Current::Unknown,
            },
            computed: Arc::clone(&self.computed),
        }
    }

    /// A matcher at the same place with this one's own store, to compute the mask elsewhere. Until it is
    /// [taken back](Self::take_back), this one is of no use.
    pub(crate) fn lend(&mut self) -> Self {
        Self {
            constraint: self.constraint.clone(),
            generation: Arc::clone(&self.generation),
            seq: mem::take(&mut self.seq),
            at: self.at,
            past: History::new(),
            row: mem::replace(&mut self.row, Mask::none(0)),
            current: self.current,
            computed: Arc::clone(&self.computed),
        }
    }

    /// Takes the store back, and the mask with it.
    pub(crate) fn take_back(&mut self, lent: Self) {
        self.generation = lent.generation;
        self.seq = lent.seq;
        self.row = lent.row;
        self.current = lent.current;
    }

    /// Whether the token may come next; cheaper than a mask for a few tokens.
    pub fn is_token_legal(&mut self, token: TokenId) -> bool {
        let mark = self.seq.mark();
        let legal = self.read(token).is_ok();
        self.seq.truncate(mark);
        legal
    }

    /// Whether the sequence may end here.
    #[doc(alias = "is_terminated")]
    pub fn is_accepting(&self) -> bool {
        self.at.finished || self.automaton().is_accepting(&self.seq, self.at.state)
    }

    /// Whether the sequence has ended, or may end here and nothing else may follow.
    #[doc(alias = "is_stopped")]
    #[doc(alias = "is_completed")]
    pub fn is_finished(&mut self) -> bool {
        if self.at.finished {
            return true;
        }
        if !self.is_accepting() {
            return false;
        }
        if matches!(self.current, Current::Unknown) && self.find_mask().is_err() {
            return true;
        }
        let eos = self.vocabulary().eos();
        self.found_mask().iter().all(|token| eos.contains(&token))
    }

    /// The tokens that have no alternative from here on (at most 4096), up to the next choice or to a place where the sequence may end.
    ///
    /// Few tokens are forced even where all text is, because many tokens begin the same text: see [`Matcher::forced_bytes`].
    ///
    /// # Errors
    /// As [`Matcher::mask`].
    #[doc(alias = "jump_forward")]
    #[doc(alias = "compute_ff_tokens")]
    pub fn forced(&mut self) -> Result<Vec<TokenId>, Error> {
        let mut tokens = Vec::new();
        let mut result = Ok(());
        while tokens.len() < MOST_FORCED && !self.is_accepting() {
            match self.mask().map(Mask::only) {
                Ok(Some(token)) if self.advance(token).is_ok() => tokens.push(token),
                Ok(_) => break,
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        self.rollback(tokens.len())?;
        result.map(|()| tokens)
    }

    /// The text that has no alternative from here on (at most 4096 bytes), up to the next choice or to a place where the sequence may end.
    #[doc(alias = "find_jump_forward_string")]
    pub fn forced_bytes(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mark = self.seq.mark();
        let mut state = self.at.state;
        while bytes.len() < MOST_FORCED && !self.at.finished && !self.automaton().is_accepting(&self.seq, state) {
            let Some((byte, next)) = self.only_byte(state) else {
                break;
            };
            bytes.push(byte);
            state = next;
        }
        self.seq.truncate(mark);
        bytes
    }

    /// The one byte that can be read, where no other symbol can.
    fn only_byte(&mut self, state: State) -> Option<(u8, State)> {
        let automaton = &**self.generation.automaton();
        let mark = self.seq.mark();
        let mut only = None;
        for byte in 0..=u8::MAX {
            if let Step::To(_) = automaton.step(&mut self.seq, state, Symbol::Byte(byte)) {
                self.seq.truncate(mark);
                if only.replace(byte).is_some() {
                    return None;
                }
            }
            self.seq.truncate(mark);
        }
        let byte = only?;
        for &special in self.constraint.vocabulary().specials_for(automaton) {
            let live = matches!(automaton.step(&mut self.seq, state, Symbol::Special(special)), Step::To(_));
            self.seq.truncate(mark);
            if live {
                return None;
            }
        }
        match automaton.step(&mut self.seq, state, Symbol::Byte(byte)) {
            Step::To(next) => Some((byte, next)),
            Step::Dead | Step::Limit(_) => None,
        }
    }

    /// A shortest text (with special tokens where the grammar has them) that completes the sequence; empty where it may end here.
    pub fn shortest_completion(&self) -> Witness {
        if self.at.finished {
            return Witness::default();
        }
        self.automaton().witness(&self.seq, self.at.state)
    }

    /// The shortest completion in the fewest tokens that spell it.
    ///
    /// # Errors
    /// Where no tokens of the vocabulary spell it.
    pub fn completion_tokens(&self) -> Result<Vec<TokenId>, Error> {
        spelling::fewest_tokens(self.vocabulary(), &self.shortest_completion().symbols)
    }

    /// How many masks were computed for this sequence and its forks: neither found among those kept nor taken from an artefact.
    pub fn masks_computed(&self) -> u64 {
        self.computed.load(Ordering::Relaxed)
    }

    /// The automaton's state, with what it counts.
    pub fn state(&self) -> State {
        self.at.state
    }

    /// The sequence's own store.
    pub fn frames(&self) -> &Frames {
        &self.seq
    }

    /// Bytes held on the heap by this matcher, steps that it shares with its forks included.
    pub fn heap_bytes(&self) -> usize {
        self.seq.heap_bytes() + self.past.heap_bytes() + self.row.heap_bytes()
    }

    fn step_to(&mut self, next: Position, mark: Mark) {
        self.past.push((self.at, mark));
        self.at = next;
        self.current = Current::Unknown;
    }

    /// Where a token leads; what it appends to the store stays there, on errors too.
    fn read(&mut self, token: TokenId) -> Result<Position, Error> {
        if self.at.finished {
            return Err(Error::finished());
        }
        let vocabulary = self.constraint.vocabulary();
        let automaton = &**self.generation.automaton();
        let at = self.at.state;
        if token.index() >= vocabulary.len() {
            return Err(Error::unknown_token(token, vocabulary.len()));
        }
        let ends = vocabulary.eos().contains(&token);
        if ends && automaton.is_accepting(&self.seq, at) {
            return Ok(Position { state: at, finished: true });
        }
        let read = match vocabulary.bytes(token) {
            // An empty token could be read for ever: like an unused row it is never allowed.
            Some([]) => Err(Refused { offset: 0, limit: None }),
            Some(bytes) => read_bytes(automaton, &mut self.seq, at, bytes),
            None if vocabulary.is_special(token) => match automaton.step(&mut self.seq, at, Symbol::Special(token)) {
                Step::To(state) => Ok(state),
                Step::Dead if ends => {
                    return Err(Error::not_complete(token, vocabulary.describe(token)));
                }
                Step::Dead => Err(Refused { offset: 0, limit: None }),
                Step::Limit(kind) => Err(Refused { offset: 0, limit: Some(kind) }),
            },
            None => Err(Refused { offset: 0, limit: None }),
        };
        match read {
            Ok(state) => Ok(Position { state, finished: false }),
            Err(refused) => {
                let text = vocabulary.describe(token);
                Err(Error::token_not_allowed(token, text, refused.offset, refused.limit))
            }
        }
    }
}

impl fmt::Debug for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matcher").field("at", &self.at).field("steps", &self.past.len()).finish_non_exhaustive()
    }
}
