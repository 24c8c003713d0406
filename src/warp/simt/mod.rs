//! Warp-level MMA on CUDA cores: each thread multiplies its own tile.
//!
//! ```text
//! shared memory -> widened to the accumulators' type -> Transform -> fragment -> multiply-adds
//! ```
//!
//! Without a producer, a user's [`Transform`](crate::numeric::Transform) to f32 runs when a thread
//! loads a fragment.
//!
//! Twin: `kernels/warp/simt.cuh`.

mod check;
mod complete;
mod components;
mod cost;
mod cuda;
pub(crate) mod defaults;
pub(crate) mod explain;
mod registers;
pub(crate) mod tma_ring;

use crate::{shape::Mnk, warp::InterleaveKind};

/// Knobs of the MMA on CUDA cores.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SimtKnobs {
    /// Warp tile in elements, with its share of the depth.
    pub warp: Mnk,
    /// Tile of a thread in a TMA ring. Without a producer, it is `None`, and
    /// `LaneArrangement::best` determines the tile.
    pub thread: Option<Mnk>,
    /// Neighboring elements that a lane holds contiguously.
    pub interleave: InterleaveKind,
}
