//! JSON Schema as an automaton: alternatives tracked side by side, containers as frames.

mod array;
mod array_plan;
mod cover;
mod distinct;
mod ending;
mod equality;
mod escape;
mod few;
mod fingerprint;
mod form;
mod keys;
mod literal;
mod liveness;
mod near;
mod negation;
mod number;
mod object;
mod object_plan;
mod order;
mod signature;
mod situation;
mod sketch;
mod space;
mod stand_in;
mod step;
mod string;
mod structure;
mod typed;
mod value;
mod weights;
mod witness;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use formwork_grammar::{Escapes, PropertyOrder, Schema, SchemaOptions};

use crate::automaton::{
    Automaton, CharLoop, Ending, Fill, FreeText, Key, NextKey, Opening, StandIn, State, Step, Witness,
};
use crate::char_class::CharClass;
use crate::error::CompileError;
use crate::fingerprint::Fingerprint;
use crate::frames::{FrameId, Frames};
use crate::interner::{Interner, Memo};
use crate::lang::{Anchor, ByteSet, LangLoop, LangPool, Langs};
use crate::symbol::Symbol;

use array::{ArrayAtom, ArrayGroup, ArrayState};
use cover::{ArrayCover, ObjectCover};
use escape::Escaping;
use form::{Form, FormId};
pub use keys::KnownKeys;
use keys::{AtomKeys, KeyMachine, KeyRef};
use liveness::{Cheapest, Costs};
use number::{NumberAtom, NumberTrack, Rules as NumberRules};
use object::{Member, ObjectAtom, ObjectGroup, ObjectState};
use order::Positions;
use situation::{Await, Goal, Situation, StringAlt, TagSet};
use string::StringAtom;
use typed::{Evaluated, Typed};

/// Places in patterns that are gone through in the time of one step, roughly.
const PLACES_PER_STEP: u64 = 64;

/// What a vocabulary lends to a constraint: which bytes it can spell, and how far a token reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// The bytes that a token of their own can spell.
    pub alphabet: ByteSet,
    /// Bytes of the longest token.
    pub longest_token: u32,
}

impl Default for Spelling {
    /// Every byte can be spelled, and no token has more than 256 of them.
    fn default() -> Self {
        Self { alphabet: ByteSet::all(), longest_token: 256 }
    }
}

