//! What building needs a lock for: patterns, formulas, and which state is which.

use std::cell::OnceCell;
use std::sync::Arc;

use formwork_grammar::Regex;
use rustc_hash::FxHashMap;

use super::LangLimits;
use super::byte_classes::{ByteClasses, Partition};
use super::byte_set::ByteSet;
use super::compile::{self, Frame};
use super::error::LangError;
use super::formula::{AtomId, ClassesId, Connective, Facts, Formula, FormulaId, Formulas, NO, YES};
use super::literals::{Literals, Range};
use super::program::{Program, Thread, Unit};
use super::spellings::Spellings;
use super::utf8::{self, POSITIONS};
use crate::fingerprint::Fingerprint;

/// One thing that formulas are made of.
#[derive(Debug)]
pub(super) enum Atom {
    Pattern { program: Arc<Program>, classes: ClassesId, source: Arc<(Regex, Frame)>, print: OnceCell<Fingerprint> },
    Literals { literals: Literals, classes: ClassesId, print: OnceCell<Fingerprint> },
}

/// Everything behind the lock.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) limits: LangLimits,
    pub(super) to_boundary: [u32; POSITIONS],
    pub(super) bytes_per_char: u32,
    /// Whether no character can be begun that the alphabet can't end, and some can be spelled.
    pub(super) ends_chars: bool,
    pub(super) spellings: Spellings,
    pub(super) atoms: Vec<Atom>,
    pub(super) formulas: Formulas,
    partitions: Vec<Arc<ByteClasses>>,
    partition_ids: FxHashMap<Arc<ByteClasses>, ClassesId>,
    joins: FxHashMap<(ClassesId, ClassesId), ClassesId>,
    patterns: FxHashMap<Arc<(Regex, Frame)>, Result<FormulaId, LangError>>,
    literal_sets: FxHashMap<Literals, FormulaId>,
    /// Which state stands for which formula and place in a character.
    pub(super) states: FxHashMap<(FormulaId, utf8::Utf8), u32>,
    /// What formulas are, as far as somebody asked.
    pub(super) prints: FxHashMap<FormulaId, Fingerprint>,
    pub(super) undecided: u64,
    /// Places in patterns that were gone through.
    pub(super) work: u64,
    /// Bytes of the atoms.
    atom_bytes: usize,
}

impl Store {
    pub(super) fn new(alphabet: ByteSet, limits: LangLimits) -> Self {
        let to_boundary = utf8::bytes_to_boundary(&alphabet);
        let bytes_per_char = utf8::bytes_per_char(&alphabet, &to_boundary);
        let ends_chars = bytes_per_char != utf8::NEVER && utf8::ends_what_it_begins(&alphabet, &to_boundary);
        let spellings = Spellings::new(alphabet);
        let base = Arc::new(spellings.base().clone());
        Self {
            limits,
            to_boundary,
            bytes_per_char,
            ends_chars,
            spellings,
            atoms: Vec::new(),
            formulas: Formulas::new(0),
            partitions: vec![Arc::clone(&base)],
            partition_ids: FxHashMap::from_iter([(base, 0)]),
            joins: FxHashMap::default(),
            patterns: FxHashMap::default(),
            literal_sets: FxHashMap::default(),
            states: FxHashMap::default(),
            prints: FxHashMap::default(),
            undecided: 0,
            work: 0,
            atom_bytes: 0,
        }
    }

    pub(super) fn partition(&self, id: ClassesId) -> &Arc<ByteClasses> {
        &self.partitions[id as usize]
    }

    fn intern_partition(&mut self, classes: ByteClasses) -> ClassesId {
        let classes = Arc::new(classes);
        if let Some(&id) = self.partition_ids.get(&classes) {
            return id;
        }
        let id = ClassesId::try_from(self.partitions.len()).unwrap_or(ClassesId::MAX);
        self.partitions.push(Arc::clone(&classes));
        self.partition_ids.insert(classes, id);
        id
    }

    fn join(&mut self, a: ClassesId, b: ClassesId) -> ClassesId {
        match (a.min(b), a.max(b)) {
            (a, b) if a == b || a == 0 => b,
            pair => {
                if let Some(&id) = self.joins.get(&pair) {
                    return id;
                }
                let mut partition = Partition::from_classes(self.partition(pair.0));
                partition.join(self.partition(pair.1));
                let id = self.intern_partition(partition.finish());
                self.joins.insert(pair, id);
                id
            }
        }
    }

