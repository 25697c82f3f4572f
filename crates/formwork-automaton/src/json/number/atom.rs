//! What a number must satisfy: a plain conjunction over exact values.

use std::cmp::Ordering;

use formwork_grammar::{Bound, Decimal, NumberRules};

use super::multiple::{clamp, common, is_multiple};

/// A plain condition on numbers. All of it is about values, but for the spelling of `type: integer`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::json) struct NumberAtom {
    pub(super) min: Option<Bound>,
    pub(super) max: Option<Bound>,
    /// The value is an integer, and `Numbers::Plain` writes it without a fraction.
    pub(super) integer: bool,
    /// No spelling but an integer's is one: `1.0` isn't.
    pub(super) written: bool,
    /// Every spelling is read, whatever the options allow to be written.
    pub(super) watched: bool,
    /// The value is a multiple of it.
    pub(super) multiple: Option<Decimal>,
    /// The value is a multiple of none of them; none of them is a multiple of another.
    pub(super) not_multiples: Box<[Decimal]>,
    /// How much may be written of it, where that is not what its own bounds say.
    pub(super) room: Option<Room>,
    /// Bytes of its text at most, where the vocabulary lacks characters and what it can spell is too much to look through. What is
    /// made of it is no longer either: else a plan could count on numbers that can't be read.
    pub(super) longest: Option<u16>,
}

/// How many digits of a number may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::json) struct Room {
    /// Digits before the point at most.
    pub(super) whole: u16,
    /// Digits after the point at most; none where no point is written.
    pub(super) fraction: u16,
    /// The largest size of an exponent, where one may be written.
    pub(super) exponent: Option<u16>,
}

impl Room {
    fn meet(self, other: Self) -> Self {
        Self {
            whole: self.whole.min(other.whole),
            fraction: self.fraction.min(other.fraction),
            exponent: self.exponent.min(other.exponent),
        }
    }
}

impl NumberAtom {
    /// The numbers that the keywords allow; `integer` says whether the type does too.
    pub(in crate::json) fn of_rules(rules: &NumberRules, integer: bool) -> Self {
        let multiple = rules.multiple_of.as_ref().map(clamp);
        let (min, max, written) = (rules.min.clone(), rules.max.clone(), integer && rules.written_integer);
        Self { min, max, integer, written, multiple, ..Self::default() }
    }

    /// The one number, in any spelling; `None` where it has over a thousand digits.
    pub(in crate::json) fn exactly(number: &serde_json::Number) -> Option<Self> {
        let value = Decimal::from_json(number)?;
        if value.point().unsigned_abs() > 1_000 || value.digits().len() > 1_000 {
            return None;
        }
        let bound = Bound { value, exclusive: false };
        Some(Self { min: Some(bound.clone()), max: Some(bound), ..Self::default() })
    }

    /// The same of a number that is only watched.
    pub(in crate::json) fn watched(&self) -> Self {
        Self { watched: true, ..self.clone() }
    }

    /// A number that this atom holds for, where it has room for it; `None` where it doesn't hold.
    pub(super) fn only(&self, number: &serde_json::Number, room: Room) -> Option<Self> {
        let exactly = Self::exactly(number)?;
        let holds = exactly.min.as_ref().is_some_and(|bound| self.holds(&bound.value));
        let (integer, written, watched) = (self.integer, self.written, self.watched);
        let longest = self.longest;
        holds.then_some(Self { integer, written, watched, room: Some(room), longest, ..exactly })
    }

    /// The same without a fraction and an exponent, with as many digits otherwise as there is room for.
    pub(super) fn without_fraction(&self, room: Room) -> Self {
        Self { room: Some(Room { fraction: 0, exponent: None, ..room }), ..self.clone() }
    }

    /// The same of texts of so many bytes at most.
    pub(super) fn no_longer_than(&self, longest: u16) -> Self {
        Self { longest: Some(longest), ..self.clone() }
    }

