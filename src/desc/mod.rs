//! The one value in the middle: everything a kernel has to know, and whether it can be a kernel.
//!
//! A [`GemmDesc`] is made from types by [`lower`], from flags or JSON by the command line, or by an explorer; all pass the same
//! [`check`](GemmDesc::check). Its problem is row-major in C: a column-major C has exchanged A and B
//! before. Where they change places once more, to have A in registers, C is column-major.

pub(crate) mod check;
mod check_roles;
mod combination;
mod derived;
mod explain;
#[cfg(feature = "serde")]
mod json;
mod knobs;

#[doc(hidden)]
pub use combination::{COMBINATIONS, TENSOR_OP_COMBINATIONS};
#[doc(hidden)]
pub use derived::OperandDesc;
pub use explain::Explanation;
#[doc(hidden)]
pub use explain::{BoxesExplanation, OperandExplanation, RolesExplanation, SimtExplanation};
#[doc(hidden)]
pub use knobs::{
    AlignmentA, AlignmentB, AlignmentC, Blocks, Clusters, EpilogueTree, Instruction, Interleaving, Loop, Promoting, Scheduling,
    SharedA, SharedB, SourceOfA, Spills, Splitting, StageNumber, Threadblock, TileOrdering, Unrolling, Warp,
};
pub use knobs::{
    Auto, Config, GemmConfig, GemmDesc, Knob, Knobs, With, WithAlignmentA, WithAlignmentB, WithAlignmentC, WithBlocks,
    WithClusters, WithEpilogueTree, WithInstruction, WithInterleaving, WithLoop, WithPromoting, WithScheduling, WithSharedA,
    WithSharedB, WithSourceOfA, WithSpills, WithSplitting, WithStageNumber, WithThreadblock, WithTileOrdering, WithUnrolling,
    WithWarp,
};
pub use lowering::WithStages;
#[doc(hidden)]
pub use lowering::lower;
pub use promotion::{NoPromotion, PromoteEachStage, Promotion, PromotionKind};
pub use source_a::{FromEither, FromRegisters, FromShared, OperandSource, SourceKind};
pub use spills::{NoSpills, SpillKind, Spilling, SpillsAllowed};
pub use split::{Bf16x6, F16x3, NoSplit, Split};

mod lowering;
mod promotion;
mod source_a;
mod spills;
mod split;
mod words;
