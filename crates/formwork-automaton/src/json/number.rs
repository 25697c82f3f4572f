//! Numbers: exact decimals, compared with their bounds digit by digit.

use std::cmp::Ordering;
use std::collections::VecDeque;

use formwork_grammar::{Bound, Decimal};
use rustc_hash::FxHashMap;

use super::JsonAutomaton;
use super::situation::Situation;
use crate::automaton::State;

/// A bound with its digits laid out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Edge {
    value: Decimal,
    exclusive: bool,
    /// The digits before the point, and those after it.
    digits: [Box<[u8]>; 2],
}

impl From<&Bound> for Edge {
    fn from(bound: &Bound) -> Self {
        let digits = [bound.value.int_digits().into(), bound.value.frac_digits().into()];
        Self { value: bound.value.clone(), exclusive: bound.exclusive, digits }
    }
}

/// A plain condition on numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct NumberAtom {
    pub(super) min: Option<Edge>,
    pub(super) max: Option<Edge>,
    /// No fraction is written.
    pub(super) integer: bool,
}

impl NumberAtom {
    /// The one number, in any spelling; `None` where it has over a thousand digits.
    pub(super) fn exactly(number: &serde_json::Number) -> Option<Self> {
        let value = Decimal::from_json(number)?;
        if value.point().unsigned_abs() > 1_000 || value.digits().len() > 1_000 {
            return None;
        }
        let edge = Edge::from(&Bound { value, exclusive: false });
        Some(Self { min: Some(edge.clone()), max: Some(edge), integer: false })
    }

    /// What holds where both do; `None` where the bounds cross.
    pub(super) fn meet(&self, other: &Self) -> Option<Self> {
        let min = stricter(self.min.as_ref(), other.min.as_ref(), Ordering::Greater);
        let max = stricter(self.max.as_ref(), other.max.as_ref(), Ordering::Less);
        if let (Some(min), Some(max)) = (min, max) {
            match min.value.cmp(&max.value) {
                Ordering::Greater => return None,
                Ordering::Equal if min.exclusive || max.exclusive => return None,
                _ => {}
            }
        }
        Some(Self { min: min.cloned(), max: max.cloned(), integer: self.integer || other.integer })
    }

    fn is_free(&self) -> bool {
        self.min.is_none() && self.max.is_none() && !self.integer
    }

    /// The bounds that a sign leaves for the magnitude, lower and upper; `None` where no number with the sign fits.
    fn magnitude(&self, negative: bool) -> Option<[Option<&Edge>; 2]> {
        let (low, high) = if negative { (&self.max, &self.min) } else { (&self.min, &self.max) };
        // Seen from the magnitude: `low` bounds it from below where it lies on the sign's side of zero.
        let on_side = |b: &Edge| b.value.is_zero() || b.value.is_negative() == negative;
        let lower = match low {
            Some(b) if on_side(b) => Some(b),
            _ => None,
        };
        let upper = match high {
            Some(b) if on_side(b) => Some(b),
            // The bound lies on the other side of zero: nothing with this sign fits.
            Some(_) => return None,
            None => None,
        };
        Some([lower, upper])
    }
}

fn stricter<'a>(a: Option<&'a Edge>, b: Option<&'a Edge>, better: Ordering) -> Option<&'a Edge> {
    match (a, b) {
        (Some(x), Some(y)) => match x.value.cmp(&y.value) {
            Ordering::Equal => Some(if x.exclusive { x } else { y }),
            order if order == better => Some(x),
            _ => Some(y),
        },
        (x, y) => x.or(y),
    }
}

/// How the digits so far compare with a bound's magnitude.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Against {
    /// The bound holds whatever follows.
    Holds,
    /// In the digits before the point: so many read, and how they compare with as many of the bound's.
    Whole { read: u16, order: Ordering },
    /// After the point: equal so far, up to this digit.
    Fraction { read: u16 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// Before the first digit, after `-` where there is one.
    Sign,
    /// After a leading zero.
    Zero,
    /// In the digits before the point.
    Whole,
    /// After the point, before a digit.
    Point,
    /// In the digits after the point.
    Fraction,
    /// After `e`.
    E,
    /// After `e` and a sign.
    ESign,
    /// In the exponent's digits.
    Exponent,
}

/// One alternative of a number that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NumberTrack {
    atom: u32,
    negative: bool,
    phase: Phase,
    against: [Against; 2],
}

/// Exponents are bounded so that every number stays finite as a 64-bit float, with as many digits as the limits allow before it.
const MAX_EXPONENT: u32 = 280;

