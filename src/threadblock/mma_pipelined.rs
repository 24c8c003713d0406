//! The main loop with two stages, through registers.
//!
//! While the warps multiply tile `t`, each thread holds its part of tile `t + 1` in registers, and
//! stores it to the other stage before the last k-block: one barrier a tile. Fragments are
//! double-buffered: k-block `g + 1` loads while `g` multiplies. Any architecture, any alignment,
//! any element type.
//!
//! Twin: `kernels/threadblock/mma_pipelined.cuh`.

use super::MmaBase;
use crate::schedule::{Schedule, Step};

/// The order of steps of [`MainloopKind::Pipelined`](super::MainloopKind::Pipelined).
pub(super) fn schedule(base: &MmaBase) -> Schedule {
    let k_blocks = base.k_blocks() as u8;
    let mut body = Vec::new();
    for k_block in 0..k_blocks {
        if k_block + 1 == k_blocks {
            body.extend([Step::Store, Step::Barrier, Step::Advance]);
        }
        body.extend(base.turn(k_block, (k_block == 0).then_some(Step::Fetch)));
    }
    let mut prologue = vec![Step::Fetch, Step::Store];
    // A tile of one k-block is stored before it is multiplied, so what follows it has been fetched
    // by then.
    prologue.extend((k_blocks == 1).then_some(Step::Fetch));
    prologue.extend([Step::Barrier, Step::Load { k_block: 0 }]);
    Schedule { prologue, body, ..Schedule::default() }
}
