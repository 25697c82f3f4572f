//! Boolean formulas over the states of single automata, each kept once: a state of the algebra is one of them.

use rustc_hash::FxHashMap;

use super::literals::Range;
use super::program::Thread;
use crate::interner::to_u32;

/// Index of a formula in its [`Formulas`].
pub(super) type FormulaId = u32;
/// Index of a pattern or a literal set.
pub(super) type AtomId = u32;
/// Index of a partition of the bytes.
pub(super) type ClassesId = u32;

/// No completion is accepted.
pub(super) const NO: FormulaId = 0;
/// Every completion is accepted.
pub(super) const YES: FormulaId = 1;

/// What decides about the rest of the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Formula {
    No,
    Yes,
    /// The threads of one pattern, sorted; and the states of its look-behinds' observers.
    Pattern {
        atom: AtomId,
        threads: Box<[Thread]>,
        observers: Box<[FormulaId]>,
    },
    Literals {
        atom: AtomId,
        range: Range,
    },
    And(Box<[FormulaId]>),
    Or(Box<[FormulaId]>),
    Not(FormulaId),
}

impl Formula {
    /// Bytes that it takes among others, in a list and in a map.
    fn bytes(&self) -> usize {
        let boxed = match self {
            Self::Pattern { threads, observers, .. } => size_of_val(&**threads) + size_of_val(&**observers),
            Self::And(parts) | Self::Or(parts) => size_of_val(&**parts),
            Self::No | Self::Yes | Self::Literals { .. } | Self::Not(_) => 0,
        };
        2 * (boxed + size_of::<Self>()) + size_of::<Facts>() + size_of::<FormulaId>()
    }
}

/// How formulas are joined: the two are each other's mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Connective {
    And,
    Or,
}

impl Connective {
    /// The operand that changes nothing.
    pub(super) fn neutral(self) -> FormulaId {
        match self {
            Self::And => YES,
            Self::Or => NO,
        }
    }

    /// The operand that decides alone.
    pub(super) fn decisive(self) -> FormulaId {
        match self {
            Self::And => NO,
            Self::Or => YES,
        }
    }

    /// The formula of at least two operands.
    pub(super) fn of(self, operands: Box<[FormulaId]>) -> Formula {
        match self {
            Self::And => Formula::And(operands),
            Self::Or => Formula::Or(operands),
        }
    }
}

/// What is known of a formula as soon as it exists.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not the steps of a process")]
pub(super) struct Facts {
    /// Whether the empty completion is accepted.
    pub(super) accepts: bool,
    /// Whether the distances are exact, not only lower bounds.
    pub(super) exact: bool,
    /// Bytes to the nearest accepting state.
    pub(super) bytes: u32,
    /// Characters to it.
    pub(super) chars: u32,
    /// Whether each valid continuation leaves infinitely many completions: no dead end, nor one in what a finite set is taken
    /// from (a sufficient check).
    pub(super) endless: bool,
    /// Whether at most finitely many completions are accepted (a sufficient check).
    pub(super) finite: bool,
    /// The bytes it can't tell apart.
    pub(super) classes: ClassesId,
}

/// The formulas of a store.
#[derive(Debug)]
pub(super) struct Formulas {
    list: Vec<(Formula, Facts)>,
    known: FxHashMap<Formula, FormulaId>,
    bytes: usize,
}

impl Formulas {
    pub(super) fn new(base: ClassesId) -> Self {
        let facts = |accepts, distance| Facts {
            accepts,
            exact: true,
            bytes: distance,
            chars: distance,
            endless: accepts,
            finite: !accepts,
            classes: base,
        };
        let mut this = Self { list: Vec::new(), known: FxHashMap::default(), bytes: 0 };
        this.insert(Formula::No, facts(false, u32::MAX));
        this.insert(Formula::Yes, facts(true, 0));
        this
    }

    pub(super) fn get(&self, id: FormulaId) -> &Formula {
        &self.list[id as usize].0
    }

    pub(super) fn facts(&self, id: FormulaId) -> Facts {
        self.list[id as usize].1
    }

    pub(super) fn find(&self, formula: &Formula) -> Option<FormulaId> {
        self.known.get(formula).copied()
    }

    pub(super) fn insert(&mut self, formula: Formula, facts: Facts) -> FormulaId {
        let id = to_u32(self.list.len());
        self.bytes += formula.bytes();
        self.list.push((formula.clone(), facts));
        self.known.insert(formula, id);
        id
    }

    /// The operands of a connective, flattened, sorted, without doubles or neutral ones; `None` where one of them, or
    /// one beside its complement, decides alone.
    pub(super) fn operands(&self, parts: &[FormulaId], connective: Connective) -> Option<Vec<FormulaId>> {
        let (neutral, decisive) = (connective.neutral(), connective.decisive());
        let mut flat = Vec::with_capacity(parts.len());
        for &part in parts {
            match self.get(part) {
                Formula::And(inner) if connective == Connective::And => flat.extend_from_slice(inner),
                Formula::Or(inner) if connective == Connective::Or => flat.extend_from_slice(inner),
                _ if part == decisive => return None,
                _ if part == neutral => {}
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        let contradicts = |part: &FormulaId| match self.get(*part) {
            Formula::Not(inner) => flat.binary_search(inner).is_ok(),
            _ => false,
        };
        if flat.len() > 1 && flat.iter().any(contradicts) {
            return None;
        }
        Some(flat)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes
    }
}
