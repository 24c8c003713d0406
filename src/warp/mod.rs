//! What the 32 threads of a warp do together: an outer product per k, each lane holding its share.

mod choices;
#[doc(hidden)]
pub mod mma_simt;
#[doc(hidden)]
pub mod mma_warpgroup;

pub use choices::{FullUnroll, Interleave, InterleaveChoice, InterleaveKind, Unroll, UnrollBy, UnrollKind, VectorInterleave};
#[doc(hidden)]
pub use mma_simt::LaneArrangement;
pub use mma_simt::MmaSimt;
#[doc(hidden)]
pub use mma_warpgroup::MmaWarpgroup;

use crate::{
    desc::GemmDesc,
    index::IndexMap,
    operand::OperandKind,
    schedule::{Fault, Lane},
};

/// What a warp does, reached from a description.
pub trait Mma: Sync {
    /// The file of the CUDA twin, below `kernels/`.
    fn twin(&self) -> &'static str;
    /// The map (thread of the block, fragment element) to M of A's tile, or N of B's.
    fn fragment(&self, d: &GemmDesc, operand: OperandKind) -> Box<dyn IndexMap>;
    /// The map (thread of the block, k-group) to K of the block's tile.
    fn depth(&self, d: &GemmDesc) -> Box<dyn IndexMap>;
    /// Loads both fragments of a k-group from shared memory.
    fn load(&self, d: &GemmDesc, group: u32, lane: &mut dyn Lane) -> Result<(), Fault>;
    /// Multiplies the fragments of a k-group.
    fn multiply(&self, d: &GemmDesc, group: u32, lane: &mut dyn Lane) -> Result<(), Fault>;
}
