//! Terms of an emulated number.
//!
//! Twin: `kernels/numeric/emulation.cuh`, whose arithmetic NVRTC evaluates for a fingerprint.

use super::EmulationKind;
use crate::{
    numeric::{Bf16, F16, Multiplied, Tf32},
    shape::{Frame, OperandKind},
};

/// Bits of an `f32`'s magnitude: all but the sign.
pub(super) const MAGNITUDE: u32 = 0x7fff_ffff;

/// Magnitude of infinity; larger magnitudes are NaNs.
pub(super) const INFINITE: u32 = 0x7f80_0000;

/// Returns `floor(log2 |x|)` for the bits of a nonzero magnitude, or 128 for infinities and NaNs.
pub(super) const fn exponent_of(magnitude: u32) -> i32 {
    match magnitude >> 23 {
        // Subnormal numbers are multiples of 2^-149.
        0 => magnitude.ilog2() as i32 - 149,
        field => field as i32 - 127,
    }
}

/// Returns the `s` for which a row or column is multiplied by 2^-s, given the bits of its largest
/// magnitude. `s` is `E - 14` for a largest magnitude in [2^E, 2^(E+1)), and 0 if all numbers are
/// 0.
pub const fn shift_of(largest: u32) -> i32 {
    if largest == 0 { 0 } else { exponent_of(largest) - EmulationKind::TOP }
}

/// Returns `2^exponent`, for the exponents of normal binary64 numbers.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Returns a sum of scaled products without the scales: `sum * 2^shift`, rounded once.
pub fn unscaled(sum: f32, shift: i32) -> f32 {
    (f64::from(sum) * power(shift)) as f32
}

/// Returns the nearest bf16, ties to even, or the largest bf16 if a finite `x` would round to
/// infinity.
fn nearest_bf16(x: f32) -> Bf16 {
    let near = Bf16::from_f32(x);
    if near.is_infinite() && x.is_finite() {
        Bf16::from_bits((x.to_bits() >> 16) as u16)
    } else {
        near
    }
}

impl EmulationKind {
    /// Returns the bits of the [`terms`](Self::terms) terms of a number, the largest first. `shift`
    /// is the `shift_of` of its row or column if these are scaled.
    ///
    /// ```
    /// # use falchion::numeric::{Bf16, EmulationKind};
    /// let x = 1.0 / 3.0f32;
    /// let terms = EmulationKind::Bf16x6.decompose(x, 0).map(|bits| Bf16::from_bits(bits).to_f32());
    /// assert_eq!(terms[0] + terms[1] + terms[2], x);
    /// assert!(terms[1].abs() <= x / 256.0 && terms[2].abs() <= x / 131072.0);
    /// ```
    pub fn decompose(self, x: f32, shift: i32) -> [u16; 3] {
        match self {
            Self::Bf16x6 | Self::Bf16x3 => {
                let first = nearest_bf16(x);
                if !x.is_finite() {
                    return [first.to_bits(), 0, 0];
                }
                let rest = x - first.to_f32();
                let second = nearest_bf16(rest);
                [first, second, nearest_bf16(rest - second.to_f32())].map(Bf16::to_bits)
            }
            Self::F16x3 => {
                let x = unscaled(x, -shift);
                let first = F16::from_f32(x);
                [first.to_bits(), F16::from_f32(x - first.to_f32()).to_bits(), 0]
            }
            Self::None | Self::Tf32x3 | Self::Bf16x1 => [0; 3],
        }
    }

    /// Returns the terms that a warp computes from a number of its fragment, the largest first. For
    /// [`None`](Self::None), the first is the number.
    pub fn in_registers_of(self, x: f32) -> [f32; 2] {
        match self {
            Self::Tf32x3 => {
                let first = Tf32::as_read(x);
                let rest = x - first;
                let bits = if rest.is_nan() { CANONICAL_NAN } else { rest.to_bits() };
                [first, Tf32::as_read(f32::from_bits(bits.wrapping_add(HALF_OF_TF32)))]
            }
            Self::Bf16x1 => [Bf16::from_f32(x).to_f32(), 0.0],
            _ => [x, 0.0],
        }
    }
}

/// Half a unit in the last place of tf32, in the bits of a magnitude.
const HALF_OF_TF32: u32 = 1 << 12;

