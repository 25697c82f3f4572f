//! Reading a number: what one more byte leaves of an alternative.

use std::cmp::Ordering;

use formwork_grammar::Bound;

use super::multiple::Residue;
use super::rules::Rules;
use crate::lang::ByteSet;

/// One alternative of a number that is being read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::json) struct NumberTrack {
    pub(super) atom: u32,
    pub(super) part: Part,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Mantissa(Mantissa),
    Exponent(Exponent),
}

impl Part {
    /// Reads one more byte; `None` where no number goes on so. What is left may be dead.
    pub(super) fn step(&self, rules: &Rules, byte: u8) -> Option<Self> {
        match self {
            Self::Mantissa(mantissa) => mantissa.step(rules, byte),
            Self::Exponent(exponent) => exponent.step(byte).map(Self::Exponent),
        }
    }

    /// Bytes among which are all that can be read.
    pub(super) const fn bytes(&self) -> ByteSet {
        match self {
            Self::Mantissa(Mantissa { phase: Phase::Zero, .. }) => ByteSet::of(b".eE"),
            Self::Mantissa(Mantissa { phase: Phase::Whole, .. }) => ByteSet::of(b"0123456789.eE"),
            Self::Mantissa(Mantissa { phase: Phase::Fraction, .. }) => ByteSet::of(b"0123456789eE"),
            Self::Exponent(Exponent { phase: ExponentPhase::E, .. }) => ByteSet::of(b"0123456789+-"),
            Self::Mantissa(Mantissa { phase: Phase::Sign | Phase::Point, .. }) | Self::Exponent(_) => {
                ByteSet::of(b"0123456789")
            }
        }
    }
}

/// How the digits so far compare with a bound's magnitude.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Against {
    /// The bound holds whatever follows.
    Holds,
    /// How the significant digits compare with as many of the bound's.
    Open(Ordering),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
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
}

/// A number before its exponent. Of the digits so far it knows what the rules need to know of them, and no more.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Mantissa {
    pub(super) negative: bool,
    pub(super) phase: Phase,
    /// Digits before the point while they are read, else digits after it.
    pub(super) read: u16,
    /// Significant digits so far; not counted once both bounds hold.
    pub(super) significant: u16,
    pub(super) against: [Against; 2],
    /// For each condition.
    pub(super) residues: Box<[Residue]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ExponentPhase {
    /// After `e`.
    E,
    /// After `e` and a sign.
    Sign,
    /// In the exponent's digits.
    Digits,
}

/// A number from its exponent on: the exponents that make the value a valid one follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Exponent {
    pub(super) phase: ExponentPhase,
    /// The least and the greatest; without their sign, once that is read.
    pub(super) low: i64,
    pub(super) high: i64,
    /// The digits read, and their number.
    pub(super) value: i64,
    pub(super) read: u8,
}

/// Digits of an exponent.
pub(super) const EXPONENT_DIGITS: u8 = 3;

impl Mantissa {
    /// Before the first digit; `None` where no number with the sign fits.
    pub(super) fn start(rules: &Rules, negative: bool) -> Option<Self> {
        let bounds = rules.bounds[usize::from(negative)].as_ref()?;
        let against = [0, 1].map(|i| match bounds[i] {
            Some(_) => Against::Open(Ordering::Equal),
            None => Against::Holds,
        });
        let residues = rules.conditions.iter().map(|_| Residue::start()).collect();
        Some(Self { negative, phase: Phase::Sign, read: 0, significant: 0, against, residues })
    }

    /// Digits after the point.
    pub(super) fn fraction(&self) -> u16 {
        if self.phase == Phase::Fraction { self.read } else { 0 }
    }