impl JsonAutomaton {
    /// The first track of an atom, for numbers with or without a minus.
    fn number_track(&self, atom: u32, negative: bool) -> Option<NumberTrack> {
        if negative && !self.alphabet.contains(b'-') {
            return None;
        }
        let bounds = self.number_atoms.get(atom).magnitude(negative)?;
        let start = Against::Whole { read: 0, order: Ordering::Equal };
        let against = bounds.map(|b| if b.is_some() { start } else { Against::Holds });
        Some(NumberTrack { atom, negative, phase: Phase::Sign, against })
    }

    /// Bytes of the shortest number that an atom allows; `None` where there is none.
    pub(super) fn number_start_cost(&self, atom: u32) -> Option<u32> {
        [false, true]
            .into_iter()
            .filter_map(|negative| {
                self.number_cost(self.number_start(atom, negative)?).map(|cost| cost + u32::from(negative))
            })
            .min()
    }

    /// The track of an atom's numbers with this sign, after it.
    pub(super) fn number_start(&self, atom: u32, negative: bool) -> Option<u32> {
        let track = self.number_tracks.intern(self.number_track(atom, negative)?);
        self.number_cost(track).map(|_| track)
    }

    /// The situation after a number's first byte, for the atoms of each tag.
    pub(super) fn start_number(&self, atoms: &[(u16, u32)], byte: u8, state: State) -> Option<State> {
        let negative = byte == b'-';
        let tracks: Vec<(u16, u32)> =
            atoms.iter().filter_map(|&(tag, atom)| Some((tag, self.number_start(atom, negative)?))).collect();
        if tracks.is_empty() {
            return None;
        }
        let id = self.situations.intern(Situation::Number { alts: tracks.into() });
        let state = State { id, a: 0, b: 0, c: 0, ..state };
        if negative {
            return Some(state);
        }
        let Situation::Number { alts } = self.situations.get(id) else { return None };
        self.step_number(alts, state, byte)
    }

    /// One more byte of a number; `None` where no alternative reads it.
    pub(super) fn step_number(&self, alts: &[(u16, u32)], state: State, byte: u8) -> Option<State> {
        let mut digits = state.a;
        let mut exponent = state.b;
        let mut kept: Vec<(u16, u32)> = Vec::with_capacity(alts.len());
        for &(tag, id) in alts {
            let track = *self.number_tracks.get(id);
            let Some(next) = self.step_track(track, byte) else { continue };
            let run = if next.phase == track.phase { state.a } else { 0 };
            digits = run + u32::from(byte.is_ascii_digit());
            let next_id = self.number_tracks.intern(next);
            let Some(cost) = self.number_cost(next_id) else { continue };
            let fits = match next.phase {
                Phase::Whole => digits <= self.digit_limit(track.atom, 0),
                Phase::Fraction => digits + cost <= self.digit_limit(track.atom, 1),
                Phase::Exponent => {
                    exponent = state.b * 10 + u32::from(byte - b'0');
                    digits <= 3 && exponent <= MAX_EXPONENT
                }
                _ => true,
            };
            if fits {
                kept.push((tag, next_id));
            }
        }
        if kept.is_empty() {
            return None;
        }
        let id = self.situations.intern(Situation::Number { alts: kept.into() });
        Some(State { id, a: digits, b: exponent, ..state })
    }

    /// The tags whose alternatives accept the number as it stands.
    pub(super) fn number_tags(&self, alts: &[(u16, u32)]) -> Vec<u16> {
        alts.iter()
            .filter(|(_, track)| self.number_accepts(*self.number_tracks.get(*track)))
            .map(|(tag, _)| *tag)
            .collect()
    }

    /// Digits in a row: the limit, or what a bound's own digits need where that is more.
    pub(super) fn digit_limit(&self, atom: u32, part: usize) -> u32 {
        let atom = self.number_atoms.get(atom);
        let longest = [&atom.min, &atom.max].into_iter().flatten().map(|b| b.digits[part].len()).max().unwrap_or(0);
        self.options.limits.digits.max(u32::try_from(longest).unwrap_or(u32::MAX).saturating_add(2))
    }

