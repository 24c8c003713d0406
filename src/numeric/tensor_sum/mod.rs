//! Vectorized sums with the arithmetic of tensor cores. Numbers are decomposed once, and then
//! aligned, truncated, and added for many columns at once.
//!
//! [`Instruction::step`] defines the bits; this module computes them with one column of B per
//! vector lane. A product's significand has at most 27 bits, and the sum of a step fits into 32
//! bits. The vectors do not support steps with infinities, or sums below the normal numbers of
//! binary32. Such columns are detected afterwards and recomputed by the definition.

mod lanes;
mod panel;

use super::instruction::{Instruction, SumRounding};
use crate::sys::simd::{Vectorized, dispatch};
use lanes::{Lanes, Rounding};
pub use panel::Panel;

/// Columns that are summed at once, a multiple of the vector width.
const LANES: usize = 32;

/// Rows that are multiplied by a step of B while it is in the L1 cache.
const ROWS: usize = 8;

/// Performs `sums[i, j] += sum over k of a[i, k] b[j, k]` in the instruction's steps. Rows of
/// `sums` are `pitch` elements apart. With promotion, each chunk of products is summed from 0 and
/// added to the sum.
pub fn accumulate(instruction: &Instruction, a: &Panel, b: &Panel, sums: &mut [f32], pitch: usize) {
    dispatch(Sums { instruction, a, b, sums, pitch });
}

struct Sums<'s> {
    instruction: &'s Instruction,
    a: &'s Panel,
    b: &'s Panel,
    sums: &'s mut [f32],
    pitch: usize,
}

impl Vectorized for Sums<'_> {
    type Output = ();
    #[inline(always)]
    fn run(mut self) {
        let (rows, columns) = (self.a.finite.len(), self.b.finite.len());
        for column in (0..columns).step_by(LANES) {
            for row in (0..rows).step_by(ROWS) {
                let mut tile = [Lanes::default(); ROWS];
                let tile = &mut tile[..ROWS.min(rows - row)];
                let width = LANES.min(columns - column);
                for (i, lanes) in tile.iter_mut().enumerate() {
                    lanes.begin(
                        &self.sums[(row + i) * self.pitch + column..][..width],
                        self.instruction.promotion().is_some(),
                    );
                }
                match self.instruction.sum_rounding() {
                    SumRounding::Truncated { .. } => self.steps::<false>(row, column, tile),
                    SumRounding::NearestF16 => self.steps::<true>(row, column, tile),
                }
                for (i, lanes) in tile.iter().enumerate() {
                    self.finish(row + i, column..column + width, lanes);
                }
            }
        }
    }
}

