//! Constants of epilogues, read from decimal digits in `const fn`s.

use core::fmt;

/// Constant of an epilogue: a finite number as f64. The magnitude is 0, or from 1e-20 to 1e20.
/// Other numbers are scalars.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Real(u64);

/// Least and largest magnitude of a constant other than 0.
const LIMITS: [f64; 2] = [1e-20, 1e20];

/// Largest number of digits, and of the powers of ten that scale them.
const DIGITS: u32 = 19;
const LARGEST_POWER: u32 = 38;

impl Real {
    /// The constant 0.
    pub const ZERO: Self = Self(0);
    /// The constant 0.01.
    pub(super) const HUNDREDTH: Self = Self(0.01f64.to_bits());

    /// Returns the constant, or `None` if its magnitude is out of range. -0 is 0.
    pub const fn new(x: f64) -> Option<Self> {
        let magnitude = x.abs();
        if x == 0.0 {
            Some(Self(0))
        } else if magnitude >= LIMITS[0] && magnitude <= LIMITS[1] {
            Some(Self(x.to_bits()))
        } else {
            None
        }
    }

    /// Returns a whole number as a constant.
    pub const fn from_integer(x: i32) -> Self {
        Self(if x == 0 { 0 } else { (x as f64).to_bits() })
    }

    /// Returns the number.
    pub const fn value(self) -> f64 {
        f64::from_bits(self.0)
    }

    /// Returns the constant with the other sign.
    pub const fn negated(self) -> Self {
        Self(if self.0 == 0 { 0 } else { (-self.value()).to_bits() })
    }

    /// Returns whether the constant is an integer of 32 bits.
    pub const fn is_integer(self) -> bool {
        self.value() as i32 as f64 == self.value()
    }

    /// Reads a decimal number without a sign from the beginning of a text, correctly rounded.
    /// Returns the number and its length in bytes.
    ///
    /// Returns `None` if the text does not begin with a number, or if the number has more than 19
    /// digits or is out of range.
    pub(super) const fn read(text: &[u8]) -> Option<(Self, usize)> {
        let (mut digits, mut count, mut places) = (0u128, 0, 0i64);
        let (mut at, mut has_point, mut has_digits) = (0, false, false);
        while at < text.len() && (text[at].is_ascii_digit() || text[at] == b'.' && !has_point) {
            if text[at] == b'.' {
                has_point = true;
            } else {
                digits = digits * 10 + (text[at] - b'0') as u128;
                count += if digits == 0 { 0 } else { 1 };
                has_digits = true;
                places += if has_point { 1 } else { 0 };
            }
            if count > DIGITS {
                return None;
            }
            at += 1;
        }
        let (exponent, at) = match exponent(text, at) {
            Some(found) => found,
            None => return None,
        };
        if !has_digits || at < text.len() && text[at].is_ascii_alphanumeric() {
            return None;
        }
        match scaled(digits, exponent - places) {
            Some(x) => match Self::new(x) {
                Some(real) => Some((real, at)),
                None => None,
            },
            None => None,
        }
    }
}

/// Returns the decimal exponent that may begin at `at`, and the position behind it.
const fn exponent(text: &[u8], at: usize) -> Option<(i64, usize)> {
    if at >= text.len() || text[at] != b'e' && text[at] != b'E' {
        return Some((0, at));
    }
    let mut at = at + 1;
    let negative = at < text.len() && text[at] == b'-';
    if negative || at < text.len() && text[at] == b'+' {
        at += 1;
    }
    let (first, mut exponent) = (at, 0i64);
    while at < text.len() && text[at].is_ascii_digit() && exponent < 1000 {
        exponent = exponent * 10 + (text[at] - b'0') as i64;
        at += 1;
    }
    if at == first { None } else { Some((if negative { -exponent } else { exponent }, at)) }
}

/// Returns `digits * 10^exponent`, rounded to nearest even, or `None` if an intermediate result has
/// more than 127 bits.
const fn scaled(digits: u128, exponent: i64) -> Option<f64> {
    if digits == 0 {
        return Some(0.0);
    }
    if exponent.unsigned_abs() > LARGEST_POWER as u64 {
        return None;
    }
    let power = 10u128.pow(exponent.unsigned_abs() as u32);
    if exponent >= 0 {
        return match digits.checked_mul(power) {
            Some(product) => Some(product as f64),
            None => None,
        };
    }
    // Long division in binary: 64 bits of the quotient are enough, and a remainder sets the last.
    let mut shift = digits.leading_zeros();
    let (mut quotient, mut rest) = ((digits << shift) / power, (digits << shift) % power);
    while quotient >> 64 == 0 {
        rest *= 2;
        quotient = 2 * quotient + (rest >= power) as u128;
        rest -= if rest >= power { power } else { 0 };
        shift += 1;
    }
    let mut x = (quotient | (rest != 0) as u128) as f64;
    while shift > 0 {
        x *= 0.5;
        shift -= 1;
    }
    Some(x)
}

/// Writes the fewest digits that identify the number.
impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let x = self.value();
        if x == 0.0 || (1e-5..1e16).contains(&x.abs()) {
            write!(f, "{x}")
        } else {
            write!(f, "{x:e}")
        }
    }
}

impl fmt::Debug for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_printed_constant_is_read_as_the_same_constant(
            mantissa in 1.0f64..10.0, exponent in -20i32..20, negative: bool
        ) {
            let x = format!("{mantissa}e{exponent}").parse::<f64>().unwrap();
            let real = Real::new(if negative { -x } else { x }).unwrap();
            let text = real.to_string();
            let digits = text.trim_start_matches('-');
            let (read, length) = Real::read(digits.as_bytes()).expect(digits);
            prop_assert_eq!(length, digits.len());
            prop_assert_eq!(if negative { read.negated() } else { read }, real);
        }

        #[test]
        fn decimal_digits_are_rounded_as_by_the_standard_library(
            digits in 0u64..10_000_000_000_000_000_000, places in 0usize..19, exponent in -12i32..12
        ) {
            let text = format!("{digits:020}");
            let text = format!("{}.{}e{exponent}", &text[..20 - places], &text[20 - places..]);
            let want = text.parse::<f64>().unwrap();
            match Real::read(text.as_bytes()) {
                Some((real, length)) => {
                    prop_assert_eq!(length, text.len());
                    prop_assert_eq!(real.value().to_bits(), want.to_bits(), "{}", text);
                }
                None => prop_assert!(Real::new(want).is_none() || text.trim_start_matches('0').len() > 19, "{}", text),
            }
        }
    }

    #[test]
    fn texts_that_are_not_constants_are_refused() {
        for text in ["", ".", "e5", "1e", "1e-", "1e39", "1e-21", "12345678901234567890", "1x"] {
            assert_eq!(Real::read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Real::read(b"1.5e-3*x").map(|(x, n)| (x.value(), n)), Some((0.0015, 6)));
        assert_eq!(Real::read(b".5").map(|(x, n)| (x.value(), n)), Some((0.5, 2)));
        assert_eq!(Real::read(b"3.").map(|(x, n)| (x.value(), n)), Some((3.0, 2)));
    }
}
