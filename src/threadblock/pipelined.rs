//! Pipelined main loop: two stages, copied through registers.
//!
//! ```text
//! for each k-tile t    registers <- global memory of t + 1 | multiply t | other stage <- registers | barrier
//! ```
//!
//! While the warps multiply tile `t`, each thread holds its share of tile `t + 1` in registers. It
//! stores this share to the other stage before the last k-block, so each tile needs one barrier.
//! Fragments are double-buffered: k-block `g + 1` loads while `g` multiplies. Supports every
//! architecture, alignment, and element type.
//!
//! CUTLASS: `MmaPipelined`. Twin: `kernels/threadblock/pipelined.cuh`.

use crate::{
    nest::knob_struct,
    refusal::{Field, Refusal, rules::within},
    schedule::{Schedule, Step},
    shape::{Mnk, at_least_one},
    threadblock::{MainloopKind, MmaBase},
};

// Knobs.

knob_struct! {
    /// Knobs of the pipelined main loop.
    pub struct PipelinedKnobs {
        /// Threadblock tile in elements.
        pub threadblock: Mnk = Mnk::ZERO,
    }
}

impl PipelinedKnobs {
    /// Number of stages in shared memory.
    pub(crate) const STAGES: u32 = 2;

    // Rules.

    /// Checks the pinned number of stages.
    pub(crate) const fn check_stages(stages: u32) -> Result<(), Refusal> {
        let other = match MainloopKind::with_stages(None) {
            Some(ring) => Some(ring.advice_from_sm80()),
            None => None,
        };
        if stages > Self::STAGES {
            return Err(Refusal::pipelined_stages(stages, other));
        }
        within(Field::Stages, stages as u64, 2, 2)
    }

    // Maps: those of the copies, in `src/threadblock/thread_map.rs`.

    // Steps, which the host executes and the C++ template performs.

    /// Returns the schedule of all threads.
    pub(crate) fn schedule(base: &MmaBase) -> Schedule {
        let k_blocks = base.k_blocks() as u8;
        let mut body = Vec::new();
        for k_block in 0..k_blocks {
            if k_block + 1 == k_blocks {
                body.extend([Step::Store, Step::Barrier, Step::Advance]);
            }
            body.extend(base.k_block_steps(k_block, (k_block == 0).then_some(Step::Fetch)));
        }
        let mut prologue = vec![Step::Fetch, Step::Store];
        // If a tile has one k-block, it is stored before it is multiplied, so the prologue fetches
        // the next tile.
        prologue.extend((k_blocks == 1).then_some(Step::Fetch));
        prologue.extend([Step::Barrier, Step::Load { k_block: 0 }]);
        Schedule { prologue, body, ..Schedule::default() }
    }

    // C++.

    /// Header and name of the template.
    pub(crate) const CUDA: [&'static str; 2] =
        ["threadblock/pipelined.cuh", "threadblock::MmaPipelined"];

    // Cost.

    /// Returns 1, because copies and multiplications overlap, and the latency of a step along K. A
    /// k-tile that is copied through registers waits for two barriers and the loads.
    pub(crate) const fn cost(&self) -> (u64, f64) {
        const THROUGH_REGISTERS: f64 = 230_000.0;
        (1, THROUGH_REGISTERS / at_least_one(self.threadblock.k) as f64)
    }
}

#[cfg(test)]
mod tests {
    use crate::{arch::ArchKind, nest::Request, threadblock::MainloopKind};

    /// No asynchronous copy has two bytes.
    #[test]
    fn access_of_one_half_needs_the_pipelined_main_loop() {
        let [a, b] = ["f16:row", "f16:col"].map(|text| text.parse().ok());
        let knobs = vec![("align_a".to_owned(), "1".to_owned())];
        let request = Request { a, b, op: None, knobs, ..Request::default() };
        let desc = request.resolve(ArchKind::Sm80).expect("a kernel").desc;
        assert_eq!(desc.mainloop.kind(), MainloopKind::Pipelined);
    }
}
