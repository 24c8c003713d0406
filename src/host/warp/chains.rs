//! Accumulators as chains of fused multiply-adds. Packed panels follow the composition, and SIMD
//! vectors multiply them.

use crate::{
    Error,
    host::{
        operands::{Operands, Tiling},
        threadblock::{
            fast::Arithmetic,
            mma::{composition::Composition, pack::Packing},
            units::TileSlices,
        },
        warp::microkernel::{Product, ROWS, register_columns},
    },
    numeric::{Accumulator, ElementKind, Number, sum_slices},
    shape::OperandKind,
    sys::simd::dispatch,
    threadblock::SLICES_AT_ONCE,
};
use core::ops::Range;

/// K-depth of one packing step, in elements. Eight rows and a few columns of this depth fit into
/// the L1 cache, and the panels fit into the L2 cache.
const CHUNK: u32 = 256;

/// All CTAs of one GEMM, computed through the composition of its program.
pub(in crate::host) struct Chains<'a, T> {
    operands: Operands<'a>,
    composition: &'a Composition,
    /// Number of k per instruction, for accumulators whose result depends on the grouping.
    step: u32,
    /// Whether accumulators are already in row-major order of the tile.
    whole: bool,
    /// The stream-K slices of each tile, for a stream-K kernel.
    streams: Option<&'a TileSlices>,
    packings: [Packing<'a, T>; 2],
}

impl<'a, T: Accumulator + Number> Chains<'a, T> {
    /// Prepares a GEMM for a composition whose instructions each add `step` products.
    ///
    /// # Errors
    /// [`Error::Refused`] if the accumulator type cannot represent the operands' elements.
    pub fn new(
        operands: Operands<'a>,
        (composition, step): (&'a Composition, u32),
        streams: Option<&'a TileSlices>,
    ) -> Result<Self, Error> {
        let whole = composition.is_whole(operands.tiling.warp_slices);
        let packing = |operand, widest| Packing::new(operands, composition, operand, widest);
        let packings =
            [packing(OperandKind::A, ROWS)?, packing(OperandKind::B, register_columns::<T>())?];
        Ok(Self { operands, composition, step, whole, streams, packings })
    }
}

impl<T: Accumulator + Number> Arithmetic for Chains<'_, T> {
    type Number = T;
    type Strip = Vec<T>;

    fn kind(&self) -> ElementKind {
        T::KIND
    }

    fn extents(&self) -> (usize, usize) {
        let block = self.operands.tiling.block;
        (block.m as usize, block.n as usize)
    }

    /// Counts the accumulators of all warp slices.
    fn numbers(&self) -> usize {
        self.composition
            .shares
            .iter()
            .map(|share| share.panels[0].slots() * share.panels[1].slots())
            .sum()
    }

    fn tiles(&self) -> (u32, u32) {
        let all = self.operands.tiling.blocks.tiles();
        ((CHUNK / self.operands.tiling.block.k).clamp(1, all.max(1)), all)
    }

    fn k_division(&self) -> (&Tiling, Option<&TileSlices>) {
        (&self.operands.tiling, self.streams)
    }

    fn add(&self, partials: &[&[T]], accumulators: &mut [T]) {
        for (i, sum) in accumulators.iter_mut().enumerate() {
            *sum = sum_slices(partials.len(), SLICES_AT_ONCE as usize, |slice| partials[slice][i]);
        }
    }

    fn strip_bytes(&self) -> [usize; 2] {
        let step = self.tiles().0 as usize;
        [0, 1].map(|side: usize| step * self.packings[side].elements_per_tile() * size_of::<T>())
    }

    fn pack(&self, side: usize, strip: u32, tiles: Range<u32>, into: &mut Vec<T>) {
        into.resize(self.packings[side].elements_per_tile() * tiles.len(), T::default());
        self.packings[side].pack(strip, tiles, into);
    }

    fn multiply(&self, [a, b]: [&Vec<T>; 2], mut accumulators: &mut [T]) {
        let (mut a, mut b) = (&a[..], &b[..]);
        let tiles = a.len() / self.packings[0].elements_per_tile().max(1);
        for share in &self.composition.shares {
            let [rows, columns] = [0, 1].map(|side: usize| share.panels[side].slots());
            let (panel_a, panel_b);
            (panel_a, a) = a.split_at(share.panels[0].elements.len() * tiles);
            (panel_b, b) = b.split_at(share.panels[1].elements.len() * tiles);
            let (own, others) = accumulators.split_at_mut(rows * columns);
            accumulators = others;
            let (widest, step) = (self.packings[1].widest, self.step as usize);
            dispatch(Product {
                a: panel_a,
                b: panel_b,
                rows,
                columns,
                widest,
                step,
                accumulators: own,
            });
        }
    }

    /// Adds the warp slices in order, and moves each accumulator to the place where its thread
    /// stores it.
    fn finish(&self, accumulators: &mut [T]) {
        let (rows, columns) = self.extents();
        let area = rows * columns;
        if self.whole {
            let (tile, others) = accumulators.split_at_mut(area);
            for warp_slice in others.chunks_exact(area) {
                tile.iter_mut().zip(warp_slice).for_each(|(sum, other)| *sum = sum.plus(*other));
            }
            return;
        }
        let mut tile = vec![T::default(); area];
        let mut rest = &*accumulators;
        for share in &self.composition.shares {
            let [rows, stored] = &share.panels;
            for &row in &rows.stored {
                let (line, others) = rest.split_at(stored.slots());
                rest = others;
                for (sum, &column) in line.iter().zip(&stored.stored) {
                    let to = &mut tile[row as usize * columns + column as usize];
                    *to = if share.warp_slice == 0 { *sum } else { to.plus(*sum) };
                }
            }
        }
        accumulators[..area].copy_from_slice(&tile);
    }
}
