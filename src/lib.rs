//! GEMM in Rust the way CUTLASS does it in C++.
pub mod device;
pub mod error;
#[cfg(feature = "cuda")]
pub mod sys;
pub use error::Error;
