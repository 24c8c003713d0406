//! Host execution of tensor cores: sums each tile over K in the steps of the instruction.

use crate::{
    Error,
    host::{
        operands::{Operands, Product, Tiling},
        threadblock::{
            fast::{Arithmetic, Scratch, compute},
            units::TileSlices,
        },
        warp::emulation::{EmulationProgram, Scales},
    },
    numeric::{
        Accumulator, ElementKind, F16, Instruction, Multiplied, Panel, Widening, accumulate,
        emulation::RegisterTerms, sum_slices,
    },
    shape::{Frame, OperandKind},
    threadblock::SLICES_AT_ONCE,
};
use core::ops::Range;

/// Rows and columns that are summed at once if all tiles have the same split-K slices. The tile
/// does not change the accumulators.
const EXTENTS: (usize, usize) = (64, 128);

/// K-depth of one packing step, in elements.
const CHUNK: u32 = 256;

/// A GEMM whose accumulators are summed in the steps of an instruction.
pub(in crate::host) struct Steps<'a> {
    operands: Operands<'a>,
    /// The scales that are undone in the accumulators, and the number of the GEMM in its batch.
    scales: (Scales<'a>, usize),
    instruction: Instruction,
    /// The terms that the instruction reads of each element.
    terms: RegisterTerms,
    widenings: [Widening<f32>; 2],
    /// The stream-K slices of each tile, for a stream-K kernel.
    streams: Option<&'a TileSlices>,
    /// Rows and columns that are summed at once. Under stream-K, the tile of a CTA.
    extents: (usize, usize),
}

impl<'a> Steps<'a> {
    /// Prepares a GEMM for an instruction.
    ///
    /// # Errors
    /// [`Error::Refused`] if `f32` cannot represent the operands' elements.
    pub fn new(
        operands: Operands<'a>,
        scales: (Scales<'a>, usize),
        (instruction, terms): (Instruction, RegisterTerms),
        streams: Option<&'a TileSlices>,
    ) -> Result<Self, Error> {
        let widenings = [operands.widening(OperandKind::A)?, operands.widening(OperandKind::B)?];
        let block = operands.tiling.block;
        let extents = streams.map_or(EXTENTS, |_| (block.m as usize, block.n as usize));
        Ok(Self { operands, scales, instruction, terms, widenings, streams, extents })
    }

    /// Returns the rows and columns of the grid of tiles.
    pub fn grid(&self) -> (usize, usize) {
        let problem = &self.operands.problem;
        (problem.m.div_ceil(self.extents.0), problem.n.div_ceil(self.extents.1))
    }

    /// Returns rows of an operand over one warp slice of some k-tiles. Elements beyond K are zeros,
    /// so that all k-tiles are whole.
    fn rows(
        &self,
        operand: OperandKind,
        mn: Range<usize>,
        (tiles, warp_slice): (Range<u32>, usize),
    ) -> Vec<f32> {
        let (matrix, widening) = (self.operands.matrix(operand), self.widenings[operand.index()]);
        let (tile_k, slice_k) = (self.operands.tiling.block.k as usize, self.slice_k());
        let depth = tiles.len() * slice_k;
        let blocks = self.operands.tiling.blocks;
        let mut values = vec![0.0; mn.len() * depth];
        let mut line = vec![0.0; mn.len()];
        for (number, tile) in tiles.enumerate() {
            let k = blocks.block(operand, tile) as usize * tile_k + warp_slice * slice_k;
            let there = matrix.extents.1.saturating_sub(k).min(slice_k);
            if matrix.strides.1 == 1 {
                for (mn, row) in mn.clone().zip(values.chunks_exact_mut(depth)) {
                    (widening.row)(matrix.from(mn, k), &mut row[number * slice_k..][..there]);
                }
            } else {
                for k_of_slice in 0..there {
                    (widening.row)(matrix.from(mn.start, k + k_of_slice), &mut line);
                    let column = values[number * slice_k + k_of_slice..].iter_mut().step_by(depth);
                    column.zip(&line).for_each(|(to, from)| *to = *from);
                }
            }
        }
        values
    }

    /// Returns the number of warp slices of a k-tile. Each warp slice has its own accumulators.
    fn warp_slices(&self) -> usize {
        self.operands.tiling.warp_slices as usize
    }

    /// Returns the K-depth of a warp slice of a k-tile, in elements.
    fn slice_k(&self) -> usize {
        self.operands.tiling.block.k as usize / self.warp_slices()
    }
}

impl Arithmetic for Steps<'_> {
    type Number = f32;
    /// The panel of each warp slice.
    type Strip = Vec<Panel>;

    /// Returns `F32` for all accumulator types: `f16` accumulators are stored as `f32` numbers.
    fn kind(&self) -> ElementKind {
        ElementKind::F32
    }

    fn extents(&self) -> (usize, usize) {
        self.extents
    }

