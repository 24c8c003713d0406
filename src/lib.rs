//! GEMM in Rust the way CUTLASS does it in C++.
#[cfg(feature = "bench-cublaslt")]
pub mod bench;
pub mod error;
#[cfg(feature = "cuda")]
pub mod sys;
pub use error::Error;