    /// The formula before the first byte of a pattern in its frame.
    pub(super) fn pattern(&mut self, regex: &Regex, frame: Frame) -> Result<FormulaId, LangError> {
        let source = Arc::new((regex.clone(), frame));
        if let Some(known) = self.patterns.get(&source) {
            return known.clone();
        }
        let result = self.compile(&source);
        self.patterns.insert(source, result.clone());
        result
    }

    fn compile(&mut self, source: &Arc<(Regex, Frame)>) -> Result<FormulaId, LangError> {
        let compiled = compile::compile(&source.0, source.1, &mut self.spellings, self.limits.max_nfa)?;
        let mut observers = Vec::with_capacity(compiled.observers.len());
        for observer in &compiled.observers {
            observers.push(self.pattern(observer, Frame::Suffix)?);
        }
        let mut partition = Partition::from_classes(self.spellings.base());
        for &spelling in &compiled.spellings {
            self.spellings.all()[spelling as usize].split(&mut partition);
        }
        let mut classes = self.intern_partition(partition.finish());
        for &observer in &observers {
            classes = self.join(classes, self.formulas.facts(observer).classes);
        }
        let program = Arc::new(Program::new(
            compiled.nodes,
            compiled.loops,
            compiled.start,
            compiled.prefix,
            self.spellings.all(),
            self.bytes_per_char,
        ));
        let atom = AtomId::try_from(self.atoms.len()).unwrap_or(AtomId::MAX);
        let observers: Box<[FormulaId]> = observers.into();
        self.atom_bytes += program.heap_bytes();
        let (source, print) = (Arc::clone(source), OnceCell::new());
        self.atoms.push(Atom::Pattern { program: Arc::clone(&program), classes, source, print });
        Ok(self.enter(atom, &program, &observers))
    }

    /// The formula before the first byte of a finite set.
    pub(super) fn literals(&mut self, literals: Literals) -> FormulaId {
        if literals.is_empty() {
            return NO;
        }
        if let Some(&known) = self.literal_sets.get(&literals) {
            return known;
        }
        let classes = literals.classes(self.spellings.base());
        let classes = self.intern_partition(classes);
        let atom = AtomId::try_from(self.atoms.len()).unwrap_or(AtomId::MAX);
        let range = Range::all(&literals);
        self.atom_bytes += literals.heap_bytes();
        self.atoms.push(Atom::Literals { literals: literals.clone(), classes, print: OnceCell::new() });
        let id = self.range(atom, range);
        self.literal_sets.insert(literals, id);
        id
    }

    pub(super) fn range(&mut self, atom: AtomId, range: Range) -> FormulaId {
        let formula = Formula::Literals { atom, range };
        if let Some(id) = self.formulas.find(&formula) {
            return id;
        }
        let Some(Atom::Literals { literals, classes, .. }) = self.atoms.get(atom as usize) else {
            return NO;
        };
        let (bytes, chars) = range.distances(literals);
        let accepts = range.is_accepting(literals);
        let facts = Facts { accepts, exact: true, bytes, chars, endless: false, finite: true, classes: *classes };
        self.formulas.insert(formula, facts)
    }

    /// The formula for some threads of a pattern, sorted and without doubles.
    pub(super) fn threads(&mut self, atom: AtomId, threads: Box<[Thread]>, observers: Box<[FormulaId]>) -> FormulaId {
        if threads.is_empty() {
            return NO;
        }
        let Some(Atom::Pattern { program, .. }) = self.atoms.get(atom as usize) else {
            return NO;
        };
        // Without a look-behind to come, what the observers saw no longer matters.
        let matters = threads.iter().any(|thread| program.looks_behind(thread.node()));
        let observers = if matters { observers } else { Box::default() };
        let formula = Formula::Pattern { atom, threads, observers };
        if let Some(id) = self.formulas.find(&formula) {
            return id;
        }
        let (Formula::Pattern { threads, .. }, Some(Atom::Pattern { program, classes, .. })) =
            (&formula, self.atoms.get(atom as usize))
        else {
            return NO;
        };
        let spellings = self.spellings.all();
        let distance = |unit| {
            let of =
                |thread: &Thread| program.distance(*thread, unit, spellings, &self.to_boundary, self.bytes_per_char);
            threads.iter().map(of).min().unwrap_or(u32::MAX)
        };
        let facts = Facts {
            accepts: threads.first() == Some(&Thread::MATCH),
            exact: program.plain,
            bytes: distance(Unit::Bytes),
            chars: distance(Unit::Chars),
            endless: program.plain && threads.iter().any(|thread| program.is_prefix(thread.node())),
            finite: **threads == [Thread::MATCH],
            classes: *classes,
        };
        self.formulas.insert(formula, facts)
    }

