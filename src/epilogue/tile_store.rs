//! Store of a thread's accumulators to D.
//!
//! Accumulator (i, j) of a thread belongs to row `fragment_a(thread, i)` and column
//! `fragment_b(thread, j)` of the block's tile. Neighbors along N are stored together as far as
//! alignment allows. If stores are single elements, lanes on CUDA cores first exchange their
//! accumulators ([`BlockedToStriped`](crate::warp::exchange::BlockedToStriped)). With sliced K,
//! warp slices 1, 2, .. pass their accumulators to warp slice 0 through shared memory, one slice
//! after another. Partial accumulators are therefore added in the order of the warp slices:
//!
//! ```text
//! place = accumulator * threads_per_warp_slice + thread mod threads_per_warp_slice
//! ```
//!
//! Twin: `kernels/epilogue/tile_store.cuh`.

use crate::{
    layout::{
        algebra::Composed,
        index_map::{Coord, IndexMap, affine},
    },
    numeric::sum_of,
    shape::{OperandKind, at_least_one},
    threadblock::{MmaBase, SLICES_AT_ONCE, WorkKind},
    warp::{ThreadTiles, thread_maps::FragmentMap},
};

/// Returns the number of accumulators of each of [`SLICES_AT_ONCE`] split-K slices that a thread
/// loads at a time. `needed` is the number of registers that the main loop needs, and `registers`
/// the number available.
///
/// Each round of loads waits for the L2 cache, so more loads per round are faster; free registers
/// bound them. The budget is the registers of the accumulators, which are free by then, or 64, but
/// leaves 64 registers for other values. There are three exceptions:
///
/// - With 32 to 63 accumulator registers and sliced K, the budget is only these, because more would
///   reduce occupancy.
/// - Stream-K keeps facts of its units in registers and would spill, so it uses 16 or 32.
/// - If the main loop needs nearly all registers, the budget is at most 64.
pub(crate) const fn sums_ahead(base: &MmaBase, [needed, registers]: [u32; 2]) -> u32 {
    const OTHERS: u32 = 64;
    const NEARLY_NONE: u32 = 16;
    let count = at_least_one(base.tiles.accumulators());
    let words = sum_of(base.accumulator).bits().div_ceil(32);
    let own = count.saturating_mul(words);
    let takes_own = match own {
        0..32 => false,
        32..64 => base.tiles.warps().k > 1,
        _ => registers.saturating_sub(needed) >= NEARLY_NONE,
    };
    let wanted = if takes_own { own } else { 64 };
    let (few, rest) = (if own < 32 { 16 } else { 32 }, registers.saturating_sub(OTHERS));
    let taken = match base.work {
        WorkKind::StreamK => few,
        _ if rest < few => few,
        _ if wanted < rest => wanted,
        _ => rest,
    };
    let mut most = at_least_one(taken / words / SLICES_AT_ONCE);
    while !count.is_multiple_of(most) {
        most -= 1;
    }
    most
}

/// Map from (thread, accumulator) to `row * tile_n + column` of the block's tile, for one warp
/// slice.
#[derive(Clone, Copy, Debug)]
pub struct AccumulatorMap(pub ThreadTiles);

impl IndexMap for AccumulatorMap {
    fn domain(&self) -> Coord {
        Coord { row: self.0.threads_per_warp_slice(), column: self.0.accumulators() }
    }

    fn codomain(&self) -> u32 {
        self.0.block.m * self.0.block.n
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let (a, b) =
            (FragmentMap::new(self.0, OperandKind::A), FragmentMap::new(self.0, OperandKind::B));
        let columns = b.domain().column;
        let (row, column) =
            (a.mn(point.row, point.column / columns), b.mn(point.row, point.column % columns));
        Some(row * self.0.block.n + column)
    }

    fn layout(&self) -> Option<Composed> {
        let n = self.0.block.n;
        let sides =
            [self.0.fragment_modes(OperandKind::B, 1), self.0.fragment_modes(OperandKind::A, n)];
        affine(self.domain(), &self.0.modes([n, 1]), sides.as_flattened())
    }
}

/// Map from (thread, accumulator) to the offset of the partial accumulator of a warp slice in
/// shared memory, or of a split-K slice in its slot, in accumulators.
#[derive(Clone, Copy, Debug)]
pub struct PartialsMap(pub ThreadTiles);

impl IndexMap for PartialsMap {
    fn domain(&self) -> Coord {
        Coord { row: self.0.threads_per_warp_slice(), column: self.0.accumulators() }
    }

    fn codomain(&self) -> u32 {
        self.0.threads_per_warp_slice() * self.0.accumulators()
    }

    fn at(&self, point: Coord) -> Option<u32> {
        Some(point.column * self.0.threads_per_warp_slice() + point.row)
    }

    fn layout(&self) -> Option<Composed> {
        let Coord { row, column } = self.domain();
        affine(self.domain(), &[(row, 1)], &[(column, row)])
    }
}
