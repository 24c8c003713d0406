//! Sentences that `const fn`s build.
//!
//! A refusal appears in two places: at run time, and in the compiler's output, where a `const`
//! panic can print a string but cannot format. A [`Sentence`] writes its digits into its own
//! buffer, so both places show the same text.

use core::fmt;

/// Capacity of a sentence in bytes. A longer text is cut off at the end.
const CAPACITY: usize = 400;

/// A short text that `const fn`s build.
#[derive(Clone, Copy)]
pub struct Sentence {
    text: [u8; CAPACITY],
    length: usize,
}

impl Sentence {
    /// Returns the empty sentence.
    pub const fn new() -> Self {
        Self { text: [0; CAPACITY], length: 0 }
    }

    /// Appends words.
    pub const fn push(mut self, words: &str) -> Self {
        let bytes = words.as_bytes();
        let mut i = 0;
        while i < bytes.len() && self.length < CAPACITY {
            self.text[self.length] = bytes[i];
            self.length += 1;
            i += 1;
        }
        self
    }

    /// Appends the command-line flag of a knob: `--split-k` of `split_k`.
    pub const fn flag(mut self, knob: &str) -> Self {
        self = self.push("--");
        let begin = self.length;
        self = self.push(knob);
        let mut i = begin;
        while i < self.length {
            if self.text[i] == b'_' {
                self.text[i] = b'-';
            }
            i += 1;
        }
        self
    }

    /// Appends a number as sixteen hexadecimal digits, the notation of ids.
    pub const fn hex(mut self, id: u64) -> Self {
        let mut i = 16;
        while i > 0 {
            i -= 1;
            let digit = (id >> (4 * i)) as usize & 15;
            self = self.push("0123456789abcdef".split_at(digit).1.split_at(1).0);
        }
        self
    }

    /// Appends a number in decimal digits.
    pub const fn number(self, n: u64) -> Self {
        let mut digits = [0u8; 20];
        let mut at = 20;
        let mut rest = n;
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        let mut sentence = self;
        while at < 20 && sentence.length < CAPACITY {
            sentence.text[sentence.length] = digits[at];
            sentence.length += 1;
            at += 1;
        }
        sentence
    }

    /// Appends a real number with at most six decimals. Numbers of at least 1e12 and numbers below
    /// 1e-6 have scientific notation.
    pub const fn real(self, x: f64) -> Self {
        if x.is_nan() {
            return self.push("NaN");
        }
        let s = if x.is_sign_negative() && x != 0.0 { self.push("-") } else { self };
        let (mut x, mut exponent) = (x.abs(), 0i32);
        if x.is_infinite() {
            return s.push("inf");
        }
        while x >= 1e12 || (exponent > 0 && x >= 10.0) {
            (x, exponent) = (x / 10.0, exponent + 1);
        }
        while x > 0.0 && (x < 1e-6 || (exponent < 0 && x < 1.0)) {
            (x, exponent) = (x * 10.0, exponent - 1);
        }
        let millionths = (x * 1e6 + 0.5) as u64;
        let (whole, mut fraction, mut place) =
            (millionths / 1_000_000, millionths % 1_000_000, 100_000);
        let mut s = s.number(whole);
        if fraction > 0 {
            s = s.push(".");
        }
        while fraction > 0 {
            (s, fraction, place) = (s.number(fraction / place), fraction % place, place / 10);
        }
        match exponent {
            0 => s,
            1.. => s.push("e").number(exponent as u64),
            _ => s.push("e-").number(exponent.unsigned_abs() as u64),
        }
    }

    /// Returns the text.
    pub const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.text.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "",
        }
    }
}

/// Appends texts to a sentence. Literals are appended as they are. `word` marks a string, `number`
/// a number, `real` a real number, `hex` an id, and `of` a value that has its own text.
macro_rules! append {
    ($s:expr $(,)?) => { $s };
    ($s:expr, of $value:expr $(, $($rest:tt)*)?) => { append!($value.append_to($s) $(, $($rest)*)?) };
    ($s:expr, word $words:expr $(, $($rest:tt)*)?) => { append!($s.push($words) $(, $($rest)*)?) };
    ($s:expr, number $n:expr $(, $($rest:tt)*)?) => { append!($s.number($n as u64) $(, $($rest)*)?) };
    ($s:expr, real $x:expr $(, $($rest:tt)*)?) => { append!($s.real($x) $(, $($rest)*)?) };
    ($s:expr, hex $id:expr $(, $($rest:tt)*)?) => { append!($s.hex($id) $(, $($rest)*)?) };
    ($s:expr, $words:literal $(, $($rest:tt)*)?) => { append!($s.push($words) $(, $($rest)*)?) };
}
pub(crate) use append;

impl Default for Sentence {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::Sentence;

    #[test]
    fn digits_come_out_as_written() {
        for n in [0, 7, 10, 128, 65_535, u64::MAX] {
            assert_eq!(Sentence::new().number(n).as_str(), n.to_string());
            assert_eq!(Sentence::new().hex(n).as_str(), format!("{n:016x}"));
        }
    }

    #[test]
    fn real_numbers_have_few_digits() {
        for (x, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (2.0, "2"),
            (-0.5, "-0.5"),
            (0.1, "0.1"),
            (1.25e6, "1250000"),
            (1e-3, "0.001"),
            (3.000_001, "3.000001"),
            (1e39, "1e39"),
            (-2.5e-9, "-2.5e-9"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(Sentence::new().real(x).as_str(), text);
        }
    }

    #[test]
    fn a_long_sentence_is_cut_and_stays_text() {
        let mut sentence = Sentence::new();
        for _ in 0..100 {
            sentence = sentence.push("longer and ").number(12_345);
        }
        assert_eq!(sentence.as_str().len(), super::CAPACITY);
    }
}
