//! The kernel description: one value that holds every knob of a kernel.
//!
//! The resolver makes a [`GemmDesc`] from types and pins. The command line makes it from flags or
//! JSON, and the explorer enumerates descriptions. Each source calls the same
//! [`check`](GemmDesc::check). The description is in the kernel's frame: [`Frame`] relates the
//! kernel's A, B, and D to the user's.

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

pub use crate::{
    operand::{Axis, Frame, OperandKind, VectorKind, Vectors},
    schedule::ScheduleKind,
};
pub use class::{Class, GemmMode, OperandClass, OutputClass};
#[doc(hidden)]
pub use combination::{COMBINATIONS, TENSOR_OP_COMBINATIONS};
// The macro `families` in `knobs` is the only list of families.
pub use gemm_desc::*;
pub(crate) use kinds::Cut;
pub use kinds::{AOperandKind, DecompositionKind, PromotionKind, SaturateKind, SpillKind};
pub(crate) use knobs::families;
pub use knobs::*;
pub use leaves::*;
