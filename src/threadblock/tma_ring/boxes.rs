//! Consumers on the CUDA cores: each thread multiplies its own tile in true `f32`.
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
//! | `threadblock` | tile of a block; its K extent is 8 to 64 |
//! | `warp` | tile of a *warp*, with the same K extent: four warps are a consumer, and M runs fastest, as in the main loops with one schedule |
//! | `instruction` | tile of a *thread*: 4 to 16 along M and N, 1 along K. A warp is a grid of 32 thread tiles, 2 to 16 of them along M |
//! | `cluster` | as on tensor cores; each block copies the parts of whole warps |
//! | `align_c` | elements of D per store of a thread, 4 at most |
//!
//! A call first transposes a K-major operand into its workspace.
//!
//! Twin: `kernels/threadblock/tma_ring/simt.cuh`.

use crate::{
    operand::OperandKind,
    smem::{BoxedTile, SmemTile},
    threadblock::tma_ring::WarpSpecialized,
};

impl WarpSpecialized {
    /// Returns the tile of an operand in one stage as threads read it: a sequence of TMA boxes.
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
