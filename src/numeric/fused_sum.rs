//! One step of a tensor core on the host: exact products, aligned, cut off, added, rounded.
//!
//! With the addends `t_0 = acc` and `t_i = a_i b_i`, each with the sum `e_i` of its factors'
//! exponents, not normalized, and `E` the largest of the `e_i`,
//!
//! ```text
//! acc' = round( 2^(E - F) * sum of trunc(t_i * 2^(F - E)) )        F = aligned_bits
//! ```
//!
//! A subnormal factor has the least exponent of its type and a significand below 1. Zeros have no
//! exponent. `E` may be below -126, an accumulator's least exponent, of which only the rounding
//! knows, but is no less than -133. A sum that is cut off to nothing is +0, whatever its sign was.
//! An H200's answers on numbers like these are in `tests/data/h200_steps.jsonl`, and
//! `tests/gpu/tensor_steps.rs` draws more. Where a factor or the accumulator is infinite or no
//! number, the result is infinite or the NaN `0x7fffffff`.

use super::{
    ElementKind, F16, Tf32,
    instruction::{Instruction, SumRounding},
    round_to_odd,
};

/// Bits of fraction of a binary32, and of a product of two.
const FRACTION: u32 = 23;
const PRODUCT_FRACTION: u32 = 2 * FRACTION;
/// The least exponent of a binary32.
pub(super) const LEAST: i32 = -126;
/// The least exponent that addends are aligned to: found on an H200, by
/// `tests/gpu/tensor_steps.rs`.
pub(super) const LEAST_ALIGNED: i32 = -133;
/// What tensor cores make of what is no number.
const NAN: f32 = f32::from_bits(0x7fff_ffff);

/// `± significand * 2^(exponent - FRACTION)`, exactly.
pub(super) struct Parts {
    pub negative: bool,
    pub significand: u64,
    pub exponent: i32,
}

impl Parts {
    /// Of a finite number of a type whose least exponent is `least`.
    #[inline(always)]
    pub fn of(x: f32, least: i32) -> Self {
        let (significand, exponent) = apart(x, least);
        Self { negative: x.is_sign_negative(), significand: u64::from(significand), exponent }
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Self {
            negative: self.negative != other.negative,
            significand: self.significand * other.significand,
            exponent: self.exponent + other.exponent,
        }
    }
}

/// The magnitude of a finite number's significand, with [`FRACTION`] bits of fraction, and its
/// exponent, no less than `least`.
#[inline(always)]
pub(super) const fn apart(x: f32, least: i32) -> (u32, i32) {
    let (field, fraction) =
        ((x.to_bits() >> FRACTION & 0xff) as i32, x.to_bits() & ((1 << FRACTION) - 1));
    let (significand, exponent) =
        if field == 0 { (fraction, LEAST) } else { (fraction | 1 << FRACTION, field - 127) };
    let below = if least > exponent { least - exponent } else { 0 };
    (significand >> if below > 31 { 31 } else { below }, exponent + below)
}

/// The least exponent of a type that tensor cores multiply, or accumulate in.
pub const fn least_exponent(kind: ElementKind) -> i32 {
    match kind {
        ElementKind::F16 | ElementKind::E5m2 => -14,
        ElementKind::E4m3 => -6,
        _ => LEAST,
    }
}

/// `2^exponent`, for the exponents of normal binary64 numbers.
#[inline(always)]
pub(super) fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

impl Instruction {
    /// One step: the new accumulator, from the old one and the products of `a` and `b`.
    ///
    /// The numbers are elements of the instruction's types, which are all `f32` numbers; those of
    /// tf32 are cut to 19 bits, as the hardware reads them. Of slices of unequal length the longer
    /// one's rest is left out. A step has [`products`](Instruction::products) of them; fewer are as
    /// many and zeros, and more are several steps.
    ///
    /// ```
    /// use falchion::{arch::ArchKind, numeric::{Combined, ElementKind::*, Instruction}};
    ///
    /// let fp8 = Combined { a: E4m3, b: E4m3, accumulator: F32, c: F32 };
    /// let wgmma = Instruction::of(fp8, ArchKind::Sm90).expect("Hopper has it");
    /// // What lies 14 bits below the largest addend is cut off, 32 times over.
    /// assert_eq!(wgmma.step(4096.0, &[0.5; 32], &[0.5; 32]), 4096.0);
    /// assert_eq!(wgmma.step(4096.0, &[1.0; 32], &[1.0; 32]), 4128.0);
    /// ```
    pub fn step(&self, accumulator: f32, a: &[f32], b: &[f32]) -> f32 {
        let products = self.products as usize;
        a.chunks(products)
            .zip(b.chunks(products))
            .fold(accumulator, |sum, (a, b)| self.fused(sum, a, b))
    }

