//! Where a consumer's accumulators lie in the workspace, of a kernel whose K is cut into parts.
//!
//! Each part of a tile of D has a slot, and in that each consumer that shares the tile: four
//! accumulators of a thread side by side, which move in one access, and the threads' one behind
//! another.
//!
//! ```text
//! place = (accumulator / 4 * threads + thread) * 4 + accumulator mod 4
//! ```
//!
//! Twin: `kernels/epilogue/partials.cuh`.

use crate::{
    index::{Coord, IndexMap, affine, at},
    layout::algebra::Composed,
    threadblock::{WarpSpecialized, consumer_registers::TOGETHER, pipeline::WARPS},
};

/// The map (thread, accumulator) of a consumer to a place in its part of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotMap {
    threads: u32,
    accumulators: u32,
}

impl SlotMap {
    /// That of a description's components.
    pub const fn of(components: &WarpSpecialized) -> Self {
        Self { threads: WARPS * 32, accumulators: components.numbers() }
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
