//! Exact decimal numbers: what a JSON number says, never a float.

use std::cmp::Ordering;

/// An exact decimal: ±0.d₁d₂d₃… × 10^`point`.
///
/// ```
/// use formwork_grammar::Decimal;
/// assert_eq!(Decimal::parse("1e2"), Decimal::parse("100.0"));
/// assert!(Decimal::parse("-3").unwrap() < Decimal::parse("0.5").unwrap());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    point: i64,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self { negative: false, digits: Vec::new(), point: 0 };

    /// Reads a number as JSON spells it; `None` where it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.find(['e', 'E']) {
            Some(at) => (&rest[..at], exponent(&rest[at + 1..])?),
            None => (rest, 0),
        };
        let (int, frac) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if int.is_empty() || !int.bytes().chain(frac.bytes()).all(|b| b.is_ascii_digit()) {
            return None;
        }
        let all: Vec<u8> = int.bytes().chain(frac.bytes()).map(|b| b - b'0').collect();
        let lead = all.iter().take_while(|&&d| d == 0).count();
        let tail = all.iter().rev().take_while(|&&d| d == 0).count();
        if lead == all.len() {
            return Some(Self::ZERO);
        }
        let int_digits = i64::try_from(int.len()).ok()?;
        let point = int_digits.checked_sub(i64::try_from(lead).ok()?)?.checked_add(exponent)?;
        Some(Self { negative, digits: all[lead..all.len() - tail].to_vec(), point })
    }

    /// The number ±0.d₁d₂d₃… × 10^`point`. The digits are 0 to 9 each; zeros at either end don't count.
    ///
    /// ```
    /// use formwork_grammar::Decimal;
    /// assert_eq!(Decimal::from_digits(true, &[0, 2, 5, 0], 2), Decimal::parse("-2.5").unwrap());
    /// ```
    pub fn from_digits(negative: bool, digits: &[u8], point: i64) -> Self {
        let lead = digits.iter().take_while(|&&d| d == 0).count();
        if lead == digits.len() {
            return Self::ZERO;
        }
        let tail = digits.iter().rev().take_while(|&&d| d == 0).count();
        let point = point.saturating_sub(i64::try_from(lead).unwrap_or(i64::MAX));
        Self { negative, digits: digits[lead..digits.len() - tail].to_vec(), point }
    }

    /// The number of a JSON value, exactly as it was written.
    pub fn from_json(number: &serde_json::Number) -> Option<Self> {
        Self::parse(number.as_str())
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Whether it has no fraction.
    pub fn is_integer(&self) -> bool {
        self.is_zero() || i64::try_from(self.digits.len()).is_ok_and(|n| self.point >= n)
    }

    /// The decimal point's place: the digits before it, where that is positive.
    pub fn point(&self) -> i64 {
        self.point
    }

    /// The significant digits, most significant first, each 0 to 9.
    pub fn digits(&self) -> &[u8] {
        &self.digits
    }

    /// The digits before the point, at least one; meaningful where [`Decimal::point`] is small.
    pub fn int_digits(&self) -> Vec<u8> {
        let Ok(point) = usize::try_from(self.point) else { return vec![0] };
        if point == 0 || self.is_zero() {
            return vec![0];
        }
        (0..point).map(|i| self.digits.get(i).copied().unwrap_or(0)).collect()
    }

    /// The digits after the point, without trailing zeros.
    pub fn frac_digits(&self) -> Vec<u8> {
        if let Ok(point) = usize::try_from(self.point) {
            self.digits.get(point..).unwrap_or_default().to_vec()
        } else {
            let zeros = usize::try_from(self.point.unsigned_abs()).unwrap_or(usize::MAX);
            std::iter::repeat_n(0, zeros).chain(self.digits.iter().copied()).collect()
        }
    }

    fn cmp_magnitude(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.point.cmp(&other.point).then_with(|| self.digits.cmp(&other.digits)),
        }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.cmp_magnitude(other),
            (true, true) => other.cmp_magnitude(self),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// An exponent; one too large for 63 bits is held at ±2⁶², far beyond any number that is used.
fn exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse::<i64>().unwrap_or(i64::MAX).min(1 << 62);
    Some(if text.starts_with('-') { -size } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn spellings_of_one_value_are_equal() {
        for (a, b) in [("1", "1.0"), ("1e2", "100"), ("0.10", "1e-1"), ("-0", "0"), ("12.5e-1", "1.25")] {
            assert_eq!(d(a), d(b), "{a} {b}");
        }
    }

    #[test]
    fn order_is_by_value() {
        let sorted = ["-1e3", "-2", "-1.5", "0", "1e-9", "0.1", "0.11", "9", "10", "1e400"];
        for pair in sorted.windows(2) {
            assert!(d(pair[0]) < d(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn digits_on_both_sides_of_the_point() {
        assert_eq!((d("120.05").int_digits(), d("120.05").frac_digits()), (vec![1, 2, 0], vec![0, 5]));
        assert_eq!((d("0.05").int_digits(), d("0.05").frac_digits()), (vec![0], vec![0, 5]));
        assert_eq!((d("1e3").int_digits(), d("1e3").frac_digits()), (vec![1, 0, 0, 0], vec![]));
        assert!(d("1e2").is_integer() && d("1.0").is_integer() && !d("1.5").is_integer());
    }

    #[test]
    fn what_is_no_number() {
        for bad in ["", "-", ".5", "1e", "1e+", "x", "1.2.3", "--1"] {
            assert_eq!(Decimal::parse(bad), None, "{bad}");
        }
    }
}
