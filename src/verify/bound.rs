//! How far a right result may be from the exact one: an a-priori bound for each element.
//!
//! Let `u` be the unit roundoff of the accumulator and `n` the longest chain of roundings behind one sum. Then, for any order
//! of the additions (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, section 3.1),
//!
//! ```text
//! |sum - exact| <= gamma_n (|A||B|)_ij + n h        gamma_n = n u / (1 - n u)
//! ```
//!
//! `h` is half the least positive number, for products that underflow. On the CUDA cores each product is one fused
//! multiply-add, so `n` is the number of products, and one more for each slice of K that is added; a tile that is filled up
//! with zeros adds exact zeros, which round nothing. The epilogue adds its own roundings, see [`Estimate`].
//!
//! **Exactness is found, not assumed.** Where all factors are whole numbers and `(|A||B|)_ij` is at most the number up to which
//! the accumulator has every whole number, the sum is exact, and the bound is 0. From there on an epilogue whose operands are
//! exact is evaluated in its own arithmetic, and the result rounded as the kernel rounds it: the element is compared with `==`.
//! Integer accumulators are always so.
//!
//! **Where `n u >= 1/2`**, the bound says next to nothing (an f16 accumulator, from 1024 products on): such an element counts as
//! undecided, and only whole numbers can decide it.

use super::reference::{Arithmetic, Sum};
use crate::{desc::GemmDesc, numeric::ElementKind};

/// How numbers of a type round.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rounding {
    /// The unit roundoff: half the distance from 1 to the next number. 0 for integers.
    pub unit: f64,
    /// Half the least positive number.
    pub half_least: f64,
    /// The largest finite number.
    pub largest: f64,
}

impl Rounding {
    /// How an element type rounds, to nearest.
    pub fn of(kind: ElementKind) -> Self {
        let power = |exponent: i32| 2f64.powi(exponent);
        // Fraction bits, exponent of the least positive number, exponent beyond the largest.
        let floating = |fraction: i32, least: i32, beyond: i32| Self {
            unit: power(-fraction - 1),
            half_least: power(least - 1),
            largest: power(beyond - 1) * (2.0 - power(-fraction)),
        };
        match kind {
            ElementKind::F64 => Self { half_least: f64::from_bits(1), ..floating(52, -1000, 1023 + 1) },
            ElementKind::F32 => floating(23, -149, 128),
            ElementKind::Tf32 => floating(10, -136, 128),
            ElementKind::F16 => floating(10, -24, 16),
            ElementKind::Bf16 => floating(7, -133, 128),
            ElementKind::E4m3 => Self { largest: 448.0, ..floating(3, -9, 9) },
            ElementKind::E5m2 => floating(2, -16, 16),
            ElementKind::I8 | ElementKind::U8 | ElementKind::I32 => {
                Self { unit: 0.0, half_least: 0.5, largest: super::fill::largest_whole(kind) }
            }
        }
    }
}

/// `n u / (1 - n u)`, or infinity where that says nothing: from `n u = 1/2` on.
pub fn gamma(n: f64, u: f64) -> f64 {
    if n * u < 0.5 { n * u / (1.0 - n * u) } else { f64::INFINITY }
}

/// A number that is not known exactly: what a right kernel holds lies within `error` of `value`.
///
/// An `error` of 0 means that it holds `value` itself; infinity, that nothing is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// How far off a right kernel may be.
    pub error: f64,
}

impl Estimate {
    /// A number that is known.
    pub const fn exactly(value: f64) -> Self {
        Self { value, error: 0.0 }
    }
}

/// What the sums of a kernel may be off by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Accumulation {
    kind: ElementKind,
    rounding: Rounding,
    /// The longest chain of roundings.
    pub chain: usize,
}

impl Accumulation {
    /// The accumulation of `k` products by a kernel.
    pub fn of(d: &GemmDesc, k: usize) -> Self {
        // A slice of K takes its share of every tile; slice 0 adds the others to its own, one after the other.
        let slices = d.warps().k.max(1) as usize;
        let longest = k.min(k.div_ceil(d.threadblock.k.max(1) as usize).saturating_mul(d.warp.k as usize));
        Self { kind: d.accumulator, rounding: Rounding::of(d.accumulator), chain: longest + slices - 1 }
    }

    /// What is known of a sum.
    pub(super) fn estimate(&self, sum: Sum, arithmetic: Arithmetic) -> Estimate {
        let Sum { value, magnitude, whole } = sum;
        if self.kind.is_integer() {
            return Estimate::exactly(f64::from(value as i64 as i32));
        }
        // Not a number, or infinite, because factors are: so it is in any precision.
        if !value.is_finite() {
            return Estimate::exactly(value);
        }
        if magnitude == 0.0 || whole && magnitude <= super::fill::largest_whole(self.kind) {
            return Estimate::exactly(value);
        }
        let n = self.chain as f64;
        let theirs = gamma(n, self.rounding.unit);
        let ours = match arithmetic {
            Arithmetic::Plain => gamma(n, 2f64.powi(-53)) * magnitude,
            Arithmetic::Compensated => 2f64.powi(-53) * value.abs() + gamma(n, 2f64.powi(-53)).powi(2) * magnitude,
            Arithmetic::Wrapping => 0.0,
        };
        // Sums in between may overflow where this does.
        if (1.0 + theirs) * magnitude >= self.rounding.largest {
            return Estimate { value, error: f64::INFINITY };
        }
        Estimate { value, error: theirs * magnitude + n * self.rounding.half_least + ours }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_round_as_ieee_754_says() {
        let f32s = Rounding::of(ElementKind::F32);
        assert_eq!((f32s.unit, f32s.largest), (f64::from(f32::EPSILON) / 2.0, f64::from(f32::MAX)));
        assert_eq!(f32s.half_least, f64::from(f32::from_bits(1)) / 2.0);
        let f64s = Rounding::of(ElementKind::F64);
        assert_eq!((f64s.unit, f64s.largest), (f64::EPSILON / 2.0, f64::MAX));
        let f16s = Rounding::of(ElementKind::F16);
        assert_eq!((f16s.unit, f16s.largest), (2f64.powi(-11), half::f16::MAX.to_f64()));
        assert_eq!(f16s.half_least, half::f16::from_bits(1).to_f64() / 2.0);
        let bf16s = Rounding::of(ElementKind::Bf16);
        assert_eq!((bf16s.unit, bf16s.largest), (2f64.powi(-8), half::bf16::MAX.to_f64()));
        assert_eq!(bf16s.half_least, half::bf16::from_bits(1).to_f64() / 2.0);
    }

    #[test]
    fn gamma_gives_up_at_one_half() {
        assert_eq!(gamma(1.0, 0.25), 1.0 / 3.0);
        assert_eq!(gamma(1024.0, 2f64.powi(-11)), f64::INFINITY);
        assert!(gamma(1023.0, 2f64.powi(-11)) < 1.0);
    }
}
