//! What was chosen, why, and what follows from it, in words.

mod gemm;
mod layouts;
mod machine;
mod transpose;

pub use gemm::facts;
pub use layouts::{StatedLayout, layouts, layouts_of_transpose};
pub use machine::{launches_of_array, on_machine, size_of};
pub use transpose::{TransposeChoice, TransposeExplanation, explain_transpose};
