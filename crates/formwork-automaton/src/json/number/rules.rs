//! What an atom asks of a number's digits, laid out for reading.

use std::sync::Arc;

use formwork_grammar::{Bound, Decimal, Limits, Numbers};

use super::atom::{NumberAtom, Room};
use super::multiple::{Condition, is_multiple};
use crate::json::JsonAutomaton;

/// The largest size of an exponent: together with the digits that the limits allow before it, every number stays finite as a 64-bit
/// float, and those of usual length don't become zero.
const MAX_EXPONENT: u16 = 280;

/// The digits of the largest 64-bit float, rounded down; they begin 309 places before the point.
const LARGEST_FLOAT: [u8; 17] = [1, 7, 9, 7, 6, 9, 3, 1, 3, 4, 8, 6, 2, 3, 1, 5, 7];

/// Digits of an integer that surely is below the largest 64-bit float.
const MAX_WHOLE: usize = 308;

/// Digits in a row that may be written where every spelling may.
const ANY_DIGITS: usize = 64;

/// Bits of all units together from which on numbers are read as long ones: the tables hold a track for each residue at each digit.
const LONG_UNITS: u64 = 12;

/// An atom under the options, per sign and part of the number.
#[derive(Debug)]
pub(in crate::json) struct Rules {
    /// The bounds of the magnitude, lower and upper, of numbers without and with a minus; `None` where no such number fits.
    pub(super) bounds: [Option<[Option<Bound>; 2]>; 2],
    /// What the value is a multiple of or not; the first one only may be wanted.
    pub(super) conditions: Box<[Condition]>,
    /// Digits before the point at most.
    pub(super) whole: u16,
    /// Digits after the point at most; none where no point is written.
    pub(super) fraction: u16,
    /// The largest size of an exponent, where one may be written.
    pub(super) exponent: Option<u16>,
    /// Whether every spelling of a value may be written.
    pub(super) any: bool,
    /// Whether `-0` may be written.
    pub(super) minus_zero: bool,
}

impl Rules {
    pub(super) fn new(atom: &NumberAtom, numbers: Numbers, digits: u32) -> Self {
        let any = is_any(atom, numbers);
        if let (Some(Room { whole, fraction, exponent }), false) = (atom.room, atom.watched) {
            return Self::within(atom, numbers, whole, fraction, exponent);
        }
        let whole_only = atom.integer && (atom.written || !any);
        // The digits that the schema's own numbers have, and two more: there is always room between two bounds.
        let bounds = [&atom.min, &atom.max].into_iter().flatten().map(|b| &b.value);
        let units = atom.multiple.iter().chain(&atom.not_multiples);
        let (mut whole, mut fraction) = (0, 0);
        for value in bounds.chain(units) {
            whole = whole.max(usize::try_from(value.point()).unwrap_or(0));
            let last = i64::try_from(value.digits().len()).unwrap_or(i64::MAX) - value.point();
            fraction = fraction.max(usize::try_from(last).unwrap_or(0));
        }
        let digits = usize::try_from(digits).unwrap_or(usize::MAX);
        // A limit that somebody has set lower is kept.
        let is_low = digits < Limits::default().digits as usize;
        let digits = match (atom.watched, any && !is_low) {
            // Whatever another alternative writes has to be read.
            (true, _) => MAX_WHOLE,
            (false, true) => digits.max(ANY_DIGITS),
            (false, false) => digits,
        };
        let whole = narrow(digits.max(whole + 2).min(most_whole(atom)));
        let fraction = if whole_only { 0 } else { narrow(digits.max(fraction + 2)) };
        let exponent = if any {
            (!whole_only).then_some(narrow(MAX_WHOLE))
        } else {
            let largest = narrow(MAX_WHOLE).saturating_sub(whole.max(fraction));
            atom.is_free().then(|| MAX_EXPONENT.min(largest))
        };
        Self::within(atom, numbers, whole, fraction, exponent)
    }

    /// The rules for numbers of so many digits and such an exponent.
    pub(super) fn within(
        atom: &NumberAtom,
        numbers: Numbers,
        whole: u16,
        fraction: u16,
        exponent: Option<u16>,
    ) -> Self {
        let any = is_any(atom, numbers);
        // The finest number that can be written: where that is a multiple, all are.
        let finest = Decimal::from_digits(false, &[1], 1 - i64::from(fraction) - i64::from(exponent.unwrap_or(0)));
        let wanted = atom.unit().filter(|unit| !is_multiple(&finest, unit)).map(|unit| Condition::new(&unit, true));
        let unwanted = atom.not_multiples.iter().map(|unit| Condition::new(unit, false));
        let bounds = [false, true].map(|negative| {
            let [lower, upper] = atom.magnitude(negative)?;
            Some([lower, if any { Some(below_infinity(upper)) } else { upper }])
        });
        Self {
            bounds,
            conditions: wanted.into_iter().chain(unwanted).collect(),
            whole,
            fraction,
            exponent,
            any,
            minus_zero: any || !atom.integer,
        }
    }

    /// How much may be written.
    pub(super) fn room(&self) -> Room {
        Room { whole: self.whole, fraction: self.fraction, exponent: self.exponent }
    }

    /// Whether there are too many residues to share a track for each.
    pub(super) fn is_long(&self) -> bool {
        self.conditions.iter().map(Condition::bits).sum::<u64>() > LONG_UNITS
    }
}

/// Whether every spelling of a value may be written. Where that is one value in the room that others leave, it may need an exponent.
fn is_any(atom: &NumberAtom, numbers: Numbers) -> bool {
    numbers == Numbers::Any || atom.watched || atom.room.is_some_and(|room| room.exponent.is_some())
}

/// An upper bound that keeps numbers finite as 64-bit floats.
fn below_infinity(upper: Option<Bound>) -> Bound {
    upper.filter(is_finite).unwrap_or(Bound { value: largest_float(), exclusive: false })
}

fn largest_float() -> Decimal {
    Decimal::from_digits(false, &LARGEST_FLOAT, 309)
}

/// Whether a bound's magnitude is no more than that of the largest 64-bit float.
fn is_finite(bound: &Bound) -> bool {
    Decimal::from_digits(false, bound.value.digits(), bound.value.point()) <= largest_float()
}

/// Digits before the point of all numbers that an atom may have and that are finite as 64-bit floats.
fn most_whole(atom: &NumberAtom) -> usize {
    let is_bounded = |bounds: [Option<Bound>; 2]| bounds[1].as_ref().is_some_and(is_finite);
    let all_bounded = [false, true].into_iter().filter_map(|negative| atom.magnitude(negative)).all(is_bounded);
    MAX_WHOLE + usize::from(all_bounded)
}

fn narrow(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

impl JsonAutomaton {
    pub(super) fn number_rules(&self, atom: u32) -> Arc<Rules> {
        self.number_rules.get_or(atom, || {
            Arc::new(Rules::new(self.number_atoms.get(atom), self.options.numbers, self.options.limits.digits))
        })
    }

    /// The atom of one number, which another atom holds for, with as much room as that one has; `None` where it doesn't hold.
    pub(in crate::json) fn number_in(&self, atom: u32, number: &serde_json::Number) -> Option<NumberAtom> {
        self.number_atoms.get(atom).only(number, self.number_rules(atom).room())
    }
}
