//! All unsafe code of this crate: NVIDIA's libraries behind safe types.
//!
//! The libraries are not linked at build time. They are loaded on first use.
#![allow(unsafe_code)]

pub mod cublas;
pub mod cublaslt;
pub(crate) mod launch;
pub mod timing;
