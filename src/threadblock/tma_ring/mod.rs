//! Warp-specialized main loop for Hopper. One producer warpgroup fills a ring of stages by TMA. The
//! consumer warpgroups multiply with `wgmma`; on CUDA cores for true `f32` (`op simt`); or with
//! `mma.sync` for `f64`. `src/warp/simt/tma_ring/mod.rs` and `src/warp/mma_sync/tma_ring/mod.rs`
//! describe the differences from `wgmma`.
//!
//! ```text
//! for each tile of D, in the order of the swizzle     CTAs are persistent, and take the next tile; a cluster takes as many as it has blocks
//!     producer:   for each k-tile                     wait until a stage is empty, copy A's and B's tile into it
//!     consumers:  for each k-tile                     wait until it is full, multiply, release the stage before it
//!                 for each subtile of the tile of D   epilogue, to a staging buffer, from there to D by TMA
//! ```
//!
//! A block computes one threadblock tile at a time; on tensor cores, its K extent is 128 bytes. The
//! warp tile is the tile of a consumer, which is a *warpgroup*. Its instruction is 64 x N, and a
//! consumer repeats the instruction along M and N. Under the cooperative schedule, all consumers
//! multiply one tile, each its own part. Under ping-pong, two consumers compute whole tiles, and
//! one multiplies while the other stores. [`WarpSpecialized`] describes the main loop in values of
//! its components.
//!
//! | knob | here |
//! |---|---|
//! | `stages` | stages of the ring, 2 to 16; the default is as many as fit into shared memory next to the staging buffers of D |
//! | `cluster` | Mx1 shares B's tile among M blocks, 1xN shares A's; each block multicasts its share to all |
//! | `l2_promotion` | granularity at which the L2 cache fills A and B, in their tensor maps |
//! | `pending` | `wgmma` groups that a consumer leaves in flight when it continues with the next stage; 0 if accumulators are promoted |
//! | `promotion` | for fp8 and for terms of emulated f32: a consumer multiplies each stage separately, one instruction tile after another, and adds the result to its accumulators in f32 |
//! | `a_operand` | `registers`: an M-major A of 8 or 32 bits is copied without a transpose, and a consumer loads it to registers, one stage ahead of the multiplication |
//! | `split_k` | number of split-K slices, each a separate work unit; the last consumer to arrive at a tile adds all slices and stores |
//! | `decomposition` | `splitkcluster`: the blocks of a cluster compute the slices of a tile and send them to the first block; `streamk`: slices follow from the spans of stream-K |
//! | `emulation` | `f32` as a sum of narrower terms; several products of terms make one f32 product |
//! | `align_c` | 16 bytes: TMA reads C and writes D; fewer: threads access them, `align_c` elements at a time |
//!
//! `f32` can be emulated ([`numeric::emulation`](crate::numeric::emulation)). A call decomposes its
//! operands into terms first, and the kernel multiplies the terms
//! (`GemmDesc::multiplied`). Several k-tiles of terms read the same block of K
//! ([`EmulationBlocks`](crate::numeric::emulation::EmulationBlocks)).
//!
//! A description keeps the layouts that A and B have in memory. Tensor cores read 8-bit and 32-bit
//! elements only K-major, so the kernel reads these elements K-major for every layout
//! ([`WarpSpecialized::along`]). The exception is an A operand that a consumer loads to registers.
//! Consumers on CUDA cores read MN-major, and consumers with `mma.sync` K-major. A call first
//! transposes an operand with another layout, and repacks an operand whose pitch is not a multiple
//! of 16 bytes ([`Routes`](crate::operand::Routes)).
//!
//! Twin: `kernels/threadblock/tma_ring.cuh`.

mod check;
pub(crate) mod complete;
pub(crate) mod components;
mod copies;
pub(crate) mod cost;
mod dispatch;
pub(crate) mod explain;
mod fit;
mod gates;
pub(crate) mod gathered_lines;
mod kernel;
mod launch;
pub(crate) mod pipeline;
pub(crate) mod registers;
pub(crate) mod role_options;
pub(crate) mod shapes;
mod stage;
mod unit;

pub use crate::threadblock::tma_ring::stage::StageTile;
pub(crate) use dispatch::{Consumer, ConsumerRegisters};

use crate::{
    layout::Order,
    nest::knob_struct,
    schedule::{Roles, ScheduleKind},
    shape::{Mn, Mnk, OperandKind},
    threadblock::{GateMap, L2PromotionKind, Pipeline, RoleOptions, SwizzleMode},
    warp::{ThreadTiles, TiledMma, warpgroup::FragmentRows},
};

knob_struct! {
    /// Knobs of the TMA ring.
    pub struct TmaRingKnobs {
        /// Threadblock tile in elements.
        pub threadblock: Mnk = Mnk::ZERO,
        /// Number of stages of the ring, 2 to 16.
        pub stages: u32 = 0,
        /// CTAs of a cluster along M and N.
        pub cluster: Mn = Mn::ONE,
        /// Schedule of the consumers.
        pub schedule: ScheduleKind = ScheduleKind::Cooperative,
        /// Granularity of the L2 cache's fills for A and B. It is a field of their tensor maps and
        /// changes no machine code.
        pub l2_promotion: L2PromotionKind = L2PromotionKind::DEFAULT,
    }
}

/// A warp-specialized main loop, in values of its components.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WarpSpecialized {
    /// Ring of stages, followed by the staging buffers of D.
    pub ring: Pipeline,
    /// Consumers along M and N of the threadblock tile. Without `wgmma`, all consumers count along
    /// M, because warps form the grid.
    pub consumers: Mn,
    /// Instruction tiles along M and N of a consumer's tile; 1 and 1 without `wgmma`.
    pub repeats: Mn,
    /// MMA that a consumer performs on a stage; its tiles are the block's tiles.
    pub mma: TiledMma,
    /// Options of the schedules.
    pub options: RoleOptions,
    /// Whether the work units belong to a grouped GEMM, whose groups each role walks.
    pub grouped: bool,
    /// Whether the GEMMs are an array, in which matrices have positions.
    pub array: bool,
    /// Columns of B in a tile, if the epilogue has a gate.
    pub gate: Option<GateMap>,
    /// Order of C and D, and therefore of subtiles.
    pub layout_c: Order,
    /// Columns of D in a subtile; 0 if threads store D. A subtile has as many rows as the
    /// instruction.
    pub subtile_columns: u32,
    /// Swizzle of a subtile in its staging buffer, which TMA also uses.
    pub subtile_swizzle: SwizzleMode,
}

impl WarpSpecialized {
    /// Returns the schedules of all roles.
    pub fn roles(&self) -> Roles {
        self.options.roles(&self.ring)
    }

    /// Returns the tile of an operand in one stage.
    pub const fn tile(&self, operand: OperandKind) -> StageTile {
        StageTile::read_by(&self.mma, operand)
    }

    /// Returns the tiles of threads that store D, or `None` with `wgmma`.
    pub const fn threads(&self) -> Option<&ThreadTiles> {
        self.mma.thread_tiles()
    }

    /// Returns the assignment of an instruction's rows to a thread's accumulators.
    pub const fn fragment_rows(&self) -> FragmentRows {
        self.mma.fragment_rows()
    }
}
