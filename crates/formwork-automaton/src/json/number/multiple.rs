//! Multiples: exact arithmetic of units, and what the digits so far say about them.

use formwork_grammar::Decimal;
use num_bigint::BigUint;

use crate::interner::to_u32;

/// Of a unit of at least 10^399, only zero is a multiple that can be written.
const TOO_LARGE: i64 = 400;

/// 10^`n`.
pub(super) fn ten(n: usize) -> BigUint {
    BigUint::from(10_u8).pow(to_u32(n))
}

/// A unit, with all that are too large for any multiple but zero made one.
pub(super) fn clamp(unit: &Decimal) -> Decimal {
    if unit.point() > TOO_LARGE { Decimal::from_digits(false, &[1], TOO_LARGE) } else { unit.clone() }
}

/// The least common multiple.
pub(super) fn common(a: &Decimal, b: &Decimal) -> Decimal {
    let ((x, x_shift), (y, y_shift)) = (scaled(a), scaled(b));
    let shift = x_shift.min(y_shift);
    let (x, y) = (x * ten(distance(x_shift, shift)), y * ten(distance(y_shift, shift)));
    let gcd = gcd(x.clone(), y.clone());
    let digits = (x / gcd * y).to_radix_be(10);
    let point = i64::try_from(digits.len()).unwrap_or(i64::MAX).saturating_add(shift);
    clamp(&Decimal::from_digits(false, &digits, point))
}

/// Whether a value is a multiple of a unit: it is an integer times the unit.
pub(super) fn is_multiple(value: &Decimal, unit: &Decimal) -> bool {
    if value.is_zero() {
        return true;
    }
    let ((digits, shift), (unit, unit_shift)) = (scaled(value), scaled(unit));
    // The digits don't end with a zero: a coarser grid of tens leaves them out.
    shift >= unit_shift && divides(&unit, &(digits * ten(distance(shift, unit_shift))))
}

/// The magnitude as an integer that doesn't end with a zero, and its power of ten.
pub(super) fn scaled(value: &Decimal) -> (BigUint, i64) {
    let shift = value.point() - i64::try_from(value.digits().len()).unwrap_or(i64::MAX);
    (integer(value.digits()), shift)
}

/// Digits as an integer.
pub(super) fn integer(digits: &[u8]) -> BigUint {
    BigUint::from_radix_be(digits, 10).unwrap_or_default()
}

fn distance(a: i64, b: i64) -> usize {
    usize::try_from(a - b).unwrap_or(0)
}

pub(super) fn divides(unit: &BigUint, n: &BigUint) -> bool {
    *unit != BigUint::ZERO && n % unit == BigUint::ZERO
}

pub(super) fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// The multiples of `unit` × 10^`shift`, which the value must be one of, or must not be.
#[derive(Debug)]
pub(super) struct Condition {
    unit: BigUint,
    shift: i64,
    pub(super) wanted: bool,
}

/// What a condition needs to know of the digits so far, read as an integer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Residue {
    /// The integer modulo the condition's unit.
    pub(super) rest: BigUint,
    /// Where that is zero: the unit times ten to which power still divides the integer.
    pub(super) zeros: u16,
}

/// The integer so far is zero: every power of ten divides it.
const ZERO: u16 = u16::MAX;

impl Residue {
    /// Before the first digit.
    pub(super) fn start() -> Self {
        Self { rest: BigUint::ZERO, zeros: ZERO }
    }

    /// Whether all digits are zero.
    pub(super) fn is_zero(&self) -> bool {
        self.zeros == ZERO
    }
}

/// The numbers that are `first` and every `step`-th after it.
#[derive(Debug)]
pub(super) struct Progression {
    pub(super) first: BigUint,
    pub(super) step: BigUint,
}

impl Progression {
    /// The least of them from `low` on.
    pub(super) fn from(&self, low: &BigUint) -> BigUint {
        if *low <= self.first {
            return self.first.clone();
        }
        let past = (low - &self.first) % &self.step;
        if past == BigUint::ZERO { low.clone() } else { low + (&self.step - past) }
    }

    pub(super) fn contains(&self, n: &BigUint) -> bool {
        *n >= self.first && divides(&self.step, &(n - &self.first))
    }
}

impl Condition {
    pub(super) fn new(unit: &Decimal, wanted: bool) -> Self {
        let (unit, shift) = scaled(unit);
        Self { unit, shift, wanted }
    }

    /// Bits of the unit's digits.
    pub(super) fn bits(&self) -> u64 {
        self.unit.bits()
    }

    /// Reads one more digit. Without exponents, `fraction` is how many digits stand after the point then; no power of ten beyond
    /// what they ask for makes a difference.
    pub(super) fn push(&self, so_far: &Residue, digit: u8, fraction: Option<u16>) -> Residue {
        let rest = (&so_far.rest * 10_u8 + digit) % &self.unit;
        let zeros = match (rest == BigUint::ZERO, so_far.rest == BigUint::ZERO) {
            (true, true) if digit == 0 => so_far.zeros.saturating_add(1),
            _ => 0,
        };
        let enough =
            fraction.map_or(ZERO, |f| u16::try_from(self.shift.saturating_add(i64::from(f)).max(0)).unwrap_or(ZERO));
        Residue { rest, zeros: zeros.min(enough) }
    }

    /// Which `more` further digits, read as an integer, make the whole a multiple when it stands for so many times 10^`power`.
    pub(super) fn further(&self, so_far: &Residue, more: usize, power: i64) -> Option<Progression> {
        let room = power.saturating_sub(self.shift);
        if let Ok(spare) = usize::try_from(room) {
            let step = &self.unit / gcd(self.unit.clone(), ten(spare));
            let first = opposite(&so_far.rest * ten(more), &step);
            return Some(Progression { first, step });
        }
        let zeros = usize::try_from(room.unsigned_abs()).ok()?;
        if zeros <= more {
            let tens = ten(zeros);
            let first = opposite(&so_far.rest * ten(more - zeros), &self.unit) * &tens;
            return Some(Progression { first, step: &self.unit * tens });
        }
        // Only zeros may follow, and there must be zeros before already.
        let divided = so_far.rest == BigUint::ZERO && (so_far.is_zero() || usize::from(so_far.zeros) >= zeros - more);
        divided.then(|| Progression { first: BigUint::ZERO, step: ten(more) })
    }

    /// The least power of ten that makes the digits so far, not all of them zero, a multiple.
    pub(super) fn least_power(&self, so_far: &Residue) -> Option<i64> {
        if so_far.rest == BigUint::ZERO {
            return Some(self.shift - i64::from(so_far.zeros));
        }
        let mut rest = so_far.rest.clone();
        for power in 1..=self.unit.bits() {
            rest = rest * 10_u8 % &self.unit;
            if rest == BigUint::ZERO {
                return Some(self.shift + i64::try_from(power).ok()?);
            }
        }
        None
    }
}

/// What is missing from `n` to the next multiple of `unit`.
fn opposite(n: BigUint, unit: &BigUint) -> BigUint {
    let rest = n % unit;
    if rest == BigUint::ZERO { rest } else { unit - rest }
}
