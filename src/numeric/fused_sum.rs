//! One step of a tensor core on the host: exact products, aligned, truncated, added, and rounded.
//!
//! The addends are `t_0 = acc` and `t_i = a_i b_i`. Each has the sum `e_i` of its factors'
//! exponents, without normalization; `E` is the largest `e_i`. Then
//!
//! ```text
//! acc' = round( 2^(E - F) * sum of trunc(t_i * 2^(F - E)) )        F = aligned_bits
//! ```
//!
//! A subnormal factor has the smallest exponent of its type and a significand below 1. Zeros have
//! no exponent. `E` is at least -133; it may be below -126, the smallest exponent of an
//! accumulator, which affects only the rounding. A sum that truncates to zero is +0, whatever its
//! sign. `tests/data/h200_steps.jsonl` has an H200's results on such numbers, and
//! `tests/gpu/tensor_steps.rs` generates more. If a factor or the accumulator is infinite or NaN,
//! the result is infinite or the NaN `0x7fffffff`.

use super::{
    ElementKind, F16, Tf32,
    instruction::{Instruction, SumRounding},
    round_to_odd,
};

/// Fraction bits of a binary32. A product of two has twice as many.
const FRACTION: u32 = 23;
const PRODUCT_FRACTION: u32 = 2 * FRACTION;
/// Smallest exponent of a binary32.
pub(super) const LEAST: i32 = -126;
/// Smallest exponent to which addends are aligned, as measured on an H200 by
/// `tests/gpu/tensor_steps.rs`.
pub(super) const LEAST_ALIGNED: i32 = -133;
/// NaN that tensor cores return.
const NAN: f32 = f32::from_bits(0x7fff_ffff);

/// Maximum number of products of one step: of fp8 on Hopper.
const MOST_PRODUCTS: usize = 32;

/// The exact number `± significand * 2^(exponent - FRACTION)`.
#[derive(Clone, Copy)]
pub(super) struct Decoded {
    pub negative: bool,
    pub significand: u64,
    pub exponent: i32,
}

impl Decoded {
    /// Decomposes a finite number of a type whose smallest exponent is `least`.
    #[inline(always)]
    pub fn new(x: f32, least: i32) -> Self {
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

/// Returns the magnitude of a finite number's significand, with [`FRACTION`] fraction bits, and its
/// exponent, which is at least `least`.
#[inline(always)]
pub(super) const fn apart(x: f32, least: i32) -> (u32, i32) {
    let (field, fraction) =
        ((x.to_bits() >> FRACTION & 0xff) as i32, x.to_bits() & ((1 << FRACTION) - 1));
    let (significand, exponent) =
        if field == 0 { (fraction, LEAST) } else { (fraction | 1 << FRACTION, field - 127) };
    let below = if least > exponent { least - exponent } else { 0 };
    (significand >> if below > 31 { 31 } else { below }, exponent + below)
}

/// Returns the smallest exponent of a type that tensor cores multiply or accumulate in.
pub const fn least_exponent(kind: ElementKind) -> i32 {
    match kind {
        ElementKind::F16 | ElementKind::E5m2 => -14,
        ElementKind::E4m3 => -6,
        _ => LEAST,
    }
}

/// Returns `2^exponent`, for the exponents of normal binary64 numbers.
#[inline(always)]
pub(super) fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

impl Instruction {
    /// Returns the new accumulator after the products of `a` and `b` are added to the old one.
    ///
    /// The numbers are elements of the instruction's types, all of which are `f32` numbers. tf32
    /// numbers are truncated to 19 bits, as the hardware reads them. If the slices have different
    /// lengths, the rest of the longer one is ignored. One step adds
    /// [`products`](Instruction::products) products. Fewer are padded with zeros, and more need
    /// several steps.
    ///
    /// ```
    /// use falchion::{arch::ArchKind, numeric::{Combined, ElementKind::*, Instruction}};
    ///
    /// let fp8 = Combined { a: E4m3, b: E4m3, accumulator: F32, c: F32 };
    /// let wgmma = Instruction::for_types(fp8, ArchKind::Sm90).expect("Hopper has it");
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

    /// Performs one step with all products of `a` and `b`.
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
        let first = Decoded::new(accumulator, own);
        let first = Decoded { significand: first.significand << FRACTION, ..first };
        let mut addends = [first; 1 + MOST_PRODUCTS];
        for (product, (a, b)) in addends[1..].iter_mut().zip(pairs()) {
            *product = Decoded::new(a, least_a).times(Decoded::new(b, least_b));
        }
        let addends = &addends[..1 + a.len().min(b.len())];
        let exponent = |number: &Decoded| (number.significand != 0).then_some(number.exponent);
        let Some(top) = addends.iter().filter_map(exponent).max() else {
            return self.rounded(0.0);
        };
        let top = top.max(LEAST_ALIGNED);
        let aligned = |number: &Decoded| {
            // A zero's exponent may exceed the largest exponent.
            let shift =
                (PRODUCT_FRACTION - self.aligned_bits) + (top - number.exponent).max(0) as u32;
            let kept = if shift < u64::BITS { (number.significand >> shift) as i64 } else { 0 };
            if number.negative { -kept } else { kept }
        };
        let sum: i64 = addends.iter().map(aligned).sum();
        self.rounded(sum as f64 * power(top - self.aligned_bits as i32))
    }

    /// Returns the sum over all of K, step by step, with the instruction's promotion.
    pub fn sum(&self, a: &[f32], b: &[f32]) -> f32 {
        self.sum_from(0.0, a, b)
    }

    /// Returns `sum` plus the sum over all of K. With promotion, each chunk of products is summed
    /// from 0.
    #[doc(hidden)]
    pub fn sum_from(&self, sum: f32, a: &[f32], b: &[f32]) -> f32 {
        match self.promotion {
            None => self.step(sum, a, b),
            Some(every) => {
                let steps = a.chunks(every as usize).zip(b.chunks(every as usize));
                steps.fold(sum, |sum, (a, b)| sum + self.step(0.0, a, b))
            }
        }
    }

    /// Rounds the exact sum of a step to the accumulator.
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
                // Adding 0 turns a truncated negative sum of -0 into +0.
                kept as f32 + 0.0
            }
        }
    }
}
