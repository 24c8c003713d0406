//! Decomposed operands of tensor-core sums.

use super::LANES;
use crate::{
    numeric::{
        ElementKind, Tf32,
        fused_sum::{apart, least_exponent},
        instruction::Instruction,
    },
    shape::OperandKind,
};

/// Exponent of a zero. Its sum with any other exponent is below all others.
pub(super) const OF_ZERO: i32 = -8192;

/// Rows of A, or columns of B, along K. They are stored as values, and as significands and
/// exponents: a number is `significand * 2^(exponent - fraction bits)`. A's significands are scaled
/// by 2^`up`, so that products have all bits that the instruction keeps.
#[derive(Default)]
pub struct Panel {
    /// Numbers per row.
    pub(super) depth: usize,
    /// Values, row by row.
    pub(super) values: Vec<f32>,
    /// Significands: row by row for A; for B in blocks of [`LANES`] columns, k by k, with the last
    /// block padded with zeros.
    pub(super) significands: Vec<i32>,
    pub(super) exponents: Vec<i32>,
    /// Whether all numbers of each row are finite.
    pub(super) finite: Vec<bool>,
}

/// Returns the fraction bits of a type that tensor cores multiply.
const fn fraction_bits(kind: ElementKind) -> u32 {
    match kind {
        ElementKind::F16 | ElementKind::Tf32 => 10,
        ElementKind::E4m3 => 3,
        ElementKind::E5m2 => 2,
        _ => 7,
    }
}

/// Returns the number of bits of a product that an instruction keeps in addition to those of its
/// types.
const fn up(instruction: &Instruction) -> u32 {
    let [a, b] = instruction.operands();
    instruction.aligned_bits() - fraction_bits(a) - fraction_bits(b)
}

impl Panel {
    /// Decomposes rows of `depth` numbers; `depth` is a whole number of the instruction's steps.
    pub fn new(
        instruction: &Instruction,
        operand: OperandKind,
        depth: usize,
        values: Vec<f32>,
    ) -> Self {
        let kind = instruction.operands()[operand.index()];
        let (least, dropped) = (least_exponent(kind), 23 - fraction_bits(kind));
        let (lanes, up) = match operand {
            OperandKind::A => (1, up(instruction)),
            OperandKind::B => (LANES, 0),
        };
        let rows = values.chunks_exact(depth.max(1));
        let finite = rows.clone().map(|row| row.iter().all(|x| x.is_finite())).collect();
        let length = rows.len().next_multiple_of(lanes) * depth;
        let (mut significands, mut exponents) = (vec![0; length], vec![OF_ZERO; length]);
        for (row, numbers) in rows.enumerate() {
            let first = row / lanes * lanes * depth + row % lanes;
            let to = significands[first..]
                .iter_mut()
                .step_by(lanes)
                .zip(exponents[first..].iter_mut().step_by(lanes));
            for (&x, (significand, exponent)) in numbers.iter().zip(to) {
                let x = if matches!(kind, ElementKind::Tf32) { Tf32::as_read(x) } else { x };
                let (magnitude, power) = apart(x, least);
                // At most eleven bits.
                let magnitude = (magnitude >> dropped << up) as i32;
                *significand = if x.is_sign_negative() { -magnitude } else { magnitude };
                *exponent = if magnitude == 0 { OF_ZERO } else { power };
            }
        }
        Self { depth, values, significands, exponents, finite }
    }

    /// Returns the values of a row.
    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.depth..][..self.depth]
    }
}