    /// The bounds that don't hold yet; the second is the upper one.
    pub(super) fn open<'a>(&self, rules: &'a Rules) -> [Option<(&'a Bound, Ordering)>; 2] {
        let bounds = rules.bounds[usize::from(self.negative)].as_ref();
        [0, 1].map(|i| match (self.against[i], bounds.and_then(|b| b[i].as_ref())) {
            (Against::Open(order), Some(bound)) => Some((bound, order)),
            _ => None,
        })
    }

    /// Whether all digits so far are zero; `None` where that makes no difference.
    pub(super) fn is_zero(&self) -> Option<bool> {
        if self.against.iter().any(|a| matches!(a, Against::Open(_))) {
            return Some(self.significant == 0);
        }
        self.residues.first().map(Residue::is_zero)
    }

    /// Reads one more byte; `None` where no number goes on so. What is left may be dead.
    pub(super) fn step(&self, rules: &Rules, byte: u8) -> Option<Part> {
        let (phase, read) = match (self.phase, byte) {
            (Phase::Sign, b'0') if rules.minus_zero || !self.negative => (Phase::Zero, 0),
            (Phase::Sign, b'1'..=b'9') => (Phase::Whole, 1),
            (Phase::Whole, b'0'..=b'9') if self.read < rules.whole => (Phase::Whole, self.read + 1),
            (Phase::Zero | Phase::Whole, b'.') if rules.fraction > 0 => (Phase::Point, 0),
            (Phase::Point, b'0'..=b'9') => (Phase::Fraction, 1),
            (Phase::Fraction, b'0'..=b'9') if self.read < rules.fraction => (Phase::Fraction, self.read + 1),
            (Phase::Zero | Phase::Whole | Phase::Fraction, b'e' | b'E') => {
                let (low, high) = self.exponents(rules)?;
                return Some(Part::Exponent(Exponent { phase: ExponentPhase::E, low, high, value: 0, read: 0 }));
            }
            _ => return None,
        };
        let mut next = Self { phase, read, ..self.clone() };
        if byte != b'.' {
            next.push(rules, byte - b'0');
        }
        next.settle(rules).then_some(Part::Mantissa(next))
    }

    fn push(&mut self, rules: &Rules, digit: u8) {
        if self.significant > 0 || digit > 0 {
            let open = self.open(rules);
            for (slot, open) in self.against.iter_mut().zip(open) {
                if let Some((bound, order)) = open {
                    let known = bound.value.digits().get(usize::from(self.significant)).copied().unwrap_or(0);
                    *slot = Against::Open(order.then(digit.cmp(&known)));
                }
            }
            self.significant += 1;
        }
        let fraction = rules.exponent.is_none().then(|| self.fraction());
        for (residue, condition) in self.residues.iter_mut().zip(&rules.conditions) {
            *residue = condition.push(residue, digit, fraction);
        }
    }

    /// Closes the bounds that are decided; false where one is broken.
    fn settle(&mut self, rules: &Rules) -> bool {
        for (i, open) in self.open(rules).into_iter().enumerate() {
            let Some((bound, order)) = open else { continue };
            match self.decided(rules, bound, order) {
                None => {}
                Some(order) if order.is_gt() == (i == 0) => self.against[i] = Against::Holds,
                Some(_) => return false,
            }
        }
        if self.against == [Against::Holds; 2] {
            self.significant = 0;
        }
        true
    }

    /// How every number that begins so compares with a bound, where they all compare alike, and differ from it.
    fn decided(&self, rules: &Rules, bound: &Bound, order: Ordering) -> Option<Ordering> {
        let significant = i64::from(self.significant);
        if bound.value.is_zero() {
            return (significant > 0).then_some(Ordering::Greater);
        }
        if rules.exponent.is_some() {
            return None;
        }
        let point = significant - i64::from(self.fraction());
        let order = match (self.phase, significant) {
            (Phase::Sign, _) => return None,
            // More digits only make it larger.
            (Phase::Whole, _) => point.cmp(&bound.value.point()),
            // Below the power of ten that the next digit stands for.
            (_, 0) if bound.value.point() > -i64::from(self.fraction()) => Ordering::Less,
            (_, 0) => Ordering::Equal,
            _ => point.cmp(&bound.value.point()).then(order),
        };
        match (self.phase, order) {
            (_, Ordering::Equal) | (Phase::Whole, Ordering::Less) => None,
            (_, order) => Some(order),
        }
    }

    /// The least and the greatest exponent that make the value a valid one: a larger exponent passes a lower bound, and keeps what is
    /// a multiple one.
    fn exponents(&self, rules: &Rules) -> Option<(i64, i64)> {
        let size = i64::from(rules.exponent?);
        let (mut low, mut high) = (-size, size);
        match self.is_zero() {
            None => return Some((low, high)),
            Some(true) => return self.accepts(rules).then_some((low, high)),
            Some(false) => {}
        }
        let fraction = i64::from(self.fraction());
        for (i, open) in self.open(rules).into_iter().enumerate() {
            let Some((bound, order)) = open else { continue };
            if bound.value.is_zero() {
                return None;
            }
            let more = bound.value.digits().len() > usize::from(self.significant);
            let order = order.then(if more { Ordering::Less } else { Ordering::Equal });
            let level = bound.value.point() - i64::from(self.significant) + fraction;
            let fits = match order {
                Ordering::Equal => !bound.exclusive,
                order => order.is_gt() == (i == 0),
            };
            if i == 0 {
                low = low.max(level + i64::from(!fits));
            } else {
                high = high.min(level - i64::from(!fits));
            }
        }
        for (residue, condition) in self.residues.iter().zip(&rules.conditions) {
            let least = condition.least_power(residue).map(|power| power + fraction);
            if condition.wanted {
                low = low.max(least?);
            } else if let Some(least) = least {
                high = high.min(least - 1);
            }
        }
        (low <= high).then_some((low, high))
    }
}