    fn step_track(&self, track: NumberTrack, byte: u8) -> Option<NumberTrack> {
        let atom = self.number_atoms.get(track.atom);
        let phase = match (track.phase, byte) {
            // "-0" is written for no integer.
            (Phase::Sign, b'0') if !(atom.integer && track.negative) => Phase::Zero,
            (Phase::Sign, b'1'..=b'9') | (Phase::Whole, b'0'..=b'9') => Phase::Whole,
            (Phase::Zero | Phase::Whole, b'.') if !atom.integer => Phase::Point,
            (Phase::Point | Phase::Fraction, b'0'..=b'9') => Phase::Fraction,
            (Phase::Zero | Phase::Whole | Phase::Fraction, b'e' | b'E') if atom.is_free() => Phase::E,
            (Phase::E, b'+' | b'-') => Phase::ESign,
            (Phase::E | Phase::ESign | Phase::Exponent, b'0'..=b'9') => Phase::Exponent,
            _ => return None,
        };
        let bounds = atom.magnitude(track.negative)?;
        let mut against = track.against;
        for (i, slot) in against.iter_mut().enumerate() {
            let Some(bound) = bounds[i] else { continue };
            let order = match (*slot, phase) {
                (Against::Whole { read, order }, Phase::Zero | Phase::Whole) => {
                    match bound.digits[0].get(usize::from(read)) {
                        Some(d) => {
                            let order = order.then((byte - b'0').cmp(d));
                            *slot = Against::Whole { read: read + 1, order };
                            continue;
                        }
                        // One digit more than the bound has.
                        None => Ordering::Greater,
                    }
                }
                (Against::Whole { read, order }, Phase::Point) => {
                    let order = usize::from(read).cmp(&bound.digits[0].len()).then(order);
                    if order.is_eq() {
                        *slot = Against::Fraction { read: 0 };
                        continue;
                    }
                    order
                }
                (Against::Fraction { read }, Phase::Fraction) => {
                    let known = bound.digits[1].get(usize::from(read)).copied();
                    let order = (byte - b'0').cmp(&known.unwrap_or(0));
                    if order.is_eq() {
                        *slot = Against::Fraction { read: if known.is_some() { read + 1 } else { read } };
                        continue;
                    }
                    order
                }
                _ => continue,
            };
            if (order == Ordering::Greater) != (i == 0) {
                return None;
            }
            *slot = Against::Holds;
        }
        Some(NumberTrack { phase, against, ..track })
    }

    fn number_accepts(&self, track: NumberTrack) -> bool {
        if matches!(track.phase, Phase::Sign | Phase::Point | Phase::E | Phase::ESign) {
            return false;
        }
        let Some(bounds) = self.number_atoms.get(track.atom).magnitude(track.negative) else { return false };
        track.against.iter().zip(bounds).enumerate().all(|(i, (against, bound))| {
            let Some(bound) = bound else { return true };
            let order = match *against {
                Against::Holds => return true,
                Against::Whole { read, order } => {
                    let whole = usize::from(read).cmp(&bound.digits[0].len()).then(order);
                    whole.then(if bound.digits[1].is_empty() { Ordering::Equal } else { Ordering::Less })
                }
                Against::Fraction { read } if usize::from(read) < bound.digits[1].len() => Ordering::Less,
                Against::Fraction { .. } => Ordering::Equal,
            };
            match order {
                Ordering::Equal => !bound.exclusive,
                Ordering::Greater => i == 0,
                Ordering::Less => i == 1,
            }
        })
    }

    /// Bytes to the nearest end of a number; `None` where none can be reached. Digit limits don't count here, and needn't: they leave
    /// room for a bound's own digits and two more.
    pub(super) fn number_cost(&self, track: u32) -> Option<u32> {
        let cost = self.number_costs.get_or(track, || self.number_search(track).map_or(u32::MAX, |(cost, _)| cost));
        (cost != u32::MAX).then_some(cost)
    }

    /// A shortest rest of a number.
    pub(super) fn number_rest(&self, track: u32) -> Option<Vec<u8>> {
        self.number_search(track).map(|(_, text)| text)
    }

    /// Breadth-first over the tracks of one atom, which are few: one for each digit of a bound.
    fn number_search(&self, start: u32) -> Option<(u32, Vec<u8>)> {
        let start = *self.number_tracks.get(start);
        let mut came: FxHashMap<NumberTrack, Option<(NumberTrack, u8)>> = FxHashMap::default();
        came.insert(start, None);
        let mut queue = VecDeque::from([start]);
        while let Some(track) = queue.pop_front() {
            if self.number_accepts(track) {
                let mut text = Vec::new();
                let mut at = track;
                while let Some(Some((before, byte))) = came.get(&at) {
                    text.push(*byte);
                    at = *before;
                }
                text.reverse();
                return Some((u32::try_from(text.len()).ok()?, text));
            }
            for byte in b"0123456789.".iter().copied().filter(|byte| self.alphabet.contains(*byte)) {
                if let Some(next) = self.step_track(track, byte)
                    && !came.contains_key(&next)
                {
                    came.insert(next, Some((track, byte)));
                    queue.push_back(next);
                }
            }
        }
        None
    }
}