/// NaN that PTX's single-precision instructions return for every NaN. Its bits plus half a unit are
/// read as -0, so infinities and NaNs have no second term.
const CANONICAL_NAN: u32 = 0x7fff_ffff;

/// Numbers that instructions multiply for rows of fragments, in steps of `k`: elements, terms, or
/// the results of a user's transform. The products of terms follow each other in the user's order,
/// so the bits do not depend on the layouts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterTerms {
    /// The elements of A and of B that an instruction multiplies, in the kernel's frame.
    pub multiplied: [Multiplied; 2],
    /// Frame of the kernel.
    pub frame: Frame,
    /// K extent of an instruction.
    pub k: u32,
}

impl RegisterTerms {
    /// Returns the emulation of f32 in registers, or `None` without one.
    const fn emulation(&self) -> Option<EmulationKind> {
        match Multiplied::emulation_of(self.multiplied) {
            emulation if emulation.in_registers() => Some(emulation),
            _ => None,
        }
    }

    /// Returns the numbers that instructions multiply per number of a row.
    pub const fn each(&self) -> usize {
        match self.emulation() {
            Some(emulation) => emulation.products().len(),
            None => 1,
        }
    }

    /// Returns the numbers that instructions multiply for `rows`, whose length is a whole number of
    /// instructions.
    pub fn taken(&self, operand: OperandKind, rows: Vec<f32>) -> Vec<f32> {
        let multiplied = self.multiplied[operand.index()];
        if let Some(id) = multiplied.transform() {
            let (transform, mut rows) = (id.on_host(), rows);
            rows.iter_mut().for_each(|x| *x = transform.apply(*x));
            return rows;
        }
        let Some(emulation) = self.emulation().filter(|_| multiplied.in_registers()) else {
            return rows;
        };
        let side = operand.leave(self.frame).index();
        let mut taken = Vec::with_capacity(rows.len() * self.each());
        for of in rows.chunks(self.k.max(1) as usize) {
            for product in emulation.products() {
                taken.extend(
                    of.iter().map(|&x| emulation.in_registers_of(x)[product[side] as usize]),
                );
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use falchion_lab::verify::draw;

    /// Yields numbers of every exponent, and the extreme ones.
    fn numbers() -> impl Iterator<Item = f32> {
        let drawn = (0..400_000).map(|i| f32::from_bits(draw(7, i) as u32));
        let ends = [
            0,
            1,
            0x7f_ffff,
            0x80_0000,
            0x7f7f_ffff,
            0x7f7f_7fff,
            0x7f7f_8000,
            0x7f7f_8001,
            0x7f80_0000,
            0x7fc0_0000,
        ];
        drawn.chain(
            ends.into_iter()
                .flat_map(|bits| [f32::from_bits(bits), f32::from_bits(bits | 1 << 31)]),
        )
    }

    fn bf16_terms(x: f32) -> [f64; 3] {
        EmulationKind::Bf16x6.decompose(x, 0).map(|bits| Bf16::from_bits(bits).to_f64())
    }

    /// For finite `a`: `a1 + a2 + a3 = a` if the last bit of `a` is at least 2^-133, otherwise
    /// within 2^-134. In the first case, `|a2| <= 2^-7.99 |a|` and `|a3| <= 2^-16.99 |a|`. An
    /// infinity or NaN is its own first term.
    #[test]
    fn three_parts_of_bf16_are_the_number() {
        let (mut exact, mut near) = (0, 0);
        for x in numbers() {
            let terms = bf16_terms(x);
            if !x.is_finite() {
                assert!(
                    terms[0].is_nan() == x.is_nan() && (x.is_nan() || terms[0] == f64::from(x)),
                    "{x}: {terms:?}"
                );
                assert_eq!(terms[1..], [0.0, 0.0]);
                continue;
            }
            let (x, rest) = (f64::from(x), f64::from(x) - (terms[0] + terms[1] + terms[2]));
            if x.abs() >= 2f64.powi(-110) || x == 0.0 {
                assert_eq!(rest, 0.0, "{x:e}: {terms:?}");
                assert!(terms[1].abs() <= 2f64.powf(-7.99) * x.abs(), "{x:e}: {terms:?}");
                assert!(terms[2].abs() <= 2f64.powf(-16.99) * x.abs(), "{x:e}: {terms:?}");
                exact += 1;
            } else {
                assert!(rest.abs() <= 2f64.powi(-134), "{x:e}: {terms:?}");
                near += usize::from(rest != 0.0);
            }
        }
        assert!(exact > 300_000 && near > 1000, "{exact} {near}");
    }

    /// The first tf32 term of an infinity or NaN is the truncated number, and it has no second
    /// term. The NaN that the host's subtraction returns does not matter.
    #[test]
    fn nonfinite_numbers_have_no_second_tf32_term() {
        for x in numbers().filter(|x| !x.is_finite()) {
            let [first, second] = EmulationKind::Tf32x3.in_registers_of(x).map(f32::to_bits);
            assert_eq!((first, second), (x.to_bits() & !0x1fff, 0x8000_0000), "{:#x}", x.to_bits());
        }
    }

    /// A number that would round to infinity still equals the sum of its terms.
    #[test]
    fn the_largest_numbers_do_not_overflow() {
        for x in [f32::MAX, f32::MIN, f32::from_bits(0x7f7f_8000)] {
            assert!(Bf16::from_f32(x).is_infinite());
            assert_eq!(bf16_terms(x).iter().sum::<f64>(), f64::from(x));
        }
    }

    /// After scaling by 2^-s, `|a| < 2^15`, `|a - a1 - a2| <= max(2^-23 |a|, 2^-25)`, and `|a2| <=
    /// 2^-11 |a|`, for numbers of any row.
    #[test]
    fn two_parts_of_f16_are_nearly_the_number() {
        let mut worst = 0f64;
        for (i, x) in numbers().enumerate().filter(|(_, x)| x.is_finite()) {
            let magnitude = x.to_bits() & MAGNITUDE;
            let above = draw(9, i as u64) % 45;
            let largest = (u64::from(magnitude) + (above << 23)).min(0x7f7f_ffff) as u32;
            let shift = shift_of(largest);
            let terms =
                EmulationKind::F16x3.decompose(x, shift).map(|bits| F16::from_bits(bits).to_f64());
            let scaled = f64::from(x) * power(-shift);
            let (rest, bound) =
                (scaled - terms[0] - terms[1], (2f64.powi(-23) * scaled.abs()).max(2f64.powi(-25)));
            assert!(
                scaled.abs() < 32768.0 && rest.abs() <= bound,
                "{x:e} {shift}: {rest:e}, {bound:e}"
            );
            assert!(
                terms[1].abs() <= 2f64.powi(-11) * scaled.abs() && terms[2] == 0.0,
                "{x:e}: {terms:?}"
            );
            worst = worst.max(rest.abs() / bound);
        }
        // The bound is reached.
        assert!(worst == 1.0, "{worst}");
    }

    /// The shift is `E - 14` for a largest magnitude in [2^E, 2^(E+1)), including subnormal ones.
    #[test]
    fn a_row_s_largest_is_scaled_to_the_top_binade() {
        for exponent in -149..128 {
            let power = if exponent < -126 {
                1 << (exponent + 149)
            } else {
                ((exponent + 127) as u32) << 23
            };
            assert_eq!(shift_of(power), exponent - 14);
            assert_eq!(unscaled(f32::from_bits(power), -shift_of(power)), 16384.0);
        }
        assert_eq!((shift_of(0), shift_of(0x7f7f_ffff), shift_of(3)), (0, 113, -162));
    }

    /// `sum * 2^s` is rounded once, even if the result is subnormal; two steps would round twice.
    #[test]
    fn scales_are_taken_back_with_one_rounding() {
        assert_eq!(unscaled(1.5, 3), 12.0);
        assert_eq!(unscaled(f32::from_bits(0x3f80_0001), -149), f32::from_bits(1));
        assert_eq!(unscaled(f32::from_bits(0x3fc0_0001), -149), f32::from_bits(2));
        assert_eq!(
            (unscaled(2.0, 127), unscaled(-1.0, 200), unscaled(1.0, -300)),
            (f32::INFINITY, f32::NEG_INFINITY, 0.0)
        );
    }
}
