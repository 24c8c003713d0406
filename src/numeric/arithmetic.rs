//! Arithmetic of accumulators and epilogues, with the rounding of the device.

use super::{ElementKind, F16, convert::round_to_odd};
use crate::sys::fma::{self, PanelSection};
use core::fmt::Debug;

/// Type in which products are accumulated.
pub trait Accumulator: Copy + Default + PartialEq + Debug + Send + Sync + 'static {
    /// Accumulator type as a value.
    const KIND: ElementKind;
    /// Whether the grouping of products into instructions affects the result.
    const IN_STEPS: bool = false;
    /// Returns `a * b + self`, rounded once; integers wrap.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Adds the products of a section in one call, with the result of [`mul_add`](Self::mul_add) in
    /// the order of k. Returns `false` and adds nothing if there is no such loop for the type.
    fn multiply_section(_: &mut PanelSection<'_, Self>) -> bool {
        false
    }
    /// Returns `self + other`, rounded once; integers wrap. Sliced-K reductions use it to add
    /// partial accumulators.
    fn plus(self, other: Self) -> Self;
    /// Type in which split-K partials are added: `f32` for `f16`.
    type Sum: Accumulator;
    /// Converts the accumulator to this type exactly.
    fn widened(self) -> Self::Sum;
    /// Rounds a sum of this type to the accumulator type.
    fn narrowed(sum: Self::Sum) -> Self;
}

/// Returns the sum of at most 256 split-K partials of an accumulator. It adds groups of `at_once`
/// neighbors in ascending k, and then the sums of the groups likewise, level by level.
pub fn sum_slices<T: Accumulator>(slices: usize, at_once: usize, slice: impl Fn(usize) -> T) -> T {
    let mut sums = [T::Sum::default(); MOST_SLICES as usize];
    let mut count = slices.min(sums.len());
    sums.iter_mut().zip(0..count).for_each(|(sum, number)| *sum = slice(number).widened());
    while count > 1 {
        let groups = count.div_ceil(at_once.max(2));
        for group in 0..groups {
            let members = group * at_once..count.min((group + 1) * at_once);
            sums[group] =
                sums[members].iter().copied().reduce(Accumulator::plus).unwrap_or_default();
        }
        count = groups;
    }
    T::narrowed(sums[0])
}

/// Returns the type in which split-K partials of an accumulator type are added.
pub const fn sum_of(kind: ElementKind) -> ElementKind {
    match kind {
        ElementKind::F16 => <<F16 as Accumulator>::Sum as Accumulator>::KIND,
        _ => kind,
    }
}

/// Maximum number of split-K partials per accumulator; one thread adds all of them.
pub const MOST_SLICES: u32 = 256;

/// Implements `Sum` for types whose partials are added without conversion.
macro_rules! own_sum {
    () => {
        type Sum = Self;
        #[inline(always)]
        fn widened(self) -> Self {
            self
        }
        #[inline(always)]
        fn narrowed(sum: Self) -> Self {
            sum
        }
    };
}

impl Accumulator for i32 {
    const KIND: ElementKind = ElementKind::I32;
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        self.wrapping_add(a.wrapping_mul(b))
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    own_sum!();
}

/// Integer whose sums saturate. Products are added as for `i32`, because the sums of one
/// instruction do not overflow. An instruction adds the sum of its products with a saturating
/// [`plus`](Accumulator::plus).
#[derive(Clone, Copy, PartialEq, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Saturating(pub i32);

impl Accumulator for Saturating {
    const KIND: ElementKind = ElementKind::I32;
    const IN_STEPS: bool = true;
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Self(self.0.mul_add(a.0, b.0))
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
    own_sum!();
}

/// Products of binary16 numbers are exact in binary64, so only one rounding remains. If the
/// binary64 sum is inexact, one term is below 2^-30 of the other. The binary64 sum then lies on a
/// tie of binary16 only if the exact sum does.
impl Accumulator for F16 {
    const KIND: ElementKind = ElementKind::F16;
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        F16::from_f32(round_to_odd(a.to_f64() * b.to_f64() + self.to_f64()))
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        F16::from_f32(self.to_f32() + other.to_f32())
    }
    type Sum = f32;
    #[inline(always)]
    fn widened(self) -> f32 {
        self.to_f32()
    }
    #[inline(always)]
    fn narrowed(sum: f32) -> Self {
        F16::from_f32(sum)
    }
}

/// A user's function for both floating-point compute types.
#[derive(Clone, Copy, Debug)]
pub struct Functions {
    /// Function for binary32.
    pub f32: fn(f32) -> f32,
    /// Function for binary64.
    pub f64: fn(f64) -> f64,
}

/// A user's function of two numbers for both floating-point compute types.
#[derive(Clone, Copy, Debug)]
pub struct BinaryFunctions {
    /// Function for binary32.
    pub f32: fn(f32, f32) -> f32,
    /// Function for binary64.
    pub f64: fn(f64, f64) -> f64,
}

