//! Bank conflicts: what an access of a warp to memory costs, counted lane by lane.

mod access;
pub mod cases;
mod global;
mod layouts;
mod picture;
#[cfg(feature = "cuda")]
pub mod probe;
mod rule;
mod steps;

pub use access::{BANKS, Direction, LANES, NotAnAccess, WAVEFRONT_BYTES, WORD_BYTES, WarpAccess};
pub use global::{LINE_BYTES, SECTOR_BYTES, lines, sectors};
pub use layouts::{LaidAccess, NotLaid};
pub use picture::picture;
pub use rule::{Delivery, Wavefronts, deliveries, wavefronts};
pub use steps::{SharedStep, of_desc, of_program};
