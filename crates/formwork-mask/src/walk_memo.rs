//! Transitions seen during one walk: a walk comes through the same few states thousands of times.

use formwork_automaton::{ByteSet, State};
use rustc_hash::FxHashMap;

/// The most states remembered in a walk: their rows stay within a processor's second-level cache.
const MOST: usize = 512;

/// A remembered state.
pub(crate) type Slot = u16;

/// What is known of a transition: [`NOTHING`], [`DEAD`], [`IMPURE`], [`LIVE`], or a slot and [`FIRST`].
pub(crate) type Known = u16;

/// Not taken yet.
pub(crate) const NOTHING: Known = 0;
/// It leads nowhere.
pub(crate) const DEAD: Known = 1;
/// It appends to the sequence's store (or leads to a state not remembered): it has to be taken each time.
pub(crate) const IMPURE: Known = 2;
/// It leads to some state, which no token has gone on from yet, and leaves the store alone.
pub(crate) const LIVE: Known = 3;
/// It leads to the state in the first slot and leaves the store alone.
pub(crate) const FIRST: Known = 4;

type Row = [Known; 256];

/// States met where the sequence's store is as it was at the walk's beginning. There a step that appends nothing is a function of the
/// state and the byte, so that taking it once is enough.
#[derive(Debug, Default)]
pub(crate) struct WalkMemo {
    states: Vec<State>,
    /// The bytes that can be read at each.
    readable: Vec<ByteSet>,
    slots: FxHashMap<State, Slot>,
    rows: Vec<Row>,
    /// What rows begin as, by the bytes that can be read.
    fresh: Vec<(ByteSet, Row)>,
}

/// Rows to begin with that are kept.
const MOST_FRESH: usize = 32;

impl WalkMemo {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.states.clear();
        self.readable.clear();
        self.slots.clear();
    }

    /// The slot of a state, where there is room; `readable` gives the bytes that can be read there.
    pub(crate) fn slot(&mut self, state: State, readable: impl FnOnce() -> ByteSet) -> Option<Slot> {
        if let Some(&slot) = self.slots.get(&state) {
            return Some(slot);
        }
        let index = self.states.len();
        let slot = Slot::try_from(index).ok().filter(|_| index < MOST)?;
        let readable = readable();
        let fresh = self.fresh.iter().position(|(bytes, _)| *bytes == readable).unwrap_or_else(|| {
            if self.fresh.len() >= MOST_FRESH {
                self.fresh.clear();
            }
            let mut row = [NOTHING; 256];
            for byte in readable.complement().iter() {
                row[usize::from(byte)] = DEAD;
            }
            self.fresh.push((readable, row));
            self.fresh.len() - 1
        });
        let fresh = &self.fresh[fresh].1;
        match self.rows.get_mut(index) {
            Some(row) => row.copy_from_slice(fresh),
            None => self.rows.push(*fresh),
        }
        self.states.push(state);
        self.readable.push(readable);
        self.slots.insert(state, slot);
        Some(slot)
    }

    pub(crate) fn state(&self, slot: Slot) -> State {
        self.states[usize::from(slot)]
    }

    pub(crate) fn readable(&self, slot: Slot) -> ByteSet {
        self.readable[usize::from(slot)]
    }

    #[inline]
    pub(crate) fn get(&self, from: Slot, byte: u8) -> Known {
        self.rows[usize::from(from)][usize::from(byte)]
    }

    pub(crate) fn put(&mut self, from: Slot, byte: u8, known: Known) {
        self.rows[usize::from(from)][usize::from(byte)] = known;
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        (self.rows.capacity() + self.fresh.capacity()) * size_of::<Row>()
            + self.states.capacity() * 2 * size_of::<State>()
            + self.readable.capacity() * size_of::<ByteSet>()
    }
}
