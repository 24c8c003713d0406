//! Blocks of the fast mode: panels packed once for all blocks that read them, multiplied with wide vectors.

use super::{
    Fault,
    microkernel::{Product, ROWS, columns_abreast},
    pack::Packing,
    plan::Plan,
    run::Typed,
};
use crate::{
    desc::OperandKind,
    numeric::{Accumulator, Combination},
    sys::simd::dispatch,
};
use core::ops::Range;
use rayon::prelude::*;

/// K that is packed at once: eight rows and a few columns of it stay in the first-level cache, the panels in the second.
const CHUNK: u32 = 256;

/// Memory for the sums and panels of the blocks that are computed side by side; one block is always computed.
const BUDGET_BYTES: usize = 64 << 20;

/// All blocks of one product.
pub(super) struct FastBlocks<'a, T: Combination> {
    typed: &'a Typed<'a, T>,
    plan: &'a Plan,
    /// Whether sums come out row by row of the tile.
    whole: bool,
    packings: [Packing<'a, T>; 2],
}

/// Blocks that are computed side by side.
#[derive(Default)]
pub(super) struct Batch {
    /// The tile (row, column) of each.
    pub tiles: Vec<(u32, u32)>,
    /// The rows of tiles that occur, and the columns, in order.
    strips: [Vec<u32>; 2],
}

impl<'a, T: Combination> FastBlocks<'a, T> {
    pub fn new(typed: &'a Typed<'a, T>, plan: &'a Plan) -> Self {
        let whole = plan.is_whole(typed.desc.warps().k);
        let columns = columns_abreast::<T::Accumulator>();
        let packing = |operand, widest| Packing::new(typed, plan, operand, widest);
        Self { typed, plan, whole, packings: [packing(OperandKind::A, ROWS), packing(OperandKind::B, columns)] }
    }

    /// Tiles that are packed at once.
    fn step(&self) -> u32 {
        (CHUNK / self.typed.desc.threadblock.k).clamp(1, self.typed.tiles.max(1))
    }

    /// Sums of one block, all slices of K.
    fn sums_per_block(&self) -> usize {
        self.plan.shares.iter().map(|share| share.panels[0].slots() * share.panels[1].slots()).sum()
    }

    /// The next of `blocks`, as many as there is memory for.
    pub fn batch(&self, blocks: &mut Range<u32>, place: impl Fn(u32) -> Result<(u32, u32), Fault>) -> Result<Batch, Fault> {
        let strip_bytes =
            |side: usize| self.step() as usize * self.packings[side].elements_per_tile() * size_of::<T::Accumulator>();
        let (strips, block_bytes) = ([strip_bytes(0), strip_bytes(1)], self.sums_per_block() * size_of::<T::Accumulator>());
        let mut batch = Batch::default();
        let mut bytes = 0;
        while blocks.start < blocks.end && (bytes < BUDGET_BYTES || batch.tiles.is_empty()) {
            let tile = place(blocks.start)?;
            blocks.start += 1;
            bytes += block_bytes;
            for (side, strip) in [tile.0, tile.1].into_iter().enumerate() {
                if let Err(at) = batch.strips[side].binary_search(&strip) {
                    batch.strips[side].insert(at, strip);
                    bytes += strips[side];
                }
            }
            batch.tiles.push(tile);
        }
        Ok(batch)
    }

    /// The sums of each block of a batch, row by row of its tile, at the head of its piece of `sums`; the length of a piece.
    pub fn sums(&self, batch: &Batch, sums: &mut Vec<T::Accumulator>) -> usize {
        let piece = self.sums_per_block();
        sums.clear();
        sums.resize(batch.tiles.len() * piece, T::Accumulator::default());
        let step = self.step();
        let mut packed: [Vec<T::Accumulator>; 2] = Default::default();
        for first in (0..self.typed.tiles).step_by(step as usize) {
            let tiles = first..self.typed.tiles.min(first.saturating_add(step));
            let lengths = [0, 1].map(|side: usize| self.packings[side].elements_per_tile() * tiles.len());
            for side in [0, 1] {
                packed[side].resize(batch.strips[side].len() * lengths[side], T::Accumulator::default());
                let strips = packed[side].par_chunks_mut(lengths[side]).zip(&batch.strips[side]);
                strips.for_each(|(into, &strip)| self.packings[side].pack(strip, tiles.clone(), into));
            }
            sums.par_chunks_mut(piece).zip(&batch.tiles).for_each(|(sums, &(row, column))| {
                let strip = |side: usize, number: u32| {
                    let at = batch.strips[side].partition_point(|&strip| strip < number);
                    &packed[side][at * lengths[side]..][..lengths[side]]
                };
                self.multiply(strip(0, row), strip(1, column), tiles.len(), sums);
            });
        }
        sums.par_chunks_mut(piece).for_each(|sums| self.assemble(sums));
        piece
    }

    /// One block's products of two strips of panels.
    fn multiply(&self, mut a: &[T::Accumulator], mut b: &[T::Accumulator], tiles: usize, mut sums: &mut [T::Accumulator]) {
        for share in &self.plan.shares {
            let [rows, columns] = [0, 1].map(|side: usize| share.panels[side].slots());
            let (panel_a, panel_b);
            (panel_a, a) = a.split_at(share.panels[0].elements.len() * tiles);
            (panel_b, b) = b.split_at(share.panels[1].elements.len() * tiles);
            let (own, others) = sums.split_at_mut(rows * columns);
            sums = others;
            dispatch(Product { a: panel_a, b: panel_b, rows, columns, widest: self.packings[1].widest, sums: own });
        }
    }

    /// Adds the slices of K in order, and puts every sum where its thread stores it.
    fn assemble(&self, sums: &mut [T::Accumulator]) {
        let d = self.typed.desc;
        let columns = d.threadblock.n as usize;
        let area = d.threadblock.m as usize * columns;
        if self.whole {
            let (tile, slices) = sums.split_at_mut(area);
            for slice in slices.chunks_exact(area) {
                tile.iter_mut().zip(slice).for_each(|(sum, other)| *sum = sum.plus(*other));
            }
            return;
        }
        let mut tile = vec![T::Accumulator::default(); area];
        let mut rest = &*sums;
        for share in &self.plan.shares {
            let [rows, stored] = &share.panels;
            for &row in &rows.stored {
                let (line, others) = rest.split_at(stored.slots());
                rest = others;
                for (sum, &column) in line.iter().zip(&stored.stored) {
                    let to = &mut tile[row as usize * columns + column as usize];
                    *to = if share.slice == 0 { *sum } else { to.plus(*sum) };
                }
            }
        }
        sums[..area].copy_from_slice(&tile);
    }
}
