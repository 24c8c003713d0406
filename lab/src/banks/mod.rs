//! Bank conflicts of whole kernels and of layouts: the accesses that are counted, pictured and
//! probed.
//!
//! What one access of a warp costs, counted lane by lane, is [`wavefronts`]' rule for shared memory
//! and [`sectors`]' for global memory.

mod access;
pub mod cases;
mod global;
mod layouts;
mod picture;
#[cfg(feature = "cuda")]
pub mod probe;
mod roles;
mod rule;
mod steps;

pub use access::{BANKS, Direction, LANES, NotAnAccess, WORD_BYTES, WarpAccess};
pub use global::{LINE_BYTES, SECTOR_BYTES, lines, sectors};
pub use layouts::{LaidAccess, NotLaid};
pub use picture::picture;
pub use rule::{Delivery, Wavefronts, deliveries, wavefronts};
pub use steps::{SharedStep, of_desc, of_program, without_threads};
