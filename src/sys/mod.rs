//! All the unsafe code there is: foreign functions behind types that hold their rules.

#[cfg(feature = "bench-cublaslt")]
pub mod cublaslt;
#[cfg(feature = "bench-cublaslt")]
pub mod timing;
