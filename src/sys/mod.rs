//! All the unsafe code there is: foreign functions behind types that hold their rules, and wide instructions.
#![allow(unsafe_code)]

pub mod cpu;
#[cfg(feature = "bench-cublaslt")]
pub mod cublaslt;
pub mod memory;
pub mod simd;
#[cfg(feature = "bench-cublaslt")]
pub mod timing;