/// Numbers of a compute type.
#[derive(Debug)]
pub enum TypedNumbers<'n> {
    /// Numbers of type `f32`.
    F32(&'n mut [f32]),
    /// Numbers of type `f64`.
    F64(&'n mut [f64]),
    /// Numbers of type `i32`.
    I32(&'n mut [i32]),
}

/// Compute type of an epilogue: `f32`, `f64`, or `i32`, which wraps.
pub trait Compute: Copy + PartialOrd + Default + Debug + Send + Sync + 'static {
    /// Converts a scalar argument, rounded to nearest.
    fn from_scalar(x: f64) -> Self;
    /// Returns `self + other`.
    fn plus(self, other: Self) -> Self;
    /// Returns `self - other`.
    fn minus(self, other: Self) -> Self;
    /// Returns `self * other`.
    fn times(self, other: Self) -> Self;
    /// Returns `-self`; the least integer wraps to itself.
    fn negated(self) -> Self;
    /// Returns `|self|`; the least integer wraps to itself.
    fn absolute(self) -> Self;
    /// Returns the smaller number; NaN if an operand is NaN. -0 is less than +0.
    fn smaller(self, other: Self) -> Self;
    /// Returns the larger number; NaN if an operand is NaN. -0 is less than +0.
    fn larger(self, other: Self) -> Self;
    /// Returns the numbers with their type.
    fn typed(numbers: &mut [Self]) -> TypedNumbers<'_>;
    /// Applies a user's function. An integer uses the `f64` function, and the result is rounded to
    /// nearest.
    fn through(self, functions: Functions) -> Self;
    /// Applies a user's function of two numbers, as [`through`](Self::through) does.
    fn through_both(self, other: Self, functions: BinaryFunctions) -> Self;
}

macro_rules! floating {
    ($($float:ident, $kind:ident, $multiply:ident, $nan:literal;)*) => {
        $(impl Accumulator for $float {
            const KIND: ElementKind = ElementKind::$kind;
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                a.mul_add(b, self)
            }
            fn multiply_section(section: &mut PanelSection<'_, Self>) -> bool {
                fma::$multiply(section)
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            own_sum!();
        }

        impl Compute for $float {
            #[inline(always)]
            fn from_scalar(x: f64) -> Self {
                x as $float
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn negated(self) -> Self {
                -self
            }
            #[inline(always)]
            fn absolute(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                let first = self < other || self == other && self.is_sign_negative();
                if self.is_nan() || other.is_nan() {
                    Self::from_bits($nan)
                } else if first {
                    self
                } else {
                    other
                }
            }
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                let first = self > other || self == other && self.is_sign_positive();
                if self.is_nan() || other.is_nan() {
                    Self::from_bits($nan)
                } else if first {
                    self
                } else {
                    other
                }
            }
            #[inline(always)]
            fn typed(numbers: &mut [Self]) -> TypedNumbers<'_> {
                TypedNumbers::$kind(numbers)
            }
            #[inline(always)]
            fn through(self, functions: Functions) -> Self {
                (functions.$float)(self)
            }
            #[inline(always)]
            fn through_both(self, other: Self, functions: BinaryFunctions) -> Self {
                (functions.$float)(self, other)
            }
        })*
    };
}

floating! {
    f32, F32, multiply_f32, 0x7fff_ffff;
    f64, F64, multiply_f64, 0x7fff_ffff_ffff_ffff;
}

impl Compute for i32 {
    #[inline(always)]
    fn from_scalar(x: f64) -> Self {
        x as i32
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }
    #[inline(always)]
    fn negated(self) -> Self {
        self.wrapping_neg()
    }
    #[inline(always)]
    fn absolute(self) -> Self {
        self.wrapping_abs()
    }
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        self.min(other)
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        self.max(other)
    }
    #[inline(always)]
    fn typed(numbers: &mut [Self]) -> TypedNumbers<'_> {
        TypedNumbers::I32(numbers)
    }
    #[inline(always)]
    fn through(self, functions: Functions) -> Self {
        (functions.f64)(f64::from(self)).round_ties_even() as i32
    }
    #[inline(always)]
    fn through_both(self, other: Self, functions: BinaryFunctions) -> Self {
        (functions.f64)(f64::from(self), f64::from(other)).round_ties_even() as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the fma in exact integer arithmetic: every binary16 number is a multiple of 2^-24,
    /// so the sum is a multiple of 2^-48.
    fn exact_fma(a: F16, b: F16, c: F16) -> F16 {
        let fixed = |x: F16| (x.to_f64() * f64::from(1u32 << 24)) as i128;
        let sum = fixed(a) * fixed(b) + (fixed(c) << 24);
        if sum == 0 {
            return F16::from_f32(a.to_f32() * b.to_f32() + c.to_f32());
        }
        let (negative, mut magnitude) = (sum < 0, sum.unsigned_abs());
        // Keep 30 bits and a sticky bit: exact in binary64, and finer than every tie of binary16.
        let mut exponent = -48;
        while magnitude >= 1 << 31 {
            magnitude = (magnitude >> 1) | (magnitude & 1);
            exponent += 1;
        }
        let value = magnitude as f64 * 2f64.powi(exponent);
        F16::from_f32(round_to_odd(if negative { -value } else { value }))
    }

    #[test]
    fn a_half_fma_rounds_once() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut finite = 0;
        for _ in 0..2_000_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let element = |shift: u32| F16::from_bits((state >> shift) as u16);
            let (a, b, c) = (element(8), element(24), element(40));
            if !(a.is_finite() && b.is_finite() && c.is_finite()) {
                continue;
            }
            let (got, want) = (c.mul_add(a, b), exact_fma(a, b, c));
            assert_eq!(got.to_bits(), want.to_bits(), "{a} * {b} + {c}");
            finite += usize::from(got.is_finite());
        }
        assert!(finite > 1_000_000);
    }
}
