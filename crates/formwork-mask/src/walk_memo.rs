//! Transitions seen during one walk: a walk comes through the same few states thousands of times.

use formwork_automaton::State;
use rustc_hash::FxHashMap;

/// The most states remembered in a walk: their rows stay within a processor's second-level cache.
const MOST: usize = 512;

/// A remembered state.
pub(crate) type Slot = u16;

/// What is known of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Not taken yet.
    Nothing,
    /// It leads nowhere.
    Dead,
    /// It appends to the sequence's store (or leads to a state not remembered): it has to be taken each time.
    Impure,
    /// It leads to this state and leaves the store alone.
    To(Slot),
}

/// States met where the sequence's store is as it was at the walk's beginning. There a step that appends nothing is a function of the
/// state and the byte, so that taking it once is enough.
#[derive(Debug, Default)]
pub(crate) struct WalkMemo {
    states: Vec<State>,
    slots: FxHashMap<State, Slot>,
    rows: Vec<[u16; 256]>,
}

const NOTHING: u16 = 0;
const DEAD: u16 = 1;
const IMPURE: u16 = 2;
const FIRST: u16 = 3;

impl WalkMemo {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.states.clear();
        self.slots.clear();
    }

    /// The slot of a state, where there is room.
    pub(crate) fn slot(&mut self, state: State) -> Option<Slot> {
        if let Some(&slot) = self.slots.get(&state) {
            return Some(slot);
        }
        let index = self.states.len();
        let slot = Slot::try_from(index).ok().filter(|_| index < MOST)?;
        match self.rows.get_mut(index) {
            Some(row) => row.fill(NOTHING),
            None => self.rows.push([NOTHING; 256]),
        }
        self.states.push(state);
        self.slots.insert(state, slot);
        Some(slot)
    }

    pub(crate) fn state(&self, slot: Slot) -> State {
        self.states[usize::from(slot)]
    }

    #[inline]
    pub(crate) fn get(&self, from: Slot, byte: u8) -> Known {
        match self.rows[usize::from(from)][usize::from(byte)] {
            NOTHING => Known::Nothing,
            DEAD => Known::Dead,
            IMPURE => Known::Impure,
            slot => Known::To(slot - FIRST),
        }
    }

    pub(crate) fn put(&mut self, from: Slot, byte: u8, known: Known) {
        self.rows[usize::from(from)][usize::from(byte)] = match known {
            Known::Nothing => NOTHING,
            Known::Dead => DEAD,
            Known::Impure => IMPURE,
            Known::To(slot) => slot + FIRST,
        };
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.rows.capacity() * size_of::<[u16; 256]>() + self.states.capacity() * 2 * size_of::<State>()
    }
}
