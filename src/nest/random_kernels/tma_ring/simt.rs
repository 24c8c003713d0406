//! Random TMA-fed SIMT kernels.

use super::{super::limits, Draw, grid_of_warps, ring};
use crate::{
    nest::{Class, Knobs},
    shape::Mnk,
    warp::{InterleaveKind, SimtKnobs, WarpMma},
};

/// Returns the knobs of a random TMA-fed SIMT kernel.
pub(in super::super) fn knobs(draw: &mut Draw, _: &Class) -> Knobs {
    let sides = [4, 8, 8, 12, 16];
    let (thread, lanes) =
        (Mnk::new(draw.choose(&sides), draw.choose(&sides), 1), draw.choose(&[4, 4, 8, 2, 16]));
    let k = draw.choose(&[8, 16, 16, 32, 64, 24]);
    let warp = Mnk::new(lanes * thread.m, 32 / lanes * thread.n, k);
    let (grid, schedule) = grid_of_warps(draw);
    let tile = Mnk::new(warp.m * grid.0, warp.n * grid.1, k);
    let mma =
        WarpMma::Simt(SimtKnobs { warp, thread: Some(thread), interleave: InterleaveKind::Vector });
    let knobs = Knobs::new(ring(draw, tile, schedule), mma, [4, 4, draw.choose(&[1, 2, 4])]);
    limits(draw, knobs)
}
