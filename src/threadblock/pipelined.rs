//! Pipelined main loop: two stages, copied through registers.
//!
//! While the warps multiply tile `t`, each thread holds its share of tile `t + 1` in registers. It
//! stores this share to the other stage before the last k-block, so each tile needs one barrier.
//! Fragments are double-buffered: k-block `g + 1` loads while `g` multiplies. Supports every
//! architecture, alignment, and element type.
//!
//! Twin: `kernels/threadblock/pipelined.cuh`.

use crate::{
    schedule::{Schedule, Step},
    shape::Mnk,
    threadblock::MmaBase,
};

/// Knobs of the pipelined main loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PipelinedKnobs {
    /// Threadblock tile in elements.
    pub threadblock: Mnk,
}

/// Returns the schedule of the main loop.
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
    // If a tile has one k-block, it is stored before it is multiplied, so the prologue fetches the
    // next tile.
    prologue.extend((k_blocks == 1).then_some(Step::Fetch));
    prologue.extend([Step::Barrier, Step::Load { k_block: 0 }]);
    Schedule { prologue, body, ..Schedule::default() }
}
