//! The one value in the middle: everything a kernel has to know, and whether it can be a kernel.
//!
//! A [`GemmDesc`] is made from types and pins by the resolver, from flags or JSON by the command line, or by an explorer; all pass the same
//! [`check`](GemmDesc::check). Its problem is row-major in C: a column-major C has exchanged A and B
//! before. Where they change places once more, to have A in registers, C is column-major.

mod class;
mod combination;
mod derived;
mod explain;
mod gemm_desc;
#[cfg(feature = "serde")]
mod json;
mod knobs;
mod leaves;

pub use class::{Class, Frame, OperandClass, OutputClass};
#[doc(hidden)]
pub use combination::{COMBINATIONS, TENSOR_OP_COMBINATIONS};
#[doc(hidden)]
pub use derived::OperandDesc;
pub use explain::Explanation;
#[doc(hidden)]
pub use explain::{BoxesExplanation, OperandExplanation, RolesExplanation, SimtExplanation};
pub use gemm_desc::{Described, FamilyDesc, GemmDesc, SimtDesc, WarpSpecializedDesc};
pub use knobs::{Pins, SimtKnobs, WarpSpecializedKnobs};
pub use leaves::{
    AlignmentA, AlignmentB, AlignmentC, Auto, Bf16x6, BlocksPerSm, ClusterShape, Config, CooperativeSchedule, EpilogueTree,
    F16x3, FromEither, FromRegisters, FromShared, FullUnroll, GroupedSwizzle, HilbertSwizzle, HorizontalSwizzle, IdentitySwizzle,
    Instruction, Interleave, Leaf, NoPromotion, NoSpills, NoSplit, PingpongSchedule, PromoteEachStage, SharedA, SharedB,
    SpillsAllowed, Stages, Threadblock, UnrollBy, VectorInterleave, Warp, With,
};
pub use promotion::PromotionKind;
pub use source_a::SourceKind;
pub use spills::SpillKind;

mod lowering;
mod promotion;
mod source_a;
mod spills;
mod split;
mod words;
