//! From a thread's accumulators to D.
//!
//! A thread's accumulator (i, j) belongs to row `fragment_a(thread, i)` and column `fragment_b(thread, j)` of the block's tile;
//! neighbours along N are stored together, as far as alignment goes. When K is sliced, the slices hand their accumulators to
//! slice 0 through shared memory, one after the other, so that partial accumulators are added in the order of the slices:
//!
//! ```text
//! place = accumulator * threads_per_slice + thread mod threads_per_slice
//! ```
//!
//! Twin: `kernels/epilogue/tile_store.cuh`.

use crate::{
    index::{Coord, IndexMap, affine},
    layout::algebra::Composed,
    operand::OperandKind,
    warp::mma_simt::{FragmentMap, ThreadTiles},
};

/// The map (thread, accumulator) to `row * tile_n + column` of the block's tile, for one slice of K.
#[derive(Clone, Copy, Debug)]
pub struct AccumulatorMap(pub ThreadTiles);

impl IndexMap for AccumulatorMap {
    fn domain(&self) -> Coord {
        Coord { row: self.0.threads_per_slice(), column: self.0.accumulators() }
    }

    fn codomain(&self) -> u32 {
        self.0.block.m * self.0.block.n
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let (a, b) = (FragmentMap::of(self.0, OperandKind::A), FragmentMap::of(self.0, OperandKind::B));
        let columns = b.domain().column;
        let (row, column) = (a.mn(point.row, point.column / columns), b.mn(point.row, point.column % columns));
        Some(row * self.0.block.n + column)
    }

    fn layout(&self) -> Option<Composed> {
        let n = self.0.block.n;
        let sides = [self.0.fragment_modes(OperandKind::B, 1), self.0.fragment_modes(OperandKind::A, n)];
        affine(self.domain(), &self.0.modes([n, 1]), sides.as_flattened())
    }
}

/// The map (thread, accumulator) to where a slice of K stores it, in accumulators.
#[derive(Clone, Copy, Debug)]
pub struct PartialsMap(pub ThreadTiles);

impl IndexMap for PartialsMap {
    fn domain(&self) -> Coord {
        Coord { row: self.0.threads_per_slice(), column: self.0.accumulators() }
    }

    fn codomain(&self) -> u32 {
        self.0.threads_per_slice() * self.0.accumulators()
    }

    fn at(&self, point: Coord) -> Option<u32> {
        Some(point.column * self.0.threads_per_slice() + point.row)
    }

    fn layout(&self) -> Option<Composed> {
        let Coord { row, column } = self.domain();
        affine(self.domain(), &[(row, 1)], &[(column, row)])
    }
}