impl Exponent {
    /// Reads one more byte; `None` where no number goes on so, or none that fits.
    pub(super) fn step(&self, byte: u8) -> Option<Self> {
        let next = match (self.phase, byte) {
            (ExponentPhase::E, b'+') => Self { phase: ExponentPhase::Sign, low: self.low.max(0), ..*self },
            (ExponentPhase::E, b'-') => {
                Self { phase: ExponentPhase::Sign, low: (-self.high).max(0), high: -self.low, ..*self }
            }
            (_, b'0'..=b'9') if self.read < EXPONENT_DIGITS => {
                let value = self.value * 10 + i64::from(byte - b'0');
                let low = self.low.max(0);
                Self { phase: ExponentPhase::Digits, low, value, read: self.read + 1, ..*self }
            }
            _ => return None,
        };
        if next.phase == ExponentPhase::Digits && next.least(1).is_none() {
            // The same end whatever the number was.
            return next.accepts().then_some(Self::END);
        }
        next.rest().map(|_| next)
    }

    /// After the last digit of an exponent that fits.
    const END: Self = Self { phase: ExponentPhase::Digits, low: 0, high: 0, value: 0, read: EXPONENT_DIGITS };

    pub(super) fn accepts(&self) -> bool {
        self.phase == ExponentPhase::Digits && (self.low..=self.high).contains(&self.value)
    }

    /// A shortest rest.
    pub(super) fn rest(&self) -> Option<Vec<u8>> {
        if self.low > self.high {
            return None;
        }
        match self.phase {
            ExponentPhase::E if self.high >= 0 => Some(self.low.max(0).to_string().into_bytes()),
            ExponentPhase::E => Some(self.high.to_string().into_bytes()),
            ExponentPhase::Sign => Some(self.low.to_string().into_bytes()),
            ExponentPhase::Digits => self.least(0),
        }
    }

    /// The least rest that is a shortest one of those with so many digits or more.
    fn least(&self, digits: u8) -> Option<Vec<u8>> {
        (digits..=EXPONENT_DIGITS - self.read).find_map(|more| {
            let tens = 10_i64.pow(u32::from(more));
            let least = self.low.max(self.value * tens);
            let rest = least - self.value * tens;
            let width = usize::from(more);
            let fits = least <= self.high && rest < tens;
            fits.then(|| if more == 0 { Vec::new() } else { format!("{rest:0width$}").into_bytes() })
        })
    }
}
