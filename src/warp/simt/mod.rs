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

use crate::{
    nest::{Pins, or},
    shape::Mnk,
    warp::InterleaveKind,
};

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

// `knob_struct!` cannot write these functions: a kernel has either the tile of a thread or the
// interleave, and pins call the tile `instruction`.
impl SimtKnobs {
    /// The default of each knob without a producer. The warp tile, which has no default, is 0.
    pub const DEFAULT: Self =
        Self { warp: Mnk::ZERO, thread: None, interleave: InterleaveKind::Vector };

    /// Returns the defaults of a consumer of a TMA ring, or of a kernel without a producer.
    pub(crate) const fn default_of(on_ring: bool) -> Self {
        Self { thread: if on_ring { Some(Mnk::ZERO) } else { None }, ..Self::DEFAULT }
    }

    /// Adds the knobs to pins.
    pub(crate) const fn pins(&self, pins: Pins) -> Pins {
        let interleave = if self.thread.is_none() { Some(self.interleave) } else { None };
        Pins { warp: Some(self.warp), instruction: self.thread, interleave, ..pins }
    }

    /// Returns the knobs with the pinned ones replaced. A kernel without the tile of a thread keeps
    /// none.
    pub(crate) const fn pinned(self, pins: &Pins) -> Self {
        Self {
            warp: or!(pins.warp, self.warp),
            thread: match pins.instruction {
                Some(_) if self.thread.is_some() => pins.instruction,
                _ => self.thread,
            },
            interleave: or!(pins.interleave, self.interleave),
        }
    }
}

#[cfg(test)]
mod record_tests;