impl Sums<'_> {
    /// Performs all steps of some rows and [`LANES`] columns.
    #[inline(always)]
    fn steps<const NEAREST: bool>(&self, row: usize, column: usize, tile: &mut [Lanes]) {
        let (depth, products) = (self.a.depth, self.instruction.products() as usize);
        let rounding = Rounding::<NEAREST>::new(self.instruction);
        let of_b = column * depth..(column + LANES) * depth;
        let [significands, exponents] =
            [&self.b.significands[of_b.clone()], &self.b.exponents[of_b]]
                .map(|numbers| numbers.as_chunks::<LANES>().0);
        for first in (0..depth).step_by(products) {
            let range = first..first + products;
            let promotes = self.instruction.promotion().is_some_and(|every| {
                range.end.is_multiple_of(every as usize) || range.end == depth
            });
            for (i, lanes) in tile.iter_mut().enumerate() {
                let of_a = (row + i) * depth + first..(row + i) * depth + range.end;
                lanes.step(
                    &rounding,
                    (&self.a.significands[of_a.clone()], &self.a.exponents[of_a]),
                    (&significands[range.clone()], &exponents[range.clone()]),
                );
                if promotes {
                    lanes.promote();
                }
            }
        }
    }

    /// Writes the sums of a row; recomputes unsupported columns by the definition.
    #[inline(always)]
    fn finish(&mut self, row: usize, columns: core::ops::Range<usize>, lanes: &Lanes) {
        let sums = &mut self.sums[row * self.pitch..][columns.clone()];
        let kept =
            if self.instruction.promotion().is_some() { &lanes.promoted } else { &lanes.sums };
        for (lane, (column, sum)) in columns.zip(sums).enumerate() {
            if self.a.finite[row] && self.b.finite[column] && lanes.beyond[lane] == 0 {
                *sum = kept[lane];
            } else {
                *sum = self.instruction.sum_from(*sum, self.a.row(row), self.b.row(column));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arch::ArchKind,
        numeric::{self, Combined, ElementKind},
        shape::OperandKind,
    };

    /// More columns than one block of lanes.
    const COLUMNS: usize = LANES + 3;

    /// For every instruction and for finite and infinite numbers of its types, the vectorized sum
    /// has the bits of `Instruction::step`, with promoted chunks added in order.
    #[test]
    fn sums_have_the_bits_of_steps() {
        use ElementKind::{Bf16, E4m3, E5m2, F16 as Half, F32, Tf32};
        let mut state = 1u64;
        let mut draw = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        let mut number = |kind: ElementKind, wild: bool| {
            let (bits, scale) = (draw(), [0, 3, 30, 70][draw() as usize % 4]);
            let plain = (bits % 4001) as f32 / 1000.0 - 2.0;
            let x = if bits.is_multiple_of(11) {
                0.0
            } else {
                plain * 2f32.powi(draw() as i32 % (2 * scale + 1) - scale)
            };
            match kind {
                _ if wild && bits % 97 == 1 => {
                    [f32::INFINITY, f32::NAN, f32::NEG_INFINITY][draw() as usize % 3]
                }
                Half => numeric::F16::from_f32(x).to_f32(),
                Bf16 => numeric::Bf16::from_f32(x).to_f32(),
                E4m3 => numeric::E4m3::from_f64(f64::from(x).clamp(-400.0, 400.0)).to_f32(),
                E5m2 => numeric::E5m2::from_f64(f64::from(x).clamp(-4e4, 4e4)).to_f32(),
                _ => x,
            }
        };
        let mut compared = 0;
        for (a, b, accumulator) in [
            (Half, Half, F32),
            (Half, Half, Half),
            (Bf16, Bf16, F32),
            (Tf32, Tf32, F32),
            (E4m3, E5m2, F32),
            (E5m2, E5m2, F32),
        ] {
            let c = if accumulator == Half { Half } else { F32 };
            for arch in ArchKind::ALL {
                let Some(own) = Instruction::for_types(Combined { a, b, accumulator, c }, arch)
                else {
                    continue;
                };
                for round in 0..12 {
                    // Two steps, and a remaining one.
                    let promoted = accumulator == F32 && round % 2 == 1;
                    let instruction =
                        if promoted { own.promoted_every(2 * own.products()) } else { own };
                    let depth = 3 * instruction.products() as usize;
                    let [of_a, of_b] = [(a, ROWS + 2), (b, COLUMNS)].map(|(kind, rows)| {
                        (0..rows * depth).map(|_| number(kind, round % 4 == 0)).collect::<Vec<_>>()
                    });
                    let (pa, pb) = (
                        Panel::new(&instruction, OperandKind::A, depth, of_a.clone()),
                        Panel::new(&instruction, OperandKind::B, depth, of_b.clone()),
                    );
                    let before: Vec<f32> =
                        (0..(ROWS + 2) * COLUMNS).map(|_| number(accumulator, false)).collect();
                    let mut sums = before.clone();
                    accumulate(&instruction, &pa, &pb, &mut sums, COLUMNS);
                    for (at, sum) in sums.iter().enumerate() {
                        let row = |of: &[f32], i: usize| of[i * depth..][..depth].to_vec();
                        let (x, y) = (row(&of_a, at / COLUMNS), row(&of_b, at % COLUMNS));
                        let wanted = match instruction.promotion() {
                            None => instruction.step(before[at], &x, &y),
                            Some(every) => {
                                let steps = x.chunks(every as usize).zip(y.chunks(every as usize));
                                steps.fold(before[at], |sum, (x, y)| {
                                    sum + instruction.step(0.0, x, y)
                                })
                            }
                        };
                        assert_eq!(
                            sum.to_bits(),
                            wanted.to_bits(),
                            "{instruction:?}: {sum} and {wanted}"
                        );
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 30_000, "{compared}");
    }
}
