//! Bank conflicts of whole kernels and of layouts, with pictures and a device probe.
//!
//! [`wavefronts`] counts the cost of a warp's access to shared memory, and [`sectors`] the cost of
//! an access to global memory.

mod access;
pub mod cases;
mod global;
mod layouts;
mod picture;
#[cfg(feature = "cuda")]
pub mod probe;
mod rule;
mod steps;
mod tma_ring;

pub use access::{BANKS, Direction, LANES, NotAnAccess, WORD_BYTES, WarpAccess};
pub use global::{LINE_BYTES, SECTOR_BYTES, lines, sectors};
pub use layouts::{LaidAccess, NotLaid};
pub use picture::picture;
pub use rule::{Delivery, Wavefronts, deliveries, wavefronts};
pub use steps::{SharedStep, description_steps, program_steps, without_threads};