/// The automaton of a JSON Schema.
///
/// A configuration is a stack: one frame for each container whose member is being read, and on top the situation inside the
/// innermost value. Where several alternatives of a schema fit the text so far, the situation holds all of them, each with the
/// *tag* of the parent's alternatives it serves; when a value ends, the tags that accepted it select the parent's next state.
/// Everything shared is interned and grows lazily.
///
/// ```
/// use formwork_automaton::{Automaton, Frames, JsonAutomaton, Spelling, Step, Symbol};
/// use formwork_grammar::{parse_schema, SchemaOptions};
/// let options = SchemaOptions::default();
/// let schema = parse_schema(r#"{"type": "integer", "minimum": 10, "maximum": 12}"#, &options)?;
/// let automaton = JsonAutomaton::new(schema, &options, Spelling::default())?;
/// let mut seq = Frames::new();
/// let start = automaton.start(&mut seq);
/// assert_eq!(automaton.step(&mut seq, start, Symbol::Byte(b'2')), Step::Dead);
/// assert_eq!(automaton.witness(&seq, start).bytes().unwrap(), b"10");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct JsonAutomaton {
    schema: Schema,
    options: SchemaOptions,
    alphabet: ByteSet,
    escaping: Escaping,
    horizon: u32,
    langs: Langs,
    texts: Interner<Box<str>>,
    forms: Interner<Form>,
    typed: Memo<(FormId, Evaluated), Arc<Typed>>,
    sketches: Memo<(FormId, u32), sketch::Sketch>,
    costs: Costs,
    string_atoms: Interner<StringAtom>,
    number_atoms: Interner<NumberAtom>,
    number_tracks: Interner<NumberTrack>,
    number_rules: Memo<u32, Arc<NumberRules>>,
    number_lives: Memo<(u32, number::Role), bool>,
    spelled_numbers: Memo<u32, Arc<number::SpelledNumbers>>,
    number_costs: Memo<u32, u32>,
    few: Memo<(FormId, usize), Arc<few::Values>>,
    few_numbers: Memo<(u32, usize), Arc<few::Values>>,
    cheapest: Memo<FormId, Option<Cheapest>>,
    /// Bytes that lead two tuples of languages' states to different ones.
    telling: Memo<Box<[u32]>, ByteSet>,
    cheapest_values: Memo<FormId, Option<Arc<few::FewValue>>>,
    few_strings: Memo<(u32, usize), Arc<few::Values>>,
    /// (atom, index, items so far)
    later_values: Memo<(u32, u32, u32), Arc<[few::FewValue]>>,
    /// Whether some array's items are compared.
    comparing: bool,
    array_groups: Interner<ArrayGroup>,
    array_atoms: Interner<ArrayAtom>,
    array_states: Interner<ArrayState>,
    array_members: Memo<(u32, u32), Option<Member>>,
    array_covers: Interner<ArrayCover>,
    object_groups: Interner<ObjectGroup>,
    object_atoms: Interner<ObjectAtom>,
    object_states: Interner<ObjectState>,
    object_members: Memo<(u32, KeyRef), Option<Member>>,
    object_covers: Interner<ObjectCover>,
    loose_machines: Memo<u32, u32>,
    atom_keys: Memo<(u32, u32), Arc<AtomKeys>>,
    string_starts: Memo<u32, Arc<[StringAlt]>>,
    array_openings: Memo<u32, Option<u32>>,
    object_openings: Memo<u32, Option<u32>>,
    /// The first bytes of a goal's values.
    value_bytes: Memo<u32, ByteSet>,
    runs: Memo<(u32, CharClass, u32), Option<(ByteSet, bool)>>,
    char_loops: Memo<u32, Option<LangLoop>>,
    key_loops: Memo<u32, ByteSet>,
    kept: Memo<(u32, ByteSet), bool>,
    machines: Interner<KeyMachine>,
    positions: Positions,
    goals: Interner<Goal>,
    awaits: Interner<Await>,
    pops: Memo<(u32, u32, bool), Option<u32>>,
    tag_sets: Interner<TagSet>,
    situations: Interner<Situation>,
    /// What entries of the tables are by content, as far as somebody asked.
    prints: Memo<(fingerprint::Table, u32), Fingerprint>,
    /// What was put together and looked at so far, until the schema was seen to have a value.
    steps: AtomicU64,
    undecided: AtomicU64,
    /// Whether some value was left out because its shortest text is too long.
    too_long: AtomicBool,
    /// Whether the schema is known to have a value, so that from now on every sequence must be able to end.
    checked: AtomicBool,
}

impl JsonAutomaton {
    /// Makes the automaton of a checked schema, for texts that the given bytes can spell.
    ///
    /// # Errors
    /// A schema that no value satisfies, or none that can be spelled; a pattern without an automaton; a limit exceeded.
    pub fn new(schema: Schema, options: &SchemaOptions, spelling: Spelling) -> Result<Self, CompileError> {
        Self::with_langs(schema, options, spelling, &LangPool::default())
    }

    /// As [`JsonAutomaton::new`], with languages in common with all automata that were made with the same pool.
    ///
    /// # Errors
    /// As [`JsonAutomaton::new`].
    pub fn with_langs(
        schema: Schema,
        options: &SchemaOptions,
        spelling: Spelling,
        pool: &LangPool,
    ) -> Result<Self, CompileError> {
        let automaton = Self::unchecked(schema, options, spelling, pool);
        automaton.check_patterns()?;
        automaton.check_root(spelling)?;
        automaton.checked.store(true, Ordering::Relaxed);
        Ok(automaton)
    }

