//! The main loop with one stage: copy a tile, meet, multiply it, meet again.
//!
//! Nothing overlaps: while a tile is copied nobody multiplies, unless another block of the
//! multiprocessor does. The k-blocks of a tile are one loop, as in a kernel that is written down
//! for the first time; [`UnrollKind`](crate::warp::UnrollKind) says how much of it the compiler
//! unrolls. Any architecture, any alignment, any element type.
//!
//! Twin: `kernels/threadblock/mma_single_stage.cuh`.

use crate::schedule::{Schedule, Step};

/// The order of steps of [`MainloopKind::SingleStage`](super::MainloopKind::SingleStage).
pub(super) fn schedule() -> Schedule {
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
