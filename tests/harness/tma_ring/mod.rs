//! Programs of the TMA ring, their mutants, and kernels around a ring.

#[cfg(feature = "cuda")]
pub mod kernel;
pub mod programs;
pub mod subject;
