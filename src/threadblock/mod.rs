//! Threadblock level: the tiles, main loops, and work distribution of a thread block.
//!
//! A block computes one tile of D or several tiles in sequence; `work` assigns them. The main loop
//! ([`Mma`]) walks along K. A `tile_iterator` selects the elements of A and B in a tile. A
//! `ThreadMap` assigns vectors to threads, and a `SmemTile` maps elements to shared memory.
//! [`swizzle`] is the rasterization order of tiles. On Hopper, TMA moves tiles: a `TensorMapDesc`
//! describes the tensor, and a `TensorCopy` describes one copy.

pub(crate) mod gate_map;
pub(crate) mod group_range;
mod launch;
pub(crate) mod mainloop;
pub mod mma;
pub(crate) mod multistage;
mod params;
pub(crate) mod partials;
pub(crate) mod pipelined;
pub(crate) mod positions;
#[cfg(any(feature = "cuda", test))]
pub(crate) mod record_launches;
pub(crate) mod records;
pub(crate) mod row_index;
pub(crate) mod single_stage;
pub(crate) mod smem;
pub(crate) mod split_k;
pub(crate) mod stream_k;
pub mod swizzle;
pub(crate) mod tensor_copy;
pub(crate) mod tensor_map;
pub(crate) mod thread_map;
pub(crate) mod tile_iterator;
pub(crate) mod tma_ring;
pub(crate) mod user_swizzle;
mod work;

pub use crate::threadblock::smem::{
    Along, SmemAuto, SmemChoice, SmemLayout, SmemPadded, SmemSwizzled, SwizzleMode,
};
#[doc(hidden)]
pub use crate::threadblock::smem::{BoxedTile, SmemTile, WAVEFRONT_BYTES};
#[doc(hidden)]
pub use gate_map::GateMap;
#[doc(hidden)]
pub use group_range::{GroupRange, GroupRanges};
#[doc(hidden)]
pub use launch::{AddressRange, Grid, Launch, TmaTensor};
pub use mainloop::Mainloop;
#[doc(hidden)]
pub use mma::base::MmaBase;
#[doc(hidden)]
pub use mma::operand::StagedOperand;
pub use mma::{MainloopKind, Mma, MmaMultistage, MmaPipelined, MmaSingleStage, MmaWarpSpecialized};
pub use multistage::MultistageKnobs;
#[doc(hidden)]
pub use partials::Partials;
pub use pipelined::PipelinedKnobs;
#[doc(hidden)]
pub use records::{MATRICES_OF_PRODUCT, ProductRecords};
pub use single_stage::SingleStageKnobs;
pub(crate) use split_k::MOST_TILES_OF_ONE;
#[doc(hidden)]
pub use split_k::{ClusterSlices, KSlices, SLICES_AT_ONCE, k_slice, tickets_of};
#[doc(hidden)]
pub use stream_k::{MOST_STREAMS, StreamedSlice, StreamedSlices, Streams};
pub use swizzle::SwizzleKind;
#[doc(hidden)]
pub use swizzle::{HILBERT_SIDE, TileOrder};
#[doc(hidden)]
pub use tensor_copy::{SharedBox, TensorCopy};
pub use tensor_map::L2PromotionKind;
#[doc(hidden)]
pub use tensor_map::{TensorMapDesc, TensorMatrix};
#[doc(hidden)]
pub use thread_map::{SECTOR_BYTES, ThreadMap};
pub use tma_ring::TmaRingKnobs;
#[doc(hidden)]
pub use tma_ring::gathered_lines::GatheredLines;
#[doc(hidden)]
pub use tma_ring::pipeline::{Pipeline, PipelineLayout, Region, RingPosition, SharedOperand};
#[doc(hidden)]
pub use tma_ring::role_options::RoleOptions;
#[doc(hidden)]
pub use tma_ring::{StageTile, WarpSpecialized};
pub(crate) use user_swizzle::ORDERED;
pub use user_swizzle::ThreadblockSwizzle;
#[doc(hidden)]
pub use user_swizzle::{RegisteredSwizzle, SwizzleId, register_swizzle, registered_swizzle};
pub(crate) use work::group_rectangles;
#[doc(hidden)]
pub use work::{
    ClusterTiles, GroupTiles, GroupedWork, Unit, Units, Work, WorkKind, lines_of_rectangle,
};