    fn unchecked(schema: Schema, options: &SchemaOptions, spelling: Spelling, pool: &LangPool) -> Self {
        let comparing = schema.keywords().any(|keywords| keywords.array.unique);
        let escaping = Escaping::new(spelling.alphabet, options.escapes == Escapes::Any);
        Self {
            schema,
            options: options.clone(),
            alphabet: spelling.alphabet,
            escaping,
            horizon: spelling.longest_token.max(1),
            langs: pool.langs(escaping.decoded_alphabet()),
            texts: Interner::new(),
            forms: Interner::new(),
            typed: Memo::new(),
            sketches: Memo::new(),
            costs: Costs::new(),
            string_atoms: Interner::new(),
            number_atoms: Interner::new(),
            number_tracks: Interner::new(),
            number_rules: Memo::new(),
            number_lives: Memo::new(),
            spelled_numbers: Memo::new(),
            number_costs: Memo::new(),
            few: Memo::new(),
            few_numbers: Memo::new(),
            cheapest: Memo::new(),
            telling: Memo::new(),
            cheapest_values: Memo::new(),
            few_strings: Memo::new(),
            later_values: Memo::new(),
            comparing,
            array_groups: Interner::new(),
            array_atoms: Interner::new(),
            array_states: Interner::new(),
            array_members: Memo::new(),
            array_covers: Interner::new(),
            object_groups: Interner::new(),
            object_atoms: Interner::new(),
            object_states: Interner::new(),
            object_members: Memo::new(),
            object_covers: Interner::new(),
            loose_machines: Memo::new(),
            atom_keys: Memo::new(),
            string_starts: Memo::new(),
            array_openings: Memo::new(),
            object_openings: Memo::new(),
            value_bytes: Memo::new(),
            runs: Memo::new(),
            char_loops: Memo::new(),
            key_loops: Memo::new(),
            kept: Memo::new(),
            machines: Interner::new(),
            positions: Positions::new(options.property_order == PropertyOrder::Schema),
            goals: Interner::new(),
            awaits: Interner::new(),
            pops: Memo::new(),
            tag_sets: Interner::new(),
            situations: Interner::new(),
            prints: Memo::new(),
            steps: AtomicU64::new(0),
            undecided: AtomicU64::new(0),
            too_long: AtomicBool::new(false),
            checked: AtomicBool::new(false),
        }
    }

    /// Patterns are refused when compiling, not when a value first meets them.
    fn check_patterns(&self) -> Result<(), CompileError> {
        for keywords in self.schema.keywords() {
            let own = keywords.string.pattern.iter().map(|(regex, pointer)| (regex, pointer));
            let properties = keywords.object.patterns.iter().map(|p| (&p.regex, &p.pointer));
            for (regex, pointer) in own.chain(properties) {
                self.langs.regex(regex, Anchor::Search).map_err(|e| CompileError::pattern(pointer, e))?;
            }
            for (format, pointer) in &keywords.string.formats {
                self.langs.format(*format).map_err(|e| CompileError::pattern(pointer, e))?;
            }
        }
        Ok(())
    }

    /// Refuses a schema without a text, and says which of the reasons it is.
    fn check_root(&self, spelling: Spelling) -> Result<(), CompileError> {
        let root = self.root_form();
        let limit = self.options.limits.shortest_text;
        let too_long = || Err(CompileError::limit("", "shortest_text", u64::from(limit)));
        let judge = |automaton: &Self, form: FormId| match automaton.cost(form) {
            _ if automaton.takes_too_long() => {
                Err(CompileError::limit("", "steps", u64::from(automaton.options.limits.steps)))
            }
            _ if automaton.fills_too_soon() => {
                Err(CompileError::limit("", "table_bytes", u64::from(automaton.options.limits.table_bytes)))
            }
            liveness::NEVER if automaton.too_long.load(Ordering::Relaxed) => too_long(),
            liveness::NEVER if automaton.undecided() > 0 => Err(CompileError::undecided()),
            liveness::NEVER => match automaton.schema.narrowed().first() {
                Some(narrowed) => Err(CompileError::narrowed(&narrowed.pointer, &narrowed.reason)),
                None => Err(CompileError::unsatisfiable(&automaton.blame(form))),
            },
            cost if cost < limit => Ok(()),
            _ => too_long(),
        };
        if self.cost(root) != liveness::NEVER || spelling.alphabet == ByteSet::all() {
            return judge(self, root);
        }
        let with = |alphabet: ByteSet| {
            let spelling = Spelling { alphabet, ..spelling };
            let automaton = Self::unchecked(self.schema.clone(), &self.options, spelling, &LangPool::default());
            let root = automaton.root_form();
            (automaton, root)
        };
        let (unbounded, root) = with(ByteSet::all());
        judge(&unbounded, root)?;
        if self.undecided() > 0 {
            return Err(CompileError::undecided());
        }
        let text = unbounded.spell_form(root);
        Err(CompileError::unspellable(&text, spelling.alphabet, |alphabet| {
            let (automaton, root) = with(alphabet);
            automaton.cost(root) == liveness::NEVER
        }))
    }

