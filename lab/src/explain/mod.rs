//! What was chosen, why, and what follows from it, in words.

mod gemm;
mod transpose;

pub use gemm::facts;
pub use transpose::{TransposeChoice, TransposeExplanation, explain_transpose};
