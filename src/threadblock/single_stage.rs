//! Single-stage main loop: copy a tile, synchronize, multiply it, and synchronize again.
//!
//! Copies and multiplications do not overlap within a block. Only other blocks of the same SM hide
//! the copy latency. The k-blocks of a tile form one loop, as in a naive kernel;
//! [`UnrollKind`] determines how far the compiler unrolls it. Supports
//! every architecture, alignment, and element type.
//!
//! Twin: `kernels/threadblock/single_stage.cuh`.

use crate::{
    schedule::{Schedule, Step},
    shape::Mnk,
    warp::UnrollKind,
};

/// Knobs of the single-stage main loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SingleStageKnobs {
    /// Threadblock tile in elements.
    pub threadblock: Mnk,
    /// Unrolling of the loop over a tile's k-blocks.
    pub unroll: UnrollKind,
}

/// Returns the schedule of the main loop.
pub(crate) fn schedule() -> Schedule {
    let body = vec![
        Step::Fetch,
        Step::Store,
        Step::Barrier,
        Step::MultiplyTile,
        Step::Barrier,
        Step::Advance,
    ];
    Schedule { body, ..Schedule::default() }
}