    pub(super) fn and(&mut self, parts: &[FormulaId]) -> FormulaId {
        self.connect(Connective::And, parts)
    }

    pub(super) fn or(&mut self, parts: &[FormulaId]) -> FormulaId {
        self.connect(Connective::Or, parts)
    }

    fn connect(&mut self, connective: Connective, parts: &[FormulaId]) -> FormulaId {
        let Some(parts) = self.formulas.operands(parts, connective) else {
            return connective.decisive();
        };
        match *parts {
            [] => return connective.neutral(),
            [one] => return one,
            _ => {}
        }
        let formula = connective.of(parts.clone().into());
        if let Some(id) = self.formulas.find(&formula) {
            return id;
        }
        let facts = self.combined(&parts, connective);
        if facts.bytes == u32::MAX {
            return NO;
        }
        self.formulas.insert(formula, facts)
    }

    fn combined(&mut self, parts: &[FormulaId], connective: Connective) -> Facts {
        let and = connective == Connective::And;
        let mut all = Facts {
            accepts: and,
            exact: !and,
            bytes: if and { 0 } else { u32::MAX },
            chars: if and { 0 } else { u32::MAX },
            endless: false,
            finite: !and,
            classes: 0,
        };
        // One endless part is left when finite sets are taken from it.
        let mut endless = 0;
        let mut taken = 0;
        for &part in parts {
            let facts = self.formulas.facts(part);
            all.classes = self.join(all.classes, facts.classes);
            all.exact &= facts.exact;
            let takes_finite = match *self.formulas.get(part) {
                Formula::Not(inner) => self.formulas.facts(inner).finite,
                _ => false,
            };
            taken += usize::from(takes_finite);
            endless += usize::from(facts.endless && !takes_finite);
            if and {
                all.finite |= facts.finite;
                all.accepts &= facts.accepts;
                all.bytes = all.bytes.max(facts.bytes);
                all.chars = all.chars.max(facts.chars);
            } else {
                all.finite &= facts.finite;
                all.accepts |= facts.accepts;
                all.bytes = all.bytes.min(facts.bytes);
                all.chars = all.chars.min(facts.chars);
            }
        }
        all.endless =
            if and { taken == parts.len() || (endless == 1 && taken + 1 == parts.len()) } else { endless + taken > 0 };
        all
    }

    pub(super) fn not(&mut self, part: FormulaId) -> FormulaId {
        match *self.formulas.get(part) {
            Formula::No => return YES,
            Formula::Yes => return NO,
            Formula::Not(inner) => return inner,
            _ => {}
        }
        let formula = Formula::Not(part);
        if let Some(id) = self.formulas.find(&formula) {
            return id;
        }
        let inner = self.formulas.facts(part);
        let facts = Facts {
            accepts: !inner.accepts,
            exact: false,
            bytes: u32::from(inner.accepts),
            // A character begun was counted already, so none may be needed.
            chars: 0,
            endless: inner.finite,
            finite: false,
            classes: inner.classes,
        };
        self.formulas.insert(formula, facts)
    }

    /// Bytes of what is there from the start.
    pub(super) fn fixed_bytes(&self) -> usize {
        self.atom_bytes + self.spellings.heap_bytes()
    }

    /// Bytes of what grows with the states.
    pub(super) fn state_bytes(&self) -> usize {
        self.formulas.heap_bytes() + self.partitions.len() * 700 + self.states.len() * 16 + self.prints.len() * 32
    }
}
