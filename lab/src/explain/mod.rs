//! Explanations of selected kernels: the choices, their reasons, and their consequences.

mod gemm;
mod layouts;
mod machine;
mod mma_sync;
mod simt;
mod tma_ring;
mod transpose;

pub use gemm::facts;
pub use layouts::{StatedLayout, layouts, layouts_of_transpose};
pub use machine::{launches_of_array, on_machine, size_of};
pub use transpose::{TransposeChoice, TransposeExplanation, explain_transpose};
