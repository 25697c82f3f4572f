//! Which valid numbers the digits so far can still become: interval arithmetic over exact integers.
//!
//! A *shape* fixes how many digits follow before and after the point, and the exponent. The further digits of a shape, read as one
//! integer, lie in an interval that the bounds leave, on a progression that the wanted multiples leave, and off those of the
//! others. So a shape is decided by a few operations on integers, however large they are.

use std::cmp::Ordering;

use formwork_grammar::Bound;
use num_bigint::BigUint;

use super::multiple::{Progression, divides, integer, ten};
use super::rules::Rules;
use super::track::{Mantissa, Part, Phase};

/// Multiples that are tried for one that is no unwanted multiple. Runs of integers in which each is divisible by one of `n` others
/// are about `n²` long: this is enough for dozens of them.
const TRIED: usize = 4_096;

/// Shapes that are tried for the shortest number.
const SHAPES: usize = 1 << 15;

/// Digits that follow before the point and after it, and the exponent.
#[derive(Clone, Copy, Debug)]
struct Shape {
    whole: usize,
    fraction: usize,
    exponent: i64,
}

impl Part {
    /// Whether the number may end here.
    pub(super) fn accepts(&self, rules: &Rules) -> bool {
        match self {
            Self::Mantissa(mantissa) => mantissa.accepts(rules),
            Self::Exponent(exponent) => exponent.accepts(),
        }
    }

    /// Whether some valid number begins so.
    pub(super) fn is_live(&self, rules: &Rules) -> bool {
        match self {
            Self::Mantissa(mantissa) => mantissa.is_live(rules),
            Self::Exponent(exponent) => exponent.rest().is_some(),
        }
    }

    /// A shortest rest; `None` where no valid number begins so.
    pub(super) fn rest(&self, rules: &Rules) -> Option<Vec<u8>> {
        match self {
            Self::Mantissa(mantissa) => mantissa.rest(rules),
            Self::Exponent(exponent) => exponent.rest(),
        }
    }
}

impl Mantissa {
    pub(super) fn accepts(&self, rules: &Rules) -> bool {
        matches!(self.phase, Phase::Zero | Phase::Whole | Phase::Fraction)
            && self.solve(rules, Shape { whole: 0, fraction: 0, exponent: 0 }).is_some()
    }

    fn is_live(&self, rules: &Rules) -> bool {
        match self.phase {
            Phase::Sign => self.firsts(rules).any(|(_, next)| next.is_live(rules)),
            _ => self.accepts(rules) || self.some(rules).is_some(),
        }
    }

    /// The numbers after each first digit.
    fn firsts<'a>(&'a self, rules: &'a Rules) -> impl Iterator<Item = (u8, Self)> + 'a {
        (b'0'..=b'9').filter_map(move |digit| match self.step(rules, digit)? {
            Part::Mantissa(next) => Some((digit, next)),
            Part::Exponent(_) => None,
        })
    }

    /// Digits that may follow, before the point and after it.
    fn room(&self, rules: &Rules) -> (usize, usize) {
        let whole = if self.phase == Phase::Whole { rules.whole.saturating_sub(self.read) } else { 0 };
        (usize::from(whole), usize::from(rules.fraction.saturating_sub(self.fraction())))
    }

    /// Some shape with its further digits. With all digits after the point that there is room for, no value of fewer is left out;
    /// and of the shapes with one order of magnitude, the one with most digits before the point has all the values.
    fn some(&self, rules: &Rules) -> Option<(Shape, BigUint)> {
        let (room, fraction) = self.room(rules);
        let solved = |whole, exponent| {
            let shape = Shape { whole, fraction, exponent };
            Some((shape, self.solve(rules, shape)?))
        };
        let plain = (0..=room).find_map(|whole| solved(whole, 0));
        let size = if rules.any { i64::from(rules.exponent.unwrap_or(0)) } else { 0 };
        if plain.is_some() || size == 0 {
            return plain;
        }
        let most = i64::try_from(room).unwrap_or(i64::MAX);
        (0..=size + most).flat_map(|scale| [scale, -scale]).find_map(|scale| {
            let exponent = (scale - most).max(-size);
            let whole = usize::try_from(scale - exponent).ok()?;
            if exponent > size { None } else { solved(whole, exponent) }
        })
    }