    fn root_form(&self) -> FormId {
        self.node_form(self.schema.root())
    }

    /// Rough bytes on the heap: of all tables.
    pub fn heap_bytes(&self) -> usize {
        self.langs.heap_bytes() + self.own_bytes()
    }

    /// Bytes of the tables, but for what languages have from the start.
    fn table_bytes(&self) -> usize {
        self.langs.state_bytes() + self.own_bytes()
    }

    /// Bytes of the tables that are not the languages'.
    fn own_bytes(&self) -> usize {
        let tables = [
            self.texts.bytes(),
            self.forms.bytes(),
            self.string_atoms.bytes(),
            self.number_atoms.bytes(),
            self.number_tracks.bytes(),
            self.array_groups.bytes(),
            self.array_atoms.bytes(),
            self.array_states.bytes(),
            self.array_covers.bytes(),
            self.object_groups.bytes(),
            self.object_atoms.bytes(),
            self.object_states.bytes(),
            self.object_covers.bytes(),
            self.machines.bytes(),
            self.positions.bytes(),
            self.goals.bytes(),
            self.awaits.bytes(),
            self.tag_sets.bytes(),
            self.situations.bytes(),
            self.typed.bytes(),
            self.sketches.bytes(),
            self.number_rules.bytes(),
            self.number_lives.bytes(),
            self.spelled_numbers.bytes(),
            self.number_costs.bytes(),
            self.few.bytes(),
            self.few_numbers.bytes(),
            self.cheapest.bytes(),
            self.telling.bytes(),
            self.cheapest_values.bytes(),
            self.few_strings.bytes(),
            self.later_values.bytes(),
            self.array_members.bytes(),
            self.object_members.bytes(),
            self.loose_machines.bytes(),
            self.atom_keys.bytes(),
            self.string_starts.bytes(),
            self.array_openings.bytes(),
            self.object_openings.bytes(),
            self.value_bytes.bytes(),
            self.runs.bytes(),
            self.char_loops.bytes(),
            self.key_loops.bytes(),
            self.kept.bytes(),
            self.pops.bytes(),
            self.prints.bytes(),
        ];
        tables.iter().sum()
    }

    /// Whether the tables are full before the schema was seen to have a value.
    fn fills_too_soon(&self) -> bool {
        !self.checked.load(Ordering::Relaxed) && self.fill() == Fill::Full
    }

    /// Counts steps of the search for the schema's values.
    fn count_steps(&self, steps: usize) {
        self.steps.fetch_add(steps as u64, Ordering::Relaxed);
    }

    /// Whether it took too many steps before the schema was seen to have a value.
    fn takes_too_long(&self) -> bool {
        !self.checked.load(Ordering::Relaxed)
            && self.steps.load(Ordering::Relaxed) + self.langs.work() / PLACES_PER_STEP
                > u64::from(self.options.limits.steps)
    }

    /// Notes that a limit left a question open, which was then answered with "not allowed".
    fn note_undecided(&self) {
        self.undecided.fetch_add(1, Ordering::Relaxed);
    }

    fn state(&self, situation: Situation, frame: FrameId) -> State {
        State { id: self.situations.intern(situation), a: 0, b: 0, c: 0, frame }
    }
}

impl Automaton for JsonAutomaton {
    fn start(&self, _seq: &mut Frames) -> State {
        let position = self.positions.root(self.schema.root());
        let goal = self.goals.intern(Goal::new(vec![self.root_form()], 1, position));
        self.state(Situation::Value { goal, gap: space::Gap::Free }, FrameId::NONE)
    }

    fn step(&self, seq: &mut Frames, state: State, symbol: Symbol) -> Step {
        match symbol {
            Symbol::Byte(byte) if self.alphabet.contains(byte) => {
                let step = self.step_byte(seq, state, byte);
                self.watched(seq, step, byte)
            }
            Symbol::Byte(_) | Symbol::Special(_) => Step::Dead,
        }
    }

