//! Multistage main loop: any number of stages, filled by asynchronous copies (`cp.async`).
//!
//! ```text
//! for each k-tile t    cp.async of t + stages - 1 | multiply t | wait for the copies of t + 1 | barrier
//! ```
//!
//! While one tile is multiplied, `stages - 1` tiles are in flight. The copies of one tile are one
//! commit group. Before the last k-block, each thread waits until the group of the next tile has
//! completed. A barrier then makes the copies of all threads visible. The copies of a tile are
//! issued in `COPY_PARTS` batches. Requires sm_80 or newer and accesses of 4, 8, or 16 bytes.
//!
//! CUTLASS: `MmaMultistage`. Twin: `kernels/threadblock/multistage.cuh`.

use crate::{
    arch::ArchKind,
    nest::knob_struct,
    refusal::{Field, Operand, Refusal, rules::within},
    schedule::{Schedule, Step},
    shape::Mnk,
    threadblock::{
        MainloopKind, MmaBase, StagedOperand,
        mainloop::{LEAST_COPY, MOST_STAGES, is_too_narrow},
        mma::accesses,
    },
};

// Knobs.

knob_struct! {
    /// Knobs of the multistage main loop.
    pub struct MultistageKnobs {
        /// Threadblock tile in elements.
        pub threadblock: Mnk = Mnk::ZERO,
        /// Number of stages in shared memory, 2 to 16.
        pub stages: u32 = 0,
    }
}

/// Number of k-blocks, from the first one on, over which the copies of a tile are spread. Measured:
/// a single batch delays the multiplications, and each further batch adds instructions. The
/// notebook that `book/src/lessons.md` names has the table.
const COPY_PARTS: u8 = 2;

impl MultistageKnobs {
    // Rules.

    /// Checks that the architecture has asynchronous copies, and the number of stages. `other` is a
    /// main loop that copies through registers and feeds the same MMA.
    pub(crate) const fn check(
        &self,
        arch: ArchKind,
        other: Option<MainloopKind>,
    ) -> Result<(), Refusal> {
        if !arch.copies_asynchronously() {
            let words = match other {
                Some(other) => Some(other.advice_or_sm80()),
                None => None,
            };
            return Err(Refusal::no_asynchronous_copy(arch, words));
        }
        within(Field::Stages, self.stages as u64, 2, MOST_STAGES as u64)
    }

    /// Checks that asynchronous copies support the accesses of an operand. A wider access helps
    /// only if it divides the tile, and if its elements stay adjacent in shared memory. `other` is
    /// a main loop that copies through registers and feeds the same MMA.
    pub(crate) const fn check_copies(
        operand: Operand,
        staged: &StagedOperand,
        other: Option<MainloopKind>,
    ) -> Result<(), Refusal> {
        let element = staged.element;
        if is_too_narrow(element, staged.access) {
            let wider = element.elements_in(LEAST_COPY);
            let helps = !staged.transposes()
                && staged.smem.vector(wider) == wider
                && staged.tile_contiguous().is_multiple_of(wider);
            let words = match other {
                Some(other) => Some([other.name(), other.advice()]),
                None => None,
            };
            let (bytes, nearest) = (staged.access_bytes(), if helps { wider } else { 0 });
            return Err(Refusal::copy_width(operand, bytes, nearest, words));
        }
        let run = staged.shared_access();
        if run < staged.access {
            let nearest = if is_too_narrow(element, run) { 0 } else { run };
            let words = match other {
                Some(other) => Some(other.advice_or_layout()),
                None => None,
            };
            return Err(Refusal::copy_not_whole(operand, staged.access, run, nearest, words));
        }
        Ok(())
    }

    // Maps: those of the copies, in `src/threadblock/thread_map.rs`.

    // Steps, which the host executes and the C++ template performs.

    /// Returns the schedule of all threads.
    pub(crate) fn schedule(base: &MmaBase) -> Schedule {
        let k_blocks = base.k_blocks() as u8;
        // The commit group of a tile is complete before the last k-block.
        let parts = COPY_PARTS.min(k_blocks.saturating_sub(1)).max(1);
        let landed = Step::Wait { pending: base.stages as u8 - 2 };
        let mut prologue =
            [Step::Copy { part: 0, of: 1 }, Step::Commit].repeat(base.stages as usize - 1);
        prologue.extend([landed, Step::Barrier, Step::Load { k_block: 0 }]);
        let counts = base.operands.map(|operand| operand.thread_map().accesses());
        let mut body = Vec::new();
        for k_block in 0..k_blocks {
            // A batch without accesses has no step.
            let copies = k_block < parts
                && accesses(counts, u32::from(k_block), u32::from(parts)).next().is_some();
            let mut copy = copies.then_some(Step::Copy { part: k_block, of: parts });
            if k_block + 1 == k_blocks {
                // If a tile has one k-block, its copies also come before the end of their commit
                // group.
                body.extend(copy.take());
                body.extend([Step::Commit, landed, Step::Barrier, Step::Advance]);
            }
            body.extend(base.k_block_steps(k_block, copy));
        }
        Schedule { prologue, body, ..Schedule::default() }
    }

    // C++.

    /// Header and name of the template.
    pub(crate) const CUDA: [&'static str; 2] =
        ["threadblock/multistage.cuh", "threadblock::MmaMultistage"];

    // Cost.

    /// Returns 1, because copies and multiplications overlap, and the latency of a step along K.
    pub(crate) const fn cost() -> (u64, f64) {
        (1, 2600.0)
    }
}
