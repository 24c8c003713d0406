//! All the unsafe code of this crate: NVIDIA's libraries behind types that hold their rules.
//!
//! They are linked to nothing at build and looked for when first used.
#![allow(unsafe_code)]

pub mod cublas;
pub mod cublaslt;
pub(crate) mod launch;
pub mod timing;
