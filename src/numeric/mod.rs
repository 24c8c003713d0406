//! The numbers a GEMM reads, accumulates and writes.
//!
//! An [`Element`] type is what slices hold. A [`MathType`] is what a GEMM multiplies, and
//! [`ElementKind`] is the same type as a value. [`Instruction`] is the model of tensor-core
//! additions that the host executes. [`EmulationKind`] lists how tensor cores multiply `f32`.
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
mod rows;
mod tensor_sum;

#[doc(hidden)]
pub use arithmetic::{
    Accumulator, Compute, Functions, MOST_PARTS, Saturating, sum_of, sum_of_parts,
};
pub use combined::Combined;
pub(crate) use convert::round_to_odd;
#[doc(hidden)]
pub use convert::{Narrow, Widen};
pub use element::{Bf16, ComputeKind, E4m3, E5m2, Element, ElementKind, F16, MathType, Tf32};
pub use emulation::EmulationKind;
pub use instruction::{Instruction, SumRounding};
pub(crate) use rows::{Computed, Narrowing, Number, Widening};
pub(crate) use tensor_sum::{Panel, accumulate};