    fn rest(&self, rules: &Rules) -> Option<Vec<u8>> {
        if self.phase == Phase::Sign {
            let rests = self.firsts(rules).filter_map(|(digit, next)| {
                let mut text = vec![digit];
                text.extend(next.rest(rules)?);
                Some(text)
            });
            return rests.min_by_key(Vec::len);
        }
        if self.accepts(rules) {
            return Some(Vec::new());
        }
        let (shape, digits) = self.some(rules)?;
        let (shape, digits) = self.shortest(rules).unwrap_or((shape, digits));
        Some(self.spell(shape, &digits))
    }

    /// The shape with the fewest bytes; `None` where too many would have to be tried.
    fn shortest(&self, rules: &Rules) -> Option<(Shape, BigUint)> {
        let (whole, fraction) = self.room(rules);
        let before = matches!(self.phase, Phase::Zero | Phase::Whole);
        let mut tried = 0;
        for length in 0..=whole + 1 + fraction + 5 {
            for suffix in (0..=length.min(5)).filter(|suffix| *suffix == 0 || rules.any) {
                let body = length - suffix;
                // How many digits after the point: with them comes the point.
                for more in 0..=fraction.min(body) {
                    let digits_before = match (before, more) {
                        (true, 0) => body,
                        (true, _) if body > more => body - 1 - more,
                        (false, _) if body == more && (more > 0 || self.phase == Phase::Fraction) => 0,
                        _ => continue,
                    };
                    if digits_before > whole {
                        continue;
                    }
                    for exponent in exponents(rules, suffix) {
                        let shape = Shape { whole: digits_before, fraction: more, exponent };
                        if let Some(digits) = self.solve(rules, shape) {
                            return Some((shape, digits));
                        }
                        tried += 1;
                        if tried > SHAPES {
                            return None;
                        }
                    }
                }
            }
        }
        None
    }

    fn spell(&self, shape: Shape, digits: &BigUint) -> Vec<u8> {
        let width = shape.whole + shape.fraction;
        let digits = if width == 0 { String::new() } else { format!("{:0>width$}", digits.to_string()) };
        let (whole, fraction) = digits.split_at(shape.whole.min(digits.len()));
        let mut text = whole.to_owned();
        if shape.fraction > 0 && matches!(self.phase, Phase::Zero | Phase::Whole) {
            text.push('.');
        }
        text.push_str(fraction);
        if shape.exponent != 0 {
            text.push('e');
            text.push_str(&shape.exponent.to_string());
        }
        text.into_bytes()
    }

    /// The least further digits, read as one integer, that make a valid number of this shape.
    fn solve(&self, rules: &Rules, shape: Shape) -> Option<BigUint> {
        let more = shape.whole + shape.fraction;
        let power = shape.exponent - i64::from(self.fraction()) - i64::try_from(shape.fraction).ok()?;
        let (mut low, mut high) = (BigUint::ZERO, None);
        let [lower, upper] = self.open(rules);
        if let Some((bound, order)) = lower {
            low = self.above(bound, order, more, power)?;
        }
        if let Some((bound, order)) = upper {
            high = self.below(bound, order, more, power)?;
        }
        let high = high.unwrap_or_else(|| ten(more) - 1_u8);
        if low > high {
            return None;
        }
        let mut wanted = Progression { first: BigUint::ZERO, step: BigUint::from(1_u8) };
        let mut unwanted = Vec::new();
        for (condition, residue) in rules.conditions.iter().zip(&self.residues) {
            match condition.further(residue, more, power) {
                Some(multiples) if condition.wanted => wanted = multiples,
                Some(multiples) => unwanted.push(multiples),
                None if condition.wanted => return None,
                None => {}
            }
        }
        let first = wanted.from(&low);
        if unwanted.iter().any(|other| divides(&other.step, &wanted.step) && other.contains(&first)) {
            return None;
        }
        std::iter::successors(Some(first), |n| Some(n + &wanted.step))
            .take_while(|n| *n <= high)
            .take(TRIED)
            .find(|n| !unwanted.iter().any(|other| other.contains(n)))
    }

