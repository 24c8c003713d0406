//! Single-stage main loop: copy a tile, synchronize, multiply it, and synchronize again.
//!
//! ```text
//! for each k-tile      registers <- global memory, stage <- registers | barrier | multiply the tile | barrier
//! ```
//!
//! Copies and multiplications do not overlap within a block. Only other blocks of the same SM hide
//! the copy latency. The k-blocks of a tile form one loop, as in a naive kernel; [`UnrollKind`]
//! determines how far the compiler unrolls it. Supports every architecture, alignment, and element
//! type.
//!
//! CUTLASS: `MmaSingleStage`. Twin: `kernels/threadblock/single_stage.cuh`.

use crate::{
    nest::knob_struct,
    refusal::{Field, Refusal, rules::within},
    schedule::{Schedule, Step},
    shape::Mnk,
    warp::UnrollKind,
};

// Knobs.

knob_struct! {
    /// Knobs of the single-stage main loop.
    pub struct SingleStageKnobs {
        /// Threadblock tile in elements.
        pub threadblock: Mnk = Mnk::ZERO,
        /// Unrolling of the loop over a tile's k-blocks.
        pub unroll: UnrollKind = UnrollKind::Full,
    }
}

impl SingleStageKnobs {
    /// Number of stages in shared memory.
    pub(crate) const STAGES: u32 = 1;

    // Rules.

    /// Checks the pinned number of stages.
    pub(crate) const fn check_stages(stages: u32) -> Result<(), Refusal> {
        within(Field::Stages, stages as u64, 1, 1)
    }

    /// Checks the unrolling for warp tiles of depth `warp_k`.
    pub(crate) const fn check(&self, warp_k: u32) -> Result<(), Refusal> {
        match self.unroll {
            UnrollKind::Full => Ok(()),
            UnrollKind::By(k_blocks) => within(Field::Unroll, k_blocks as u64, 1, warp_k as u64),
        }
    }

    // Maps: those of the copies, in `src/threadblock/thread_map.rs`.

    // Steps, which the host executes and the C++ template performs.

    /// Returns the schedule of all threads.
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

    // C++.

    /// Header and name of the template.
    pub(crate) const CUDA: [&'static str; 2] =
        ["threadblock/single_stage.cuh", "threadblock::MmaSingleStage"];

    // Cost.

    /// Returns the number of times that a k-tile occupies a block, because copies and
    /// multiplications do not overlap, and the latency of a step along K.
    pub(crate) const fn cost() -> (u64, f64) {
        (2, 9000.0)
    }
}
