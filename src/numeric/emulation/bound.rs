//! Error bound of an emulated product. The [module](super) derives the numbers.

use super::{EmulationKind, shift_of};

/// Constants of the error bound.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EmulationBound {
    /// `c`: error of the omitted products relative to `|A||B|`.
    pub relative: f64,
    /// `r`: additional absolute error per number, in units of its scale.
    pub rest: f64,
    /// `w`: ratio of the sum of magnitudes of the terms' products to that of the original products,
    /// at most.
    pub growth: f64,
    /// `l`: minimum magnitude that a nonzero term contributes to such a sum, in units of its scale:
    /// the smallest normal number of its type.
    pub least: f64,
    /// `p`: maximum number of products between one term of a factor and the terms of the other.
    pub beside: f64,
    /// Largest integer up to which integer sums are exact. If an omitted product is not 0, the sum
    /// exceeds this limit.
    pub largest_whole: f64,
}

impl EmulationKind {
    /// Returns the constants of this emulation's bound. `None` if factors are multiplied whole,
    /// even if rounded.
    pub fn bound(self) -> Option<EmulationBound> {
        let power = |exponent: i32| 2f64.powi(exponent);
        match self {
            Self::None | Self::Bf16x1 => None,
            // 2^-24 + 2^-34, and a sixteenth more for first terms that are truncated.
            Self::Bf16x6 => Some(EmulationBound {
                relative: 17.0 * power(-28),
                rest: power(-134),
                growth: 1.0 + power(-5),
                least: power(-126),
                beside: 3.0,
                // A third term needs 17 bits, and a second one 9.
                largest_whole: power(23),
            }),
            // 2^-15 + 2^-34, and a sixteenth more. The terms equal those of Bf16x6.
            Self::Bf16x3 => Self::Bf16x6.bound().map(|of_three| EmulationBound {
                relative: 17.0 * power(-19),
                beside: 2.0,
                // Two second terms need 9 bits each, and a rest 17.
                largest_whole: power(16),
                ..of_three
            }),
            Self::Tf32x3 => Some(EmulationBound {
                relative: power(-20) + power(-21) + power(-44),
                // Half of the smallest tf32 number, and a second term that is the smallest one if
                // the number is below it.
                rest: power(-136),
                growth: 1.0 + power(-9),
                least: power(-126),
                beside: 2.0,
                // Two second terms need 12 bits each, and a rest 23.
                largest_whole: power(22),
            }),
            Self::F16x3 => Some(EmulationBound {
                relative: power(-21) + power(-31),
                rest: power(-25),
                growth: 1.0 + power(-8),
                least: power(-14),
                beside: 2.0,
                // Two second terms need 12 bits each.
                largest_whole: power(22),
            }),
        }
    }

    /// Returns the scale of the terms of a row (`alpha_i`) or column (`beta_j`) whose largest
    /// magnitude is `largest`.
    pub fn scale(self, largest: f64) -> f64 {
        match self {
            // `largest` is a magnitude of an `f32`, so the conversion is exact.
            Self::F16x3 if largest.is_finite() => 2f64.powi(shift_of((largest as f32).to_bits())),
            _ => 1.0,
        }
    }
}
