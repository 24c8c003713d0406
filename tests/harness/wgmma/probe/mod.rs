//! A kernel with one stage of a warpgroup's product: its source, and its run on a device.

#[cfg(feature = "cuda")]
pub mod kernel;
pub mod lay;
pub mod text;