    fn numbers(&self) -> usize {
        self.warp_slices() * self.extents.0 * self.extents.1
    }

    fn tiles(&self) -> (u32, u32) {
        let all = self.operands.tiling.blocks.tiles();
        ((CHUNK / self.operands.tiling.block.k).clamp(1, all.max(1)), all)
    }

    fn strip_bytes(&self) -> [usize; 2] {
        let k = self.tiles().0 as usize * self.operands.tiling.block.k as usize;
        let depth = k * self.terms.each();
        [self.extents.0, self.extents.1].map(|extent| extent * depth * size_of::<[f32; 3]>())
    }

    fn pack(&self, side: usize, strip: u32, tiles: Range<u32>, into: &mut Vec<Panel>) {
        let operand = OperandKind::BOTH[side];
        let extent = [self.extents.0, self.extents.1][side];
        let (first, all) = (strip as usize * extent, self.operands.matrix(operand).extents.0);
        let depth = tiles.len() * self.slice_k() * self.terms.each();
        let panel = |warp_slice| {
            let rows =
                self.rows(operand, first..all.min(first + extent), (tiles.clone(), warp_slice));
            Panel::new(&self.instruction, operand, depth, self.terms.taken(operand, rows))
        };
        *into = (0..self.warp_slices()).map(panel).collect();
    }

    fn multiply(&self, [a, b]: [&Vec<Panel>; 2], accumulators: &mut [f32]) {
        let (rows, columns) = self.extents;
        for ((a, b), accumulators) in
            a.iter().zip(b).zip(accumulators.chunks_exact_mut(rows * columns))
        {
            accumulate(&self.instruction, a, b, accumulators, columns);
        }
    }

    /// Adds the warp slices in order, rounding each sum to the accumulator's type.
    fn finish(&self, accumulators: &mut [f32]) {
        let (tile, others) = accumulators.split_at_mut(self.extents.0 * self.extents.1);
        let halves = self.operands.desc.output.accumulator == ElementKind::F16;
        for warp_slice in others.chunks_exact(tile.len()) {
            for (sum, &other) in tile.iter_mut().zip(warp_slice) {
                *sum = if halves {
                    F16::from_f32(*sum).plus(F16::from_f32(other)).to_f32()
                } else {
                    sum.plus(other)
                };
            }
        }
    }

    fn k_division(&self) -> (&Tiling, Option<&TileSlices>) {
        (&self.operands.tiling, self.streams)
    }

    /// Adds in `f32`. For `f16` accumulators, the sum is rounded to `f16` once.
    fn add(&self, partials: &[&[f32]], accumulators: &mut [f32]) {
        for (i, sum) in accumulators.iter_mut().enumerate() {
            *sum = sum_slices(partials.len(), SLICES_AT_ONCE as usize, |slice| partials[slice][i]);
            if self.operands.desc.output.accumulator == ElementKind::F16 {
                *sum = F16::from_f32(*sum).to_f32();
            }
        }
    }

    fn unscale(&self, tile: (u32, u32), accumulators: &mut [f32]) {
        let (scales, product) = self.scales;
        for (at, sum) in accumulators.iter_mut().enumerate() {
            let row = tile.0 as usize * self.extents.0 + at / self.extents.1;
            let column = tile.1 as usize * self.extents.1 + at % self.extents.1;
            match scales.shift(product, row, column) {
                Some(shift) => *sum = (scales.unscaled)(*sum, shift),
                None => return,
            }
        }
    }
}

/// The terms of an instruction whose operands are not transformed in registers.
pub(in crate::host) const WHOLE: RegisterTerms =
    RegisterTerms { multiplied: [Multiplied::Stored; 2], frame: Frame::USER, k: 1 };

/// Computes D with accumulators that are summed in the steps of an instruction.
pub(in crate::host) fn stepped(
    product: &mut Product<'_>,
    scales: (Scales<'_>, usize),
    instruction: (Instruction, RegisterTerms),
    streams: Option<&TileSlices>,
) -> Result<(), Error> {
    let steps = Steps::new(product.operands, scales, instruction, streams)?;
    let grid @ (_, columns) = steps.grid();
    let place = |block| Ok((block / columns as u32, block % columns as u32));
    compute(&steps, grid, place, product, &mut Scratch::default())
}

/// Computes D with the steps of an instruction and without scaling. The instruction may belong to
/// any tensor-core kernel.
///
/// # Errors
/// [`Error::Refused`] if `f32` cannot represent the operands' elements.
pub(in crate::host) fn stepped_unscaled(
    product: &mut Product<'_>,
    instruction: (Instruction, RegisterTerms),
    streams: Option<&TileSlices>,
) -> Result<(), Error> {
    let scales = Scales {
        shifts: &Default::default(),
        lines: [[0; 2]; 2],
        unscaled: EmulationProgram::RIGHT.unscaled,
    };
    stepped(product, (scales, 0), instruction, streams)
}
