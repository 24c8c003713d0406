//! GEMM in Rust the way CUTLASS does it in C++.
pub mod error;
pub use error::Error;
