//! Bank conflicts of whole kernels and of layouts: the accesses that are counted, pictured and probed.
//!
//! What one access of a warp costs is [`falchion::threadblock::banks`]' rule.

pub mod cases;
mod layouts;
mod picture;
#[cfg(feature = "cuda")]
pub mod probe;
mod roles;
mod steps;

pub use layouts::{LaidAccess, NotLaid};
pub use picture::picture;
pub use steps::{SharedStep, of_desc, of_program, without_threads};
