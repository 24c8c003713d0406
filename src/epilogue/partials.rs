//! Workspace layout of a consumer's partial accumulators under split-K.
//!
//! Each split-K slice of a tile of D has a slot, and each consumer of the tile has a part of the
//! slot. Four accumulators of a thread are contiguous and move in one access. The groups of four of
//! consecutive threads are contiguous.
//!
//! ```text
//! place = (accumulator / 4 * threads + thread) * 4 + accumulator mod 4
//! ```
//!
//! Twin: `kernels/epilogue/partials.cuh`.

use crate::{
    layout::{
        algebra::Composed,
        index_map::{Coord, IndexMap, affine, at},
    },
    warp::warpgroup::THREADS,
};

/// Accumulators per access when a thread moves them to or from a slot of the workspace.
pub(crate) const TOGETHER: u32 = 4;

/// Map from (thread, accumulator) of a consumer to an offset in its part of a slot, in
/// accumulators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotMap {
    threads: u32,
    accumulators: u32,
}

impl SlotMap {
    /// Returns the map of a consumer with `accumulators` accumulators per thread.
    pub const fn new(accumulators: u32) -> Self {
        Self { threads: THREADS, accumulators }
    }
}

impl IndexMap for SlotMap {
    fn domain(&self) -> Coord {
        at(self.threads, self.accumulators)
    }

    fn codomain(&self) -> u32 {
        self.threads * self.accumulators
    }

    fn at(&self, point: Coord) -> Option<u32> {
        Some(
            (point.column / TOGETHER * self.threads + point.row) * TOGETHER
                + point.column % TOGETHER,
        )
    }

    fn layout(&self) -> Option<Composed> {
        let (threads, accumulators) = (self.threads, self.accumulators);
        affine(
            self.domain(),
            &[(threads, TOGETHER)],
            &[(TOGETHER, 1), (accumulators / TOGETHER, threads * TOGETHER)],
        )
    }
}
