//! What is lost of a product whose factors are decomposed; where the numbers come from is in the
//! [module](super).

use super::{EmulationKind, shift_of};

/// The numbers of the bound.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EmulationBound {
    /// `c`: what is left out, as a share of `|A||B|`.
    pub relative: f64,
    /// `r`: what may be left of a number beside that share, in units of its scale.
    pub rest: f64,
    /// `w`: the sum of magnitudes of the parts' products is at most so many times that of the
    /// products.
    pub growth: f64,
    /// `l`: what a part that is not 0 counts for in such a sum at least, in units of its scale: its
    /// type's least normal number.
    pub least: f64,
    /// `p`: products of one part of a factor with parts of the other, at most.
    pub beside: f64,
    /// Sums of whole numbers are exact up to here: where a product that is left out is not 0, it is
    /// beyond.
    pub largest_whole: f64,
}

impl EmulationKind {
    /// The numbers of this emulation's bound; `None` where factors are multiplied whole, if
    /// rounded.
    pub fn bound(self) -> Option<EmulationBound> {
        let power = |exponent: i32| 2f64.powi(exponent);
        match self {
            Self::None | Self::Bf16x1 => None,
            // 2^-24 + 2^-34, and a sixteenth more for first parts that are cut off.
            Self::Bf16x6 => Some(EmulationBound {
                relative: 17.0 * power(-28),
                rest: power(-134),
                growth: 1.0 + power(-5),
                least: power(-126),
                beside: 3.0,
                // A third part needs 17 bits and a second one 9.
                largest_whole: power(23),
            }),
            // 2^-15 + 2^-34, and a sixteenth more; the parts that there are are Bf16x6's.
            Self::Bf16x3 => Self::Bf16x6.bound().map(|of_three| EmulationBound {
                relative: 17.0 * power(-19),
                beside: 2.0,
                // Two second parts need 9 bits each, and a rest 17.
                largest_whole: power(16),
                ..of_three
            }),
            Self::Tf32x3 => Some(EmulationBound {
                relative: power(-20) + power(-21) + power(-44),
                // Half of the least tf32, and a second part that is the least one where the number
                // is below it.
                rest: power(-136),
                growth: 1.0 + power(-9),
                least: power(-126),
                beside: 2.0,
                // Two second parts need 12 bits each, and a rest 23.
                largest_whole: power(22),
            }),
            Self::F16x3 => Some(EmulationBound {
                relative: power(-21) + power(-31),
                rest: power(-25),
                growth: 1.0 + power(-8),
                least: power(-14),
                beside: 2.0,
                // Two second parts need 12 bits each.
                largest_whole: power(22),
            }),
        }
    }

    /// What the parts of a row or column are scaled by, whose largest magnitude this is: `alpha_i`,
    /// `beta_j`.
    pub fn scale(self, largest: f64) -> f64 {
        match self {
            // Magnitudes of `f32`: the number is the same.
            Self::F16x3 if largest.is_finite() => 2f64.powi(shift_of((largest as f32).to_bits())),
            _ => 1.0,
        }
    }
}
