//! The one value in the middle: everything a kernel has to know, and whether it can be a kernel.
//!
//! A [`GemmDesc`] is made from types and pins by the resolver, from flags or JSON by the command
//! line, or by an explorer; all pass the same [`check`](GemmDesc::check). Its problem is row-major
//! in C: a column-major C has exchanged A and B before. Where they change places once more, to have
//! A in registers, C is column-major.

mod class;
mod combination;
mod display;
mod gemm_desc;
#[cfg(feature = "serde")]
pub(crate) mod json;
mod kinds;
mod knobs;
mod leaves;
mod words;

pub use crate::operand::Frame;
pub use class::{Class, GemmMode, OperandClass, OutputClass};
#[doc(hidden)]
pub use combination::{COMBINATIONS, TENSOR_OP_COMBINATIONS};
// What families have of their own is named by the one list of them, in `knobs`.
pub use gemm_desc::*;
pub(crate) use kinds::Cut;
pub use kinds::{AOperandKind, DecompositionKind, PromotionKind, SaturateKind, SpillKind};
pub(crate) use knobs::families;
pub use knobs::*;
pub use leaves::*;