    /// The least further digits that satisfy a lower bound.
    fn above(&self, bound: &Bound, order: Ordering, more: usize, power: i64) -> Option<BigUint> {
        match self.aligned(bound, order, more, power) {
            Aligned::All(Ordering::Less) => None,
            Aligned::All(_) => Some(BigUint::ZERO),
            Aligned::Split(digits, rest) => Some(digits + u8::from(rest || bound.exclusive)),
        }
    }

    /// The greatest further digits that satisfy an upper bound, where not all do.
    #[expect(clippy::option_option, reason = "none do, all do, or those up to a number")]
    fn below(&self, bound: &Bound, order: Ordering, more: usize, power: i64) -> Option<Option<BigUint>> {
        match self.aligned(bound, order, more, power) {
            Aligned::All(Ordering::Greater) => None,
            Aligned::All(_) => Some(None),
            Aligned::Split(digits, true) => Some(Some(digits)),
            Aligned::Split(digits, false) if !bound.exclusive => Some(Some(digits)),
            Aligned::Split(digits, false) if digits == BigUint::ZERO => None,
            Aligned::Split(digits, false) => Some(Some(digits - 1_u8)),
        }
    }

    /// How the numbers with `more` further digits, the last one standing for 10^`power`, compare with a bound.
    fn aligned(&self, bound: &Bound, order: Ordering, more: usize, power: i64) -> Aligned {
        let significant = usize::from(self.significant);
        if bound.value.is_zero() {
            return match significant {
                0 => Aligned::Split(BigUint::ZERO, false),
                _ => Aligned::All(Ordering::Greater),
            };
        }
        let room = i64::try_from(more).unwrap_or(i64::MAX);
        let len = if significant == 0 {
            bound.value.point().saturating_sub(power)
        } else {
            let point = i64::from(self.significant) + room + power;
            match point.cmp(&bound.value.point()).then(order) {
                Ordering::Equal => room,
                order => return Aligned::All(order),
            }
        };
        if len > room {
            // A digit of the bound stands before all of them.
            return Aligned::All(Ordering::Less);
        }
        let end = significant + usize::try_from(len).unwrap_or(0);
        let known = bound.value.digits();
        let mut digits = known.get(significant..end.min(known.len())).unwrap_or_default().to_vec();
        digits.resize(end - significant, 0);
        Aligned::Split(integer(&digits), known.len() > end)
    }
}

/// How numbers with further digits compare with a bound.
enum Aligned {
    /// All alike.
    All(Ordering),
    /// As the further digits compare with these, after which the bound does or doesn't go on.
    Split(BigUint, bool),
}

/// The exponents that take so many bytes.
fn exponents(rules: &Rules, bytes: usize) -> impl Iterator<Item = i64> {
    let size = i64::from(rules.exponent.unwrap_or(0));
    let (low, high) = match bytes {
        0 => (0, 0),
        2 => (1, 9),
        3 => (10, 99),
        4 => (100, 999),
        _ => (1, 0),
    };
    let negative = match bytes {
        3 => (1, 9),
        4 => (10, 99),
        5 => (100, 999),
        _ => (1, 0),
    };
    (low..=high.min(size)).chain((negative.0..=negative.1.min(size)).map(|n: i64| -n))
}
