//! Consumers on the CUDA cores: each thread multiplies its own tile, true `f32`.
//!
//! ```text
//! for each k-tile                  A and B are MN-major: k rows of mn elements, boxes without a swizzle, one behind the other
//!     for each k of it             while one k is multiplied, the fragments of the next are read, 16 bytes at a time; during the
//!                                  last, those of the next tile's first, so that no warp waits between stages
//!         accumulators += a outer b        a fused multiply-add for each product, k ascending: the bits of every other main loop
//! epilogue, to D by the threads    from registers: nothing is staged
//! ```
//!
//! | knob | here |
//! |---|---|
//! | `threadblock` | what a block computes at a time, 8 to 64 of K deep |
//! | `warp` | what a *warp* computes, as deep: four of them are a consumer, and M runs fastest, as in the main loops of one schedule |
//! | `instruction` | what a *thread* computes: 4 to 16 each way, 1 deep. A warp is a grid of 32 of them, 2 to 16 down |
//! | `cluster` | as on tensor cores; each block copies whole warps' parts |
//! | `align_c` | elements of D that a thread stores at once, 4 at most |
//!
//! An operand that is K-major is transposed into the workspace of the call first.
//!
//! Twin: `kernels/threadblock/mma_warp_specialized/simt.cuh`.

use super::WarpSpecialized;
use crate::{
    operand::OperandKind,
    smem::{BoxedTile, SmemTile},
};

impl WarpSpecialized {
    /// An operand's tile of a stage, as threads read it: TMA boxes.
    pub const fn boxed_tile(&self, operand: OperandKind) -> BoxedTile {
        let tile = self.tile(operand);
        let one = SmemTile {
            along: tile.along(),
            mn: self.box_mn(operand),
            k: tile.k(),
            padding: 0,
            bits: 0,
            base: 0,
            shift: 0,
        };
        BoxedTile { one, mn: tile.mn() }
    }
}
