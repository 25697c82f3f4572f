//! The values of an atom, where they are few.

use formwork_grammar::{Bound, Decimal};
use num_bigint::BigUint;

use super::atom::NumberAtom;
use super::multiple::{common, scaled, ten};
use super::rules::Rules;
use crate::json::JsonAutomaton;

/// Numbers that are looked at. They are left out only where they are multiples of something unwanted, or have too many digits.
const LOOKED_AT: usize = 1 << 14;

impl JsonAutomaton {
    /// All values of an atom that can be written within the limits, ascending; `None` where there are more than `cap`.
    pub(in crate::json) fn number_values(&self, atom: u32, cap: usize) -> Option<Vec<Decimal>> {
        values(self.number_atoms.get(atom), &self.number_rules(atom), cap)
    }
}

pub(super) fn values(atom: &NumberAtom, rules: &Rules, cap: usize) -> Option<Vec<Decimal>> {
    // Those without an exponent are told fast, and are enough where they are many.
    let plain = values_on(atom, rules, 0, cap)?;
    match rules.exponent {
        Some(size) if size > 0 => values_on(atom, rules, i64::from(size), cap),
        _ => Some(plain),
    }
}

/// The values with exponents of at most this size.
fn values_on(atom: &NumberAtom, rules: &Rules, size: i64, cap: usize) -> Option<Vec<Decimal>> {
    let (whole, fraction) = (i64::from(rules.whole), i64::from(rules.fraction));
    let finest = Decimal::from_digits(false, &[1], 1 - fraction - size);
    let (unit, shift) = scaled(&atom.unit().map_or(finest.clone(), |unit| common(&unit, &finest)));
    let mut out = Vec::new();
    let mut looked_at = 0;
    for negative in [true, false] {
        let Some([lower, upper]) = &rules.bounds[usize::from(negative)] else { continue };
        let end = Bound { value: Decimal::from_digits(false, &[1], whole + size + 1), exclusive: true };
        let upper = upper.as_ref().filter(|bound| bound.value.point() <= whole + size).unwrap_or(&end);
        let mut at = lower.as_ref().map_or(BigUint::ZERO, |bound| {
            let (count, more) = units(&bound.value, &unit, shift);
            count + u8::from(more || bound.exclusive)
        });
        if negative {
            // Zero is counted on the other side.
            at = at.max(BigUint::from(1_u8));
        }
        let (count, more) = units(&upper.value, &unit, shift);
        // One past the last.
        let end = count + u8::from(more || !upper.exclusive);
        let mut side = Vec::new();
        while at < end {
            let digits = (&at * &unit).to_radix_be(10);
            let point = i64::try_from(digits.len()).unwrap_or(i64::MAX).saturating_add(shift);
            let value = Decimal::from_digits(negative, &digits, point);
            if is_written(&value, whole, fraction, size) && atom.holds(&value) {
                side.push(value);
            }
            looked_at += 1;
            if out.len() + side.len() > cap || looked_at > LOOKED_AT {
                return None;
            }
            at += 1_u8;
        }
        if negative {
            side.reverse();
        }
        out.extend(side);
    }
    Some(out)
}

/// How many units fit in a magnitude, and whether something is left over.
fn units(value: &Decimal, unit: &BigUint, shift: i64) -> (BigUint, bool) {
    let (digits, own) = scaled(value);
    let tens = ten(usize::try_from(own.abs_diff(shift)).unwrap_or(0));
    let (digits, unit) = if own >= shift { (digits * tens, unit.clone()) } else { (digits, unit * tens) };
    let count = &digits / &unit;
    let more = &count * &unit != digits;
    (count, more)
}

/// Whether some spelling has room for a value's digits: so many of them before the point, so many after it, and the exponent that
/// is left for them.
fn is_written(value: &Decimal, whole: i64, fraction: i64, size: i64) -> bool {
    let digits = i64::try_from(value.digits().len()).unwrap_or(i64::MAX);
    let least = (digits - fraction).max(value.point() - size);
    value.is_zero() || least <= whole.min(value.point() + size)
}
