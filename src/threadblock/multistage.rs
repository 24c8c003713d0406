//! Multistage main loop: any number of stages, filled by asynchronous copies (`cp.async`).
//!
//! While one tile is multiplied, `stages - 1` tiles are in flight. The copies of one tile are one
//! commit group. Before the last k-block, each thread waits until the group of the next tile has
//! completed. A barrier then makes the copies of all threads visible. The copies of a tile are
//! issued in `COPY_PARTS` batches. Requires sm_80 or newer and accesses of 4, 8, or 16 bytes.
//!
//! Twin: `kernels/threadblock/multistage.cuh`.

use crate::{
    schedule::{Schedule, Step},
    shape::Mnk,
    threadblock::{MmaBase, mma::accesses},
};

/// Knobs of the multistage main loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MultistageKnobs {
    /// Threadblock tile in elements.
    pub threadblock: Mnk,
    /// Number of stages in shared memory, 2 to 16.
    pub stages: u32,
}

/// Number of k-blocks, from the first one on, over which the copies of a tile are spread. Measured:
/// a single batch delays the multiplications, and each further batch adds instructions. The
/// notebook that `book/src/lessons.md` names has the table.
const COPY_PARTS: u8 = 2;

/// Returns the schedule of the main loop.
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
            // If a tile has one k-block, its copies also come before the end of their commit group.
            body.extend(copy.take());
            body.extend([Step::Commit, landed, Step::Barrier, Step::Advance]);
        }
        body.extend(base.k_block_steps(k_block, copy));
    }
    Schedule { prologue, body, ..Schedule::default() }
}
