//! The fast mode for tensor cores: sums each tile over K in the steps of the instruction.

use super::emulation::Scales;
use crate::{
    error::Error,
    host::{fast::Arithmetic, operands::Operands},
    numeric::{
        ElementKind, F16, Instruction, Panel, Widening, accumulate, emulation::RegisterParts,
        sum_of_parts,
    },
    operand::OperandKind,
    threadblock::PARTS_AT_ONCE,
};
use core::ops::Range;

/// Rows and columns that are summed at once. They do not depend on the kernel's tile, because the
/// tile does not change the accumulators.
const EXTENTS: (usize, usize) = (64, 128);

/// K-depth of one packing step, in elements.
const CHUNK: u32 = 256;

/// A GEMM whose accumulators are summed in the steps of an instruction.
pub(super) struct Steps<'a> {
    operands: Operands<'a>,
    /// The scales that are undone in the accumulators, and the number of the GEMM in its batch.
    scales: (Scales<'a>, usize),
    instruction: Instruction,
    /// The terms that the instruction reads of each element.
    parts: RegisterParts,
    widenings: [Widening<f32>; 2],
}

impl<'a> Steps<'a> {
    /// Prepares a GEMM for an instruction.
    ///
    /// # Errors
    /// [`Error::Refused`] if `f32` cannot represent the operands' elements.
    pub fn of(
        operands: Operands<'a>,
        scales: (Scales<'a>, usize),
        (instruction, parts): (Instruction, RegisterParts),
    ) -> Result<Self, Error> {
        let widenings = [operands.widening(OperandKind::A)?, operands.widening(OperandKind::B)?];
        Ok(Self { operands, scales, instruction, parts, widenings })
    }

    /// Returns the rows and columns of the grid of tiles.
    pub fn grid(&self) -> (usize, usize) {
        (self.operands.problem.m.div_ceil(EXTENTS.0), self.operands.problem.n.div_ceil(EXTENTS.1))
    }

    /// Returns rows of an operand over some k-tiles. Elements beyond K are zeros, so that all
    /// k-tiles are whole.
    fn rows(&self, operand: OperandKind, mn: Range<usize>, tiles: Range<u32>) -> Vec<f32> {
        let (matrix, widening) = (self.operands.matrix(operand), self.widenings[operand.index()]);
        let (tile_k, depth) = (self.operands.tiling.block.k as usize, self.depth(&tiles));
        let blocks = self.operands.tiling.blocks;
        let mut values = vec![0.0; mn.len() * depth];
        let mut line = vec![0.0; mn.len()];
        for (number, tile) in tiles.enumerate() {
            let k = blocks.block(operand, tile) as usize * tile_k;
            let there = matrix.extents.1.saturating_sub(k).min(tile_k);
            if matrix.strides.1 == 1 {
                for (mn, row) in mn.clone().zip(values.chunks_exact_mut(depth)) {
                    (widening.row)(matrix.from(mn, k), &mut row[number * tile_k..][..there]);
                }
            } else {
                for k_of_tile in 0..there {
                    (widening.row)(matrix.from(mn.start, k + k_of_tile), &mut line);
                    let column = values[number * tile_k + k_of_tile..].iter_mut().step_by(depth);
                    column.zip(&line).for_each(|(to, from)| *to = *from);
                }
            }
        }
        values
    }

    /// Returns the K-depth of some k-tiles, in elements.
    fn depth(&self, tiles: &Range<u32>) -> usize {
        tiles.len() * self.operands.tiling.block.k as usize
    }
}

impl Arithmetic for Steps<'_> {
    type Number = f32;
    type Strip = Panel;

    /// Returns `F32` for all accumulator types: `f16` accumulators are stored as `f32` numbers.
    fn kind(&self) -> ElementKind {
        ElementKind::F32
    }

    fn extents(&self) -> (usize, usize) {
        EXTENTS
    }

    fn numbers(&self) -> usize {
        EXTENTS.0 * EXTENTS.1
    }

    fn tiles(&self) -> (u32, u32) {
        let all = self.operands.tiling.blocks.tiles();
        ((CHUNK / self.operands.tiling.block.k).clamp(1, all.max(1)), all)
    }

    fn strip_bytes(&self) -> [usize; 2] {
        let depth = self.depth(&(0..self.tiles().0)) * self.parts.each();
        [EXTENTS.0, EXTENTS.1].map(|extent| extent * depth * size_of::<[f32; 3]>())
    }

    fn pack(&self, side: usize, strip: u32, tiles: Range<u32>, into: &mut Panel) {
        let operand = OperandKind::BOTH[side];
        let (extent, all) = ([EXTENTS.0, EXTENTS.1][side], self.operands.matrix(operand).extents.0);
        let first = strip as usize * extent;
        let depth = self.depth(&tiles) * self.parts.each();
        let values =
            self.parts.taken(operand, self.rows(operand, first..all.min(first + extent), tiles));
        *into = Panel::of(&self.instruction, operand, depth, values);
    }

    fn multiply(&self, [a, b]: [&Panel; 2], accumulators: &mut [f32]) {
        accumulate(&self.instruction, a, b, accumulators, EXTENTS.1);
    }

    fn parts(&self, _: (u32, u32)) -> Vec<(u32, u32)> {
        self.operands.tiling.parts()
    }

    fn most_parts(&self) -> usize {
        self.operands.tiling.split_k as usize
    }

    /// Adds in `f32`. For `f16` accumulators, the sum is rounded to `f16` once.
    fn add(&self, parts: &[&[f32]], accumulators: &mut [f32]) {
        for (i, sum) in accumulators.iter_mut().enumerate() {
            *sum = sum_of_parts(parts.len(), PARTS_AT_ONCE as usize, |part| parts[part][i]);
            if self.operands.class.accumulator == ElementKind::F16 {
                *sum = F16::from_f32(*sum).to_f32();
            }
        }
    }

    fn unscale(&self, tile: (u32, u32), accumulators: &mut [f32]) {
        let (scales, product) = self.scales;
        for (at, sum) in accumulators.iter_mut().enumerate() {
            let row = tile.0 as usize * EXTENTS.0 + at / EXTENTS.1;
            match scales.shift(product, row, tile.1 as usize * EXTENTS.1 + at % EXTENTS.1) {
                Some(shift) => *sum = (scales.unscaled)(*sum, shift),
                None => return,
            }
        }
    }
}
