//! Checked execution of Falchion's kernels on the CPU.
#![deny(missing_docs)]

mod accumulated;
mod accumulators;
mod array;
mod gemm;
pub mod machine;
pub mod mutation;
pub mod program;
mod run;
mod tma_ring;
mod transpose;

pub use accumulators::Accumulators;
pub use run::{CheckedKernel, Mode, run_checked, run_in_mode};