    fn is_accepting(&self, seq: &Frames, state: State) -> bool {
        match self.situations.get(state.id) {
            Situation::Done => true,
            Situation::Number { alts, .. } => state.frame.is_none() && !self.number_tags(alts).is_empty(),
            Situation::LongNumber { alts, .. } => state.frame.is_none() && !self.long_tags(seq, alts, state).is_empty(),
            _ => false,
        }
    }

    fn witness(&self, seq: &Frames, state: State) -> Witness {
        let text = self.complete(seq, state);
        Witness { symbols: text.into_iter().map(Symbol::Byte).collect() }
    }

    fn signature(&self, seq: &Frames, state: State, depth: usize) -> Key {
        self.signature_of(seq, state, depth)
    }

    fn place(&self, seq: &Frames, state: State, reach: u32) -> Key {
        self.place_of(seq, state, reach)
    }

    fn fingerprint(&self, seq: &Frames, state: State, depth: usize) -> Option<Fingerprint> {
        Some(self.fingerprint_of(seq, state, depth))
    }

    fn reads_specials(&self) -> bool {
        false
    }

    fn safe_chars(&self, seq: &Frames, state: State, class: CharClass) -> u32 {
        self.safe_chars_of(seq, state, class)
    }

    fn most_chars(&self, seq: &Frames, state: State, class: CharClass) -> u32 {
        self.most_chars_at(seq, state, class)
    }

    fn readable(&self, _seq: &Frames, state: State) -> ByteSet {
        self.readable_at(state)
    }

    fn stand_in(&self, seq: &mut Frames, state: State, class: CharClass, bytes: u32) -> Option<StandIn> {
        self.stand_in_for(seq, state, class, bytes)
    }

    fn stand_in_here(&self, seq: &mut Frames, state: State) -> Option<StandIn> {
        self.free_key(seq, state)
    }

    fn readable_after(&self, _seq: &Frames, state: State, class: CharClass, chars: u32) -> ByteSet {
        self.readable_after_run(state, class, chars)
    }

    fn char_loop(&self, seq: &mut Frames, state: State) -> Option<CharLoop> {
        self.char_loop_at(seq, state)
    }

    fn near(&self, seq: &Frames, state: State) -> Option<State> {
        self.near_of(seq, state)
    }

    fn note_cost(&self, state: State, nodes: u64) {
        self.note_cost_at(state, nodes);
    }

    fn free_text(&self, seq: &Frames, state: State) -> Option<FreeText> {
        self.free_text_at(seq, state)
    }

    fn ending(&self, seq: &Frames, state: State, brackets: u32) -> Option<Ending> {
        self.ending_at(seq, state, brackets)
    }

    fn opening(&self, seq: &mut Frames, state: State) -> Option<Opening> {
        self.opening_at(seq, state)
    }

    fn known_keys(&self, seq: &Frames, state: State) -> Option<KnownKeys<'_>> {
        self.known_keys_at(seq, state)
    }

    fn next_key(&self, seq: &Frames, state: State) -> NextKey {
        self.next_key_at(seq, state)
    }

    fn exceptions(&self, seq: &Frames, state: State, stand_in: &StandIn) -> ByteSet {
        self.exceptions_at(seq, state, stand_in)
    }

    fn horizon(&self) -> u32 {
        self.horizon
    }

    fn states(&self) -> usize {
        self.situations.len()
    }

    fn heap_bytes(&self) -> usize {
        self.heap_bytes()
    }

    fn fill(&self) -> Fill {
        let (used, most) = (self.table_bytes(), self.options.limits.table_bytes as usize);
        match used {
            _ if used >= most => Fill::Full,
            _ if used >= most / 2 => Fill::Half,
            _ => Fill::Little,
        }
    }

    fn afresh(&self) -> Option<Arc<dyn Automaton>> {
        let spelling = Spelling { alphabet: self.alphabet, longest_token: self.horizon };
        // What has filled its tables shares none with others any more.
        let afresh = Self::unchecked(self.schema.clone(), &self.options, spelling, &LangPool::default());
        afresh.checked.store(true, Ordering::Relaxed);
        Some(Arc::new(afresh))
    }

    fn undecided(&self) -> u64 {
        self.undecided.load(Ordering::Relaxed) + self.langs.undecided()
    }
}