    /// What holds where both do; `None` where the bounds cross.
    pub(in crate::json) fn meet(&self, other: &Self) -> Option<Self> {
        let min = stricter(self.min.as_ref(), other.min.as_ref(), Ordering::Greater);
        let max = stricter(self.max.as_ref(), other.max.as_ref(), Ordering::Less);
        if let (Some(min), Some(max)) = (min, max) {
            match min.value.cmp(&max.value) {
                Ordering::Greater => return None,
                Ordering::Equal if min.exclusive || max.exclusive => return None,
                _ => {}
            }
        }
        let multiple = match (&self.multiple, &other.multiple) {
            (Some(a), Some(b)) => Some(common(a, b)),
            (a, b) => a.as_ref().or(b.as_ref()).cloned(),
        };
        let not_multiples = coarsest(self.not_multiples.iter().chain(&other.not_multiples).cloned().collect());
        let (min, max) = (min.cloned(), max.cloned());
        let (integer, written) = (self.integer || other.integer, self.written || other.written);
        let watched = self.watched || other.watched;
        let room = match (self.room, other.room) {
            (Some(a), Some(b)) => Some(a.meet(b)),
            (a, b) => a.or(b),
        };
        let longest = [self.longest, other.longest].into_iter().flatten().min();
        Some(Self { min, max, integer, written, watched, multiple, not_multiples, room, longest })
    }

    /// Atoms that together hold for exactly the values that this one doesn't hold for.
    pub(in crate::json) fn complement(&self) -> Vec<Self> {
        let turned = |bound: &Bound| Some(Bound { value: bound.value.clone(), exclusive: !bound.exclusive });
        let below = self.min.as_ref().map(|min| Self { max: turned(min), ..Self::default() });
        let above = self.max.as_ref().map(|max| Self { min: turned(max), ..Self::default() });
        let between = self.unit().map(|unit| Self { not_multiples: Box::new([unit]), ..Self::default() });
        let on = self.not_multiples.iter().map(|unit| Self { multiple: Some(unit.clone()), ..Self::default() });
        below.into_iter().chain(above).chain(between).chain(on).collect()
    }

    /// Whether a value satisfies it.
    pub(in crate::json) fn holds(&self, value: &Decimal) -> bool {
        let side = |bound: &Bound, good: Ordering| {
            let order = value.cmp(&bound.value);
            order == good || (order.is_eq() && !bound.exclusive)
        };
        self.min.as_ref().is_none_or(|min| side(min, Ordering::Greater))
            && self.max.as_ref().is_none_or(|max| side(max, Ordering::Less))
            && self.unit().is_none_or(|unit| is_multiple(value, &unit))
            && !self.not_multiples.iter().any(|unit| is_multiple(value, unit))
    }

    /// What the value is a multiple of, integers being the multiples of one.
    pub(super) fn unit(&self) -> Option<Decimal> {
        match &self.multiple {
            Some(multiple) if self.integer => Some(common(multiple, &one())),
            Some(multiple) => Some(multiple.clone()),
            None => self.integer.then(one),
        }
    }

    /// Whether every number satisfies it, in every spelling.
    pub(super) fn is_free(&self) -> bool {
        self.min.is_none()
            && self.max.is_none()
            && !self.integer
            && self.multiple.is_none()
            && self.not_multiples.is_empty()
            && self.room.is_none()
    }

    /// The bounds that a sign leaves for the magnitude, lower and upper; `None` where no number with the sign fits.
    pub(super) fn magnitude(&self, negative: bool) -> Option<[Option<Bound>; 2]> {
        let (low, high) = if negative { (&self.max, &self.min) } else { (&self.min, &self.max) };
        // Seen from the magnitude: `low` bounds it from below where it lies on the sign's side of zero.
        let on_side = |b: &Bound| b.value.is_zero() || b.value.is_negative() == negative;
        let says_nothing = |b: &Bound| b.value.is_zero() && !b.exclusive;
        let lower = low.clone().filter(|b| on_side(b) && !says_nothing(b));
        // A bound on the other side of zero: nothing with this sign fits.
        if high.as_ref().is_some_and(|b| !on_side(b)) {
            return None;
        }
        Some([lower, high.clone()])
    }
}

fn one() -> Decimal {
    Decimal::from_digits(false, &[1], 1)
}

/// The units without those that are multiples of another one.
fn coarsest(mut units: Vec<Decimal>) -> Box<[Decimal]> {
    units.sort_unstable();
    units.dedup();
    let mut kept: Vec<Decimal> = Vec::new();
    for unit in units {
        // A unit that divides it is smaller, and so comes before.
        if !kept.iter().any(|k| is_multiple(&unit, k)) {
            kept.push(unit);
        }
    }
    kept.into()
}

fn stricter<'a>(a: Option<&'a Bound>, b: Option<&'a Bound>, better: Ordering) -> Option<&'a Bound> {
    match (a, b) {
        (Some(x), Some(y)) => match x.value.cmp(&y.value) {
            Ordering::Equal => Some(if x.exclusive { x } else { y }),
            order if order == better => Some(x),
            _ => Some(y),
        },
        (x, y) => x.or(y),
    }
}
