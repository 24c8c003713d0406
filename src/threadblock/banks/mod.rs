//! Bank conflicts: what an access of a warp to memory costs, counted lane by lane.

mod access;
mod global;
mod rule;

pub use access::{BANKS, Direction, LANES, NotAnAccess, WAVEFRONT_BYTES, WORD_BYTES, WarpAccess};
pub use global::{LINE_BYTES, SECTOR_BYTES, lines, sectors};
pub use rule::{Delivery, Wavefronts, deliveries, wavefronts};
