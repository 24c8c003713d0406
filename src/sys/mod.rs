//! All the unsafe code there is: foreign functions behind types that hold their rules, and wide
//! instructions.
//!
//! Libraries that are not ours are linked to nothing at build and looked for when first used.
#![allow(unsafe_code)]

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
pub mod simd;
#[cfg(feature = "cuda")]
pub mod tensor_map;
#[cfg(feature = "cuda")]
pub(crate) mod user;
