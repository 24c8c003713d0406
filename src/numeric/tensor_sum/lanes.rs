//! Sums of one row in many columns, by the steps of an instruction. The loops are branch-free and
//! use integer lanes. No operation overflows; all use wrapping arithmetic, because a check would be
//! a branch.

use super::{LANES, panel::OF_ZERO};
use crate::numeric::{
    ElementKind,
    fused_sum::{LEAST, LEAST_ALIGNED, apart, least_exponent, power},
    instruction::{Instruction, SumRounding},
};

/// Number of products whose factors of A are in registers at once.
const AT_ONCE: usize = 4;

/// Sums of one row.
#[derive(Clone, Copy, Default)]
pub(super) struct Lanes {
    /// Accumulators of the tensor core.
    pub sums: [f32; LANES],
    /// Accumulators to which these are promoted, if the instruction promotes.
    pub promoted: [f32; LANES],
    /// Nonzero if a sum was infinite, NaN, or too small to be normal.
    pub beyond: [u32; LANES],
}

/// Rounding of a step's sum: to nearest even in binary16 if `NEAREST`, otherwise toward zero.
pub(super) struct Rounding<const NEAREST: bool> {
    aligned_bits: i32,
    /// Bits of a binary64 to keep.
    kept: u64,
    /// Smallest exponent of an accumulator.
    least: i32,
}

impl<const NEAREST: bool> Rounding<NEAREST> {
    pub fn new(instruction: &Instruction) -> Self {
        let (kept, least) = match instruction.sum_rounding() {
            SumRounding::Truncated { fraction_bits } => (u64::MAX << (52 - fraction_bits), LEAST),
            SumRounding::NearestF16 => (u64::MAX, least_exponent(ElementKind::F16)),
        };
        Self { aligned_bits: instruction.aligned_bits() as i32, kept, least }
    }

    /// Returns the accumulator aligned to the exponent `top`, which is at least its own exponent.
    #[inline(always)]
    fn aligned(&self, x: f32, top: i32) -> i32 {
        let (significand, exponent) = apart(x, self.least);
        let down = (30 - self.aligned_bits).wrapping_add(top).wrapping_sub(exponent).clamp(0, 31);
        let magnitude = (significand << 7).wrapping_shr(down as u32) as i32;
        if x.is_sign_negative() { magnitude.wrapping_neg() } else { magnitude }
    }

    /// Rounds an exact sum to the accumulator, and returns whether the sum is outside the supported
    /// range.
    #[inline(always)]
    fn rounded(&self, x: f64) -> (f32, bool) {
        if NEAREST {
            // The added number is so large that the sum's last bit is the result's last bit.
            let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(-14);
            let magic = power(exponent - 10 + 52) * 1.5;
            let nearest = ((x + magic) - magic).copysign(x);
            (nearest as f32, nearest.abs() > 65504.0)
        } else {
            let kept = f64::from_bits(x.to_bits() & self.kept);
            (kept as f32, (kept.abs() < power(LEAST) && x != 0.0) || kept.abs() >= power(128))
        }
    }
}

impl Lanes {
    /// Starts with the sums so far; sums to be promoted start at 0. Lanes without a column hold
    /// zeros.
    #[inline(always)]
    pub fn begin(&mut self, sums: &[f32], promoted: bool) {
        let (to, other) = if promoted {
            (&mut self.promoted, &mut self.sums)
        } else {
            (&mut self.sums, &mut self.promoted)
        };
        to[..sums.len()].copy_from_slice(sums);
        *other = [0.0; LANES];
        for (beyond, x) in self.beyond.iter_mut().zip(&self.sums) {
            *beyond = u32::from(!x.is_finite());
        }
    }

    /// Adds the current sums to the promoted accumulators, and restarts the sums at 0.
    #[inline(always)]
    pub fn promote(&mut self) {
        for (promoted, sum) in self.promoted.iter_mut().zip(&mut self.sums) {
            *promoted += *sum;
            *sum = 0.0;
        }
    }

    /// Performs one step: multiplies a row of A (`significands` and `exponents`) by equally many
    /// rows of lanes of B.
    #[inline(always)]
    pub fn step<const NEAREST: bool>(
        &mut self,
        rounding: &Rounding<NEAREST>,
        (of_a, exponents_a): (&[i32], &[i32]),
        (of_b, exponents_b): (&[[i32; LANES]], &[[i32; LANES]]),
    ) {
        let sums = self.sums;
        let mut tops = [0i32; LANES];
        for (top, &x) in tops.iter_mut().zip(&sums) {
            let (significand, exponent) = apart(x, rounding.least);
            *top = if significand == 0 { OF_ZERO } else { exponent }.max(LEAST_ALIGNED);
        }
        for (a, b) in
            exponents_a.as_chunks::<AT_ONCE>().0.iter().zip(exponents_b.as_chunks::<AT_ONCE>().0)
        {
            for (lane, top) in tops.iter_mut().enumerate() {
                let of = |i: usize| a[i].wrapping_add(b[i][lane]);
                *top = (*top).max(of(0)).max(of(1)).max(of(2)).max(of(3));
            }
        }
        let mut products = [0i32; LANES];
        let parts = of_a.as_chunks::<AT_ONCE>().0.iter().zip(exponents_a.as_chunks::<AT_ONCE>().0);
        let lanes = of_b.as_chunks::<AT_ONCE>().0.iter().zip(exponents_b.as_chunks::<AT_ONCE>().0);
        for ((a, exponent_a), (b, exponent_b)) in parts.zip(lanes) {
            for (lane, sum) in products.iter_mut().enumerate() {
                let of = |i: usize| {
                    let product = a[i].wrapping_mul(b[i][lane]);
                    let down = tops[lane]
                        .wrapping_sub(exponent_a[i])
                        .wrapping_sub(exponent_b[i][lane])
                        .min(31);
                    let (kept, sign) =
                        (product.unsigned_abs().wrapping_shr(down as u32) as i32, product >> 31);
                    (kept ^ sign).wrapping_sub(sign)
                };
                *sum = [of(1), of(2), of(3)]
                    .into_iter()
                    .fold(sum.wrapping_add(of(0)), i32::wrapping_add);
            }
        }
        for lane in 0..LANES {
            let own = rounding.aligned(sums[lane], tops[lane]);
            let exact = (f64::from(products[lane]) + f64::from(own))
                * power(tops[lane].wrapping_sub(rounding.aligned_bits));
            let (sum, beyond) = rounding.rounded(exact);
            self.sums[lane] = sum;
            self.beyond[lane] |= u32::from(beyond);
        }
    }
}
