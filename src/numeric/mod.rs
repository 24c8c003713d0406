//! Number types that a GEMM reads, accumulates, and writes.
//!
//! Slices hold [`Element`] types. GEMMs multiply [`MathType`]s, and [`ElementKind`] is the same
//! type as a value. [`Instruction`] models the additions of tensor cores, which the host executes.
//! [`EmulationKind`] lists the emulations of `f32` on tensor cores. A [`Transform`] is a user's
//! function of the elements of A or B.
//!
//! Twin: `kernels/numeric.cuh`.

mod arithmetic;
mod combined;
pub(crate) mod convert;
mod element;
#[doc(hidden)]
pub mod emulation;
pub(crate) mod fused_sum;
mod instruction;
mod multiplied;
pub(crate) mod rows;
pub(crate) mod tensor_sum;
mod transform;

#[doc(hidden)]
pub use arithmetic::{
    Accumulator, BinaryFunctions, Compute, Functions, MOST_SLICES, Saturating, TypedNumbers,
    sum_of, sum_slices,
};
pub use combined::Combined;
pub(crate) use convert::round_to_odd;
#[doc(hidden)]
pub use convert::{Narrow, Widen};
#[doc(hidden)]
pub use element::{AnyOf, PerElement};
pub use element::{
    Bf16, ComputeKind, E4m3, E5m2, Element, ElementKind, F16, MathType, MultipliedBy, Tf32,
};
pub use emulation::EmulationKind;
pub use instruction::{Instruction, SumRounding};
#[doc(hidden)]
pub use multiplied::Multiplied;
pub(crate) use rows::{Computed, Narrowing, Number, Widening};
pub(crate) use tensor_sum::{Panel, accumulate};
pub use transform::Transform;
#[doc(hidden)]
pub use transform::{
    HostTransform, TransformId, UserTransform, register_transform, registered_transform,
};
