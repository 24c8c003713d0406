//! A kernel with one stage of a warpgroup's product: its source, and its run on a device.

#[cfg(feature = "cuda")]
mod kernel;
mod lay;
mod text;

#[cfg(feature = "cuda")]
pub use kernel::WarpgroupProbe;
pub use lay::{fragment_bytes, holders, tile_bytes};
pub use text::{PROBE_ENTRY, ProbeText};
