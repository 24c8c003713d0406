//! All unsafe code of the crate: foreign functions behind safe types, and SIMD instructions.
//!
//! Foreign libraries are not linked at build time. They are loaded on first use.
#![allow(unsafe_code)]

#[cfg(feature = "cuda")]
pub(crate) mod device_memory;
#[cfg(feature = "cuda")]
pub mod driver;
#[cfg(feature = "cuda")]
pub mod environment;
pub(crate) mod float_mode;
pub mod fma;
#[cfg(feature = "cuda")]
pub mod library;
#[cfg(feature = "cuda")]
pub mod nvrtc;
#[cfg(feature = "cuda")]
pub(crate) mod read_back;
pub mod shared_bytes;
pub mod simd;
#[cfg(feature = "cuda")]
pub mod tensor_map;
#[cfg(feature = "cuda")]
pub(crate) mod user;
