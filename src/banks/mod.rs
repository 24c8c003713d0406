//! Bank conflicts: what an access of a warp to memory costs, counted lane by lane.

mod access;
pub mod cases;
mod global;
#[cfg(feature = "cuda")]
pub mod probe;
mod rule;

pub use access::{BANKS, Direction, LANES, NotAnAccess, WORD_BYTES, WarpAccess};
pub use global::{LINE_BYTES, SECTOR_BYTES, lines, sectors};
pub use rule::{Wavefronts, wavefronts};
