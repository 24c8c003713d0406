//! The libraries that are not ours: what is linked to nothing at build and looked for when first used.
//!
//! All the `unsafe` there is lies below this module.

pub mod environment;
pub mod library;
pub mod nvrtc;
pub(crate) mod user;
