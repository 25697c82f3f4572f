//! The states: a formula and a place inside a character, with the transitions known so far.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use super::byte_classes::{ByteClasses, NOWHERE, preference};
use super::formula::{ClassesId, FormulaId, NO, YES};
use super::program::Unit;
use super::store::Store;
use super::utf8::{self, BOUNDARY, NEVER, Utf8};
use crate::char_class::CharClass;

/// A distance that was not asked for yet.
const UNKNOWN: u32 = u32::MAX - 1;
/// No completion exists.
const DEAD: u32 = NEVER;

/// What a slot of a state's row holds: nothing yet, "dead", or a state whose liveness is open or known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    Unknown,
    Dead,
    Open(u32),
    Live(u32),
}

impl Slot {
    #[inline]
    const fn unpack(word: u32) -> Self {
        match (word & 3, word >> 2) {
            (0, _) => Self::Unknown,
            (1, _) => Self::Dead,
            (2, id) => Self::Open(id),
            (_, id) => Self::Live(id),
        }
    }

    const fn pack(self) -> u32 {
        match self {
            Self::Unknown => 0,
            Self::Dead => 1,
            Self::Open(id) => id << 2 | 2,
            Self::Live(id) => id << 2 | 3,
        }
    }
}

/// The largest number of states that slots can name.
const MOST_STATES: usize = 1 << 30;

/// One state.
#[derive(Debug)]
pub(super) struct State {
    pub(super) formula: FormulaId,
    pub(super) utf8: Utf8,
    pub(super) accepting: bool,
    /// Whether no valid continuation is dead (a sufficient check).
    pub(super) endless: bool,
    pub(super) classes: Arc<ByteClasses>,
    /// Equal where these are.
    pub(super) classes_id: ClassesId,
    row: Box<[AtomicU32]>,
    /// Exact distance to the nearest accepting state, or [`UNKNOWN`] or [`DEAD`].
    bytes: AtomicU32,
    chars: AtomicU32,
    /// The first byte of a shortest completion, plus one; zero while unknown.
    next: AtomicU32,
    /// Per character class what [`Langs::safe_chars`](super::Langs::safe_chars) answers, plus one; zero while unknown.
    pub(super) safe: [AtomicU32; CharClass::ALL.len()],
    /// Per character class what [`Langs::stays_at`](super::Langs::stays_at) answers, plus two; one where that is nothing, zero while unknown.
    pub(super) stays: [AtomicU32; CharClass::ALL.len()],
    /// The state that stands for those [near](super::Langs::near) this one, plus one; zero while unknown.
    pub(super) near: AtomicU32,
    /// The most characters that are missing at a state near by, once `near` is known.
    pub(super) far: AtomicU32,
}

impl State {
    fn distance(&self, unit: Unit) -> &AtomicU32 {
        match unit {
            Unit::Bytes => &self.bytes,
            Unit::Chars => &self.chars,
        }
    }

    /// What one byte from here costs.
    fn cost(&self, unit: Unit) -> u32 {
        match unit {
            Unit::Bytes => 1,
            Unit::Chars => u32::from(self.utf8 == BOUNDARY),
        }
    }

    pub(super) fn is_universal(&self) -> bool {
        self.formula == YES
    }
}

/// All states. Reading a known transition takes no lock; building one needs the store, which its owner keeps locked.
#[derive(Debug, Default)]
pub(super) struct States {
    list: boxcar::Vec<State>,
    row_bytes: AtomicUsize,
}

impl States {
    #[inline]
    pub(super) fn get(&self, id: u32) -> Option<&State> {
        self.list.get(id as usize)
    }

    pub(super) fn len(&self) -> usize {
        self.list.count()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.list.count() * size_of::<State>() + self.row_bytes.load(Ordering::Relaxed)
    }

    /// The known answer for a byte's class: `None` where it must be built, else the live state or none.
    #[inline]
    #[expect(clippy::option_option, reason = "not known yet, and known to be dead")]
    pub(super) fn known(state: &State, class: u8) -> Option<Option<u32>> {
        match Slot::unpack(state.row.get(usize::from(class))?.load(Ordering::Acquire)) {
            Slot::Live(to) => Some(Some(to)),
            Slot::Dead => Some(None),
            Slot::Unknown | Slot::Open(_) => None,
        }
    }

    /// The state for a formula and a place in a character; `None` where no completion can exist, or no room is left.
    pub(super) fn intern(&self, store: &mut Store, formula: FormulaId, at: Utf8) -> Option<u32> {
        if formula == NO || store.to_boundary[usize::from(at)] == NEVER {
            return None;
        }
        if let Some(&id) = store.states.get(&(formula, at)) {
            return Some(id);
        }
        if self.list.count() >= store.limits.max_states.min(MOST_STATES) {
            store.undecided += 1;
            return None;
        }
        let facts = store.formulas.facts(formula);
        let accepting = at == BOUNDARY && facts.accepts;
        let (bytes, chars) = if formula == YES {
            (store.to_boundary[usize::from(at)], 0)
        } else if accepting {
            (0, 0)
        } else if facts.exact {
            (facts.bytes, facts.chars)
        } else {
            (UNKNOWN, UNKNOWN)
        };
        let endless = store.ends_chars && facts.endless;
        let classes = Arc::clone(store.partition(facts.classes));
        let row: Box<[AtomicU32]> = (0..classes.len()).map(|_| AtomicU32::new(Slot::Unknown.pack())).collect();
        self.row_bytes.fetch_add(row.len() * size_of::<u32>(), Ordering::Relaxed);
        let id = self.list.push(State {
            formula,
            utf8: at,
            accepting,
            endless,
            classes,
            classes_id: facts.classes,
            row,
            bytes: AtomicU32::new(bytes),
            chars: AtomicU32::new(chars),
            next: AtomicU32::new(0),
            safe: Default::default(),
            stays: Default::default(),
            near: AtomicU32::new(0),
            far: AtomicU32::new(0),
        });
        let id = u32::try_from(id).ok()?;
        store.states.insert((formula, at), id);
        Some(id)
    }

