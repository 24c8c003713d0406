//! What the threads of a block do together.
//!
//! A block computes one tile of C. Its main loop ([`Mma`]) walks along K: a [`tile_iterator`] says which elements of A and B
//! make up a tile, a [`ThreadMap`] which thread copies which vector of it, a [`SmemTile`] where each element lies in shared
//! memory. [`swizzle`] says which block computes which tile. On Hopper the copy engine moves tiles: a [`TensorMapDesc`] says which, and
//! [`TensorCopy`] what one copy does.

mod consumer_registers;
pub mod mma;
pub mod mma_multistage;
pub mod mma_pipelined;
pub mod mma_single_stage;
pub mod mma_warp_specialized;
pub mod pipeline;
pub mod smem_layout;
pub mod swizzle;
pub mod tensor_copy;
pub mod tensor_map;
pub mod thread_map;
pub mod tile_iterator;
pub mod tile_scheduler;

pub use mma::{Mainloop, MainloopKind, Mma};
pub use mma_multistage::MmaMultistage;
pub use mma_pipelined::MmaPipelined;
pub use mma_single_stage::MmaSingleStage;
pub use mma_warp_specialized::{ConsumerMma, MmaWarpSpecialized, StageTile, ThreadTiles, WarpSpecialized};
pub use pipeline::{Pipeline, PipelineLayout, Region, RingPosition, SharedOperand};
pub use smem_layout::{Along, BoxedTile, SmemAuto, SmemChoice, SmemLayout, SmemPadded, SmemSwizzled, SmemTile};
pub use swizzle::{
    GroupedSwizzle, HILBERT_SIDE, HilbertSwizzle, HorizontalSwizzle, IdentitySwizzle, Swizzle, SwizzleKind, TileOrder,
};
pub use tensor_copy::{Multicast, SharedBox, TensorCopy};
pub use tensor_map::{L2Promotion, TensorMapDesc, TensorMatrix, TensorSwizzle};
pub use thread_map::ThreadMap;
pub use tile_scheduler::{ClusterTiles, TileScheduler};
