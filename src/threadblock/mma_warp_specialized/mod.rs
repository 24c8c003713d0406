//! The main loop of Hopper: one warpgroup fills a ring of stages by TMA, the others multiply on the
//! tensor cores, or, true `f32`, on the CUDA cores (`op simt`; see `simt.rs` for what is different
//! there).
//!
//! ```text
//! for each tile of D, in the order of the swizzle     CTAs are persistent, and take the next tile; a cluster takes as many as it has blocks
//!     producer:   for each k-tile                     wait until a stage is empty, copy A's and B's tile into it
//!     consumers:  for each k-tile                     wait until it is full, multiply, release the stage before it
//!                 for each subtile of the tile of D   epilogue, to a staging buffer, from there to D by TMA
//! ```
//!
//! The threadblock tile is what a block computes at a time, 128 bytes of K deep. The warp tile is
//! what a *warpgroup* computes: a consumer. Its instruction is 64 x N; a consumer repeats it along
//! M and N. Under the cooperative schedule all consumers multiply one tile, each its part; under
//! ping-pong two take whole tiles, so that one multiplies while the other stores. Everything else
//! follows: [`WarpSpecialized`] is the description in values of the components.
//!
//! | knob | here |
//! |---|---|
//! | `stages` | stages of the ring, 2 to 16; as many as shared memory holds beside the staging of D |
//! | `cluster` | Mx1 shares B's tile among M blocks, 1xN shares A's; each copies its share to all |
//! | `pending` | groups of products that a consumer leaves under way when it goes on to the next stage; none where accumulators are promoted |
//! | `promotion` | of fp8 and of parts of f32: a consumer multiplies each stage by itself, one instruction's tile after the other, and adds it to its accumulators in f32 |
//! | `a_operand` | `registers`: A of 8 or 32 bits that is M-major is copied as it lies, and a consumer brings it to registers, a stage while the one before is multiplied |
//! | `split_k` | K in so many parts, each a unit of work of its own; the consumer whose part of its share of a tile comes last adds all, and stores |
//! | `decomposition` | `splitkcluster`: the parts of a tile are those of a cluster's blocks, which send them to the first; `streamk`: parts are of a stream's spans |
//! | `emulation` | of `f32`: its parts, several products of which make one of the user's |
//! | `align_c` | 16 bytes: C is read and D written by TMA; less: by threads, so many elements at a time |
//!
//! `f32` is multiplied in parts ([`numeric::emulation`](crate::numeric::emulation)): a call
//! decomposes its operands first, and what follows is of the parts
//! (`WarpSpecializedDesc::multiplied`), several of whose k-tiles read the same block of K
//! ([`EmulationBlocks`](crate::numeric::emulation::EmulationBlocks)).
//!
//! A description keeps the layouts that A and B have in memory. Tensor cores read only K-major
//! elements of 8 and 32 bits, so that is how the kernel reads them whatever the layout
//! ([`WarpSpecialized::along`]), but for an A that a consumer brings to registers; threads read
//! along M and N. A call transposes an operand that lies otherwise first, and repacks one whose
//! pitch is not a multiple of 16 bytes ([`Routes`](crate::call::Routes)).
//!
//! Twin: `kernels/threadblock/mma_warp_specialized.cuh`.

mod copies;
mod simt;
mod stage;

use super::{Pipeline, RoleOptions, SwizzleMode};
pub use crate::threadblock::mma_warp_specialized::stage::{ConsumerMma, StageTile};
use crate::{
    layout::Order,
    operand::OperandKind,
    schedule::Roles,
    shape::Mn,
    warp::{
        mma_simt::ThreadTiles,
        mma_warpgroup::{FragmentLoad, FragmentRows, MmaWarpgroup},
    },
};

/// A description of this family in values of its components.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WarpSpecialized {
    /// The ring, with the staging of D behind it.
    pub ring: Pipeline,
    /// Consumers along M and N of the block's tile. Where threads multiply, all are counted along
    /// M: warps make up the grid.
    pub consumers: Mn,
    /// Instructions' tiles along M and N of a consumer's tile; where threads multiply, 1 and 1.
    pub repeats: Mn,
    /// What a consumer does with a stage; its tiles are the block's.
    pub mma: ConsumerMma,
    /// What the schedules leave open.
    pub options: RoleOptions,
    /// Whether units of work are of groups, over which each role walks.
    pub grouped: bool,
    /// The order of C and D, and so of subtiles.
    pub layout_c: Order,
    /// Columns of D in a subtile, which has the rows of an instruction; 0 where threads store.
    pub subtile_columns: u32,
    /// How a subtile lies in its staging buffer, and TMA finds it.
    pub subtile_swizzle: SwizzleMode,
}

impl WarpSpecialized {
    /// What each role does.
    pub fn roles(&self) -> Roles {
        self.options.roles(&self.ring)
    }

    /// An operand's tile of a stage.
    pub const fn tile(&self, operand: OperandKind) -> StageTile {
        self.mma.tile(operand)
    }

    /// What a warpgroup does with a stage; `None` where threads multiply.
    pub const fn warpgroup(&self) -> Option<&MmaWarpgroup> {
        match &self.mma {
            ConsumerMma::Warpgroup(mma) | ConsumerMma::Registers(mma, _) => Some(mma),
            ConsumerMma::Threads(_) => None,
        }
    }

    /// What threads do with a stage; `None` where warpgroups multiply.
    pub const fn threads(&self) -> Option<&ThreadTiles> {
        match &self.mma {
            ConsumerMma::Warpgroup(_) | ConsumerMma::Registers(..) => None,
            ConsumerMma::Threads(tiles) => Some(tiles),
        }
    }

    /// How a warpgroup brings A to registers; `None` where it does not.
    pub const fn fragment_load(&self) -> Option<&FragmentLoad> {
        match &self.mma {
            ConsumerMma::Registers(_, load) => Some(load),
            ConsumerMma::Warpgroup(_) | ConsumerMma::Threads(_) => None,
        }
    }

    /// Which rows of an instruction's tile a thread's accumulators are of.
    pub const fn fragment_rows(&self) -> FragmentRows {
        match self.fragment_load() {
            Some(load) => load.rows,
            None => FragmentRows::Ordinary,
        }
    }
}