    /// Where a class of bytes leads, live or not; `None` where no completion can exist.
    fn edge(&self, store: &mut Store, from: u32, class: u8) -> Option<u32> {
        let state = self.get(from)?;
        if class == NOWHERE {
            return None;
        }
        let slot = state.row.get(usize::from(class))?;
        match Slot::unpack(slot.load(Ordering::Acquire)) {
            Slot::Live(to) | Slot::Open(to) => return Some(to),
            Slot::Dead => return None,
            Slot::Unknown => {}
        }
        let byte = state.classes.representative(class);
        let to = utf8::next(state.utf8, byte).and_then(|at| {
            let formula = store.derive(state.formula, byte);
            self.intern(store, formula, at)
        });
        slot.store(to.map_or(Slot::Dead, Slot::Open).pack(), Ordering::Release);
        to
    }

    /// Where a class of bytes leads; `None` where no completion exists.
    pub(super) fn live_edge(&self, store: &mut Store, from: u32, class: u8) -> Option<u32> {
        let to = self.edge(store, from, class)?;
        let live = self.is_live(store, to);
        let slot = if live { Slot::Live(to) } else { Slot::Dead };
        self.get(from)?.row.get(usize::from(class))?.store(slot.pack(), Ordering::Release);
        live.then_some(to)
    }

    /// Whether some completion is accepted.
    pub(super) fn is_live(&self, store: &mut Store, id: u32) -> bool {
        self.distance(store, id, Unit::Bytes) != DEAD
    }

    /// The exact distance to the nearest accepting state.
    pub(super) fn distance(&self, store: &mut Store, id: u32, unit: Unit) -> u32 {
        let Some(state) = self.get(id) else {
            return DEAD;
        };
        let known = state.distance(unit).load(Ordering::Acquire);
        if known != UNKNOWN {
            return known;
        }
        self.search(store, id, unit);
        match state.distance(unit).load(Ordering::Acquire) {
            UNKNOWN => {
                // The bound on the search was met: not allowed, and counted.
                store.undecided += 1;
                state.distance(unit).store(DEAD, Ordering::Release);
                DEAD
            }
            found => found,
        }
    }

    /// The exact distance, where it is known without a search.
    #[inline]
    pub(super) fn known_distance(&self, id: u32, unit: Unit) -> Option<u32> {
        let known = self.get(id)?.distance(unit).load(Ordering::Acquire);
        (known != UNKNOWN).then_some(known)
    }

    /// A lower bound of a state's distance; exact where `true` comes with it.
    pub(super) fn bound(&self, store: &Store, id: u32, unit: Unit) -> (u32, bool) {
        let Some(state) = self.get(id) else {
            return (DEAD, true);
        };
        match state.distance(unit).load(Ordering::Acquire) {
            UNKNOWN => {
                let facts = store.formulas.facts(state.formula);
                match unit {
                    Unit::Bytes => (facts.bytes.max(store.to_boundary[usize::from(state.utf8)]), false),
                    Unit::Chars => (facts.chars, false),
                }
            }
            known => (known, true),
        }
    }

    pub(super) fn cost(&self, id: u32, unit: Unit) -> u32 {
        self.get(id).map_or(0, |state| state.cost(unit))
    }

    pub(super) fn set_distance(&self, id: u32, unit: Unit, distance: u32) {
        if let Some(state) = self.get(id) {
            state.distance(unit).store(distance, Ordering::Release);
        }
    }

    /// Marks a state from which nothing is accepted.
    pub(super) fn set_dead(&self, id: u32) {
        self.set_distance(id, Unit::Bytes, DEAD);
        self.set_distance(id, Unit::Chars, DEAD);
    }

    /// The states that one byte leads to, live or not.
    pub(super) fn edges(&self, store: &mut Store, from: u32, found: &mut Vec<u32>) {
        found.clear();
        let Some(state) = self.get(from) else { return };
        for class in state.classes.iter() {
            if let Some(to) = self.edge(store, from, class) {
                found.push(to);
            }
        }
        found.sort_unstable();
        found.dedup();
    }

    /// The first byte of a shortest completion, the most readable where several begin one.
    pub(super) fn shortest_next(&self, store: &mut Store, from: u32) -> Option<u8> {
        let state = self.get(from)?;
        let distance = match self.distance(store, from, Unit::Bytes) {
            0 | DEAD => return None,
            distance => distance - 1,
        };
        if let Some(byte) = state.next.load(Ordering::Acquire).checked_sub(1) {
            return u8::try_from(byte).ok();
        }
        for class in by_preference(&state.classes) {
            let Some(to) = self.edge(store, from, class) else {
                continue;
            };
            if self.bound(store, to, Unit::Bytes).0 <= distance && self.distance(store, to, Unit::Bytes) == distance {
                let byte = state.classes.representative(class);
                state.next.store(u32::from(byte) + 1, Ordering::Release);
                return Some(byte);
            }
        }
        None
    }
}

/// The classes that may lead somewhere, the most readable first.
pub(super) fn by_preference(classes: &ByteClasses) -> Vec<u8> {
    let mut order: Vec<u8> = classes.iter().collect();
    order.sort_unstable_by_key(|&class| preference(classes.representative(class)));
    order
}