    /// One step of as many products as there are.
    fn fused(&self, accumulator: f32, a: &[f32], b: &[f32]) -> f32 {
        let read =
            |x: f32, kind| if matches!(kind, ElementKind::Tf32) { Tf32::as_read(x) } else { x };
        let pairs = || a.iter().zip(b).map(|(&a, &b)| (read(a, self.a), read(b, self.b)));
        if !accumulator.is_finite() || pairs().any(|(a, b)| !(a.is_finite() && b.is_finite())) {
            let sum = pairs().map(|(a, b)| f64::from(a) * f64::from(b)).sum::<f64>()
                + f64::from(accumulator);
            return if sum.is_nan() { NAN } else { sum as f32 };
        }
        let (least_a, least_b) = (least_exponent(self.a), least_exponent(self.b));
        let own = match self.sum {
            SumRounding::NearestF16 => least_exponent(ElementKind::F16),
            SumRounding::Truncated { .. } => LEAST,
        };
        let product = |(a, b)| Parts::of(a, least_a).times(Parts::of(b, least_b));
        let first = Parts::of(accumulator, own);
        let first = Parts { significand: first.significand << FRACTION, ..first };
        let exponent = |parts: &Parts| (parts.significand != 0).then_some(parts.exponent);
        let Some(top) =
            pairs().map(|pair| exponent(&product(pair))).fold(exponent(&first), Option::max)
        else {
            return self.rounded(0.0);
        };
        let top = top.max(LEAST_ALIGNED);
        let aligned = |parts: Parts| {
            // A zero's exponent may be above the largest.
            let shift =
                (PRODUCT_FRACTION - self.aligned_bits) + (top - parts.exponent).max(0) as u32;
            let kept = if shift < u64::BITS { (parts.significand >> shift) as i64 } else { 0 };
            if parts.negative { -kept } else { kept }
        };
        let sum =
            pairs().map(|pair| aligned(product(pair))).fold(aligned(first), |sum, part| sum + part);
        self.rounded(sum as f64 * power(top - self.aligned_bits as i32))
    }

    /// A sum over all of K: step by step, promoted where the instruction says so.
    pub fn sum(&self, a: &[f32], b: &[f32]) -> f32 {
        self.sum_from(0.0, a, b)
    }

    /// The same, from what was summed before: where sums are promoted, whole parts.
    pub(crate) fn sum_from(&self, sum: f32, a: &[f32], b: &[f32]) -> f32 {
        match self.promotion {
            None => self.step(sum, a, b),
            Some(every) => {
                let parts = a.chunks(every as usize).zip(b.chunks(every as usize));
                parts.fold(sum, |sum, (a, b)| sum + self.step(0.0, a, b))
            }
        }
    }

    /// The exact sum of a step as the accumulator holds it.
    #[inline(always)]
    pub(super) fn rounded(&self, x: f64) -> f32 {
        match self.sum {
            SumRounding::NearestF16 => F16::from_f32(round_to_odd(x)).to_f32(),
            SumRounding::Truncated { fraction_bits } => {
                let kept = if x.abs() < power(LEAST) {
                    let least = power(LEAST - fraction_bits as i32);
                    (x / least).trunc() * least
                } else {
                    f64::from_bits(x.to_bits() & (u64::MAX << (52 - fraction_bits)))
                };
                // Of a negative sum that was cut off, too.
                kept as f32 + 0.0
            }
        }
    }
}
