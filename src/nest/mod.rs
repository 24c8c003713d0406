//! The kernel description: one value that holds every knob of a kernel.
//!
//! The resolver makes a [`GemmDesc`] from types and pins. The command line makes it from flags or
//! JSON, and the explorer enumerates descriptions. Each source calls the same
//! [`check`](GemmDesc::check). The description is in the kernel's frame: [`Frame`] relates the
//! kernel's A, B, and D to the user's.

/// Returns the value of an `Option`, or another value.
macro_rules! or {
    ($option:expr, $other:expr) => {
        match $option {
            Some(value) => value,
            None => $other,
        }
    };
}
pub(crate) use or;

mod addressing;
mod advice;
mod check;
mod check_pins;
pub(crate) mod choose;
mod class;
mod combination;
mod completions;
mod cost_model;
#[doc(hidden)]
pub mod defaults;
mod dispatch;
mod display;
pub(crate) mod explanation;
pub(crate) mod features;
pub(crate) mod fit;
mod gates;
mod gemm_desc;
#[cfg(feature = "serde")]
pub(crate) mod json;
mod kinds;
mod knob_struct;
mod knobs;
mod leaves;
mod lowering;
mod matrices;
mod modes;
mod pins;
pub(crate) mod places;
pub(crate) mod plan;
mod predicted_time;
#[cfg(test)]
mod random_kernels;
mod request;
mod resolve;
#[cfg(test)]
mod resolve_requests;
mod units;
pub(crate) mod words;

pub use crate::{
    schedule::ScheduleKind,
    shape::{Axis, EpilogueOperand, EpilogueOperands, Frame, OperandKind},
    warp::{AOperandKind, PromotionKind, SaturateKind},
};
#[doc(hidden)]
pub use addressing::Addressing;
pub use class::GemmMode;
#[doc(hidden)]
pub use class::{Class, OperandClass, OutputClass};
#[doc(hidden)]
pub use combination::{COMBINATIONS, TENSOR_OP_COMBINATIONS};
pub(crate) use completions::Completions;
#[doc(hidden)]
pub use dispatch::Explanation;
pub(crate) use dispatch::emulation_of_others;
pub use gemm_desc::GemmDesc;
pub(crate) use kinds::Cut;
pub use kinds::{DecompositionKind, SpillKind};
pub(crate) use knob_struct::knob_struct;
#[doc(hidden)]
pub use knobs::Knobs;
pub use knobs::{Limits, WorkDesc};
pub use leaves::*;
pub use matrices::{OperandDesc, OutputDesc};
pub use pins::*;
#[doc(hidden)]
pub use predicted_time::PredictedTime;
#[doc(hidden)]
pub use request::{Choice, Origin, ProblemSize, Request, Resolved};
#[doc(hidden)]
pub use units::Target;
pub(crate) use units::TypedRequest;
