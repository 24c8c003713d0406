//! The main loop with any number of stages, filled by asynchronous copies.
//!
//! `stages - 1` tiles are under way while one is multiplied. Each tile is one group of copies;
//! before the last k-block a thread waits until the group of the next tile has landed, and a
//! barrier makes all threads' copies visible. The copies of a tile are made in `COPY_PARTS`
//! bunches. Sm80 and newer; accesses of 4, 8 or 16 bytes.
//!
//! Twin: `kernels/threadblock/mma_multistage.cuh`.

use super::{MmaBase, mma::accesses};
use crate::schedule::{Schedule, Step};

/// Over how many k-blocks, from the first on, the copies of a tile are spread. Measured: one bunch
/// keeps the multiplications waiting, and each bunch costs instructions of its own; the
/// notebook that `book/src/lessons.md` names has the table.
const COPY_PARTS: u8 = 2;

/// The order of steps of [`MainloopKind::Multistage`](super::MainloopKind::Multistage).
pub(super) fn schedule(base: &MmaBase) -> Schedule {
    let k_blocks = base.k_blocks() as u8;
    // Before the last k-block the tile's group is complete.
    let parts = COPY_PARTS.min(k_blocks.saturating_sub(1)).max(1);
    let landed = Step::Wait { pending: base.stages as u8 - 2 };
    let mut prologue =
        [Step::Copy { part: 0, of: 1 }, Step::Commit].repeat(base.stages as usize - 1);
    prologue.extend([landed, Step::Barrier, Step::Load { k_block: 0 }]);
    let counts = base.operands.map(|operand| operand.thread_map().accesses());
    let mut body = Vec::new();
    for k_block in 0..k_blocks {
        // A part without accesses is no step.
        let copies = k_block < parts
            && accesses(counts, u32::from(k_block), u32::from(parts)).next().is_some();
        let mut copy = copies.then_some(Step::Copy { part: k_block, of: parts });
        if k_block + 1 == k_blocks {
            // Those of a tile of one k-block, too, come before their group ends.
            body.extend(copy.take());
            body.extend([Step::Commit, landed, Step::Barrier, Step::Advance]);
        }
        body.extend(base.turn(k_block, copy));
    }
    Schedule { prologue, body, ..Schedule::default() }
}
