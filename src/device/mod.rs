//! What runs a kernel.

#[cfg(feature = "cuda")]
pub mod cuda;
