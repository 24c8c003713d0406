//! Random TMA-fed `mma.sync` kernels.

use super::{super::limits, Draw, grid_of_warps, ring};
use crate::{
    nest::{Class, Knobs},
    shape::Mnk,
    warp::{MmaSyncKnobs, SaturateKind, WarpMma},
};

/// Returns the knobs of a random TMA-fed `mma.sync` kernel.
pub(in super::super) fn knobs(draw: &mut Draw, _: &Class) -> Knobs {
    let sides = [16, 16, 32, 32, 48, 64, 128];
    let warp = Mnk::new(draw.choose(&sides), draw.choose(&sides), 16);
    let (grid, schedule) = grid_of_warps(draw);
    let tile = Mnk::new(warp.m * grid.0, warp.n * grid.1, 16);
    let (instruction, saturate) = (Mnk::new(16, 8, draw.choose(&[4, 8])), SaturateKind::Off);
    let mma = WarpMma::MmaSync(MmaSyncKnobs { warp, instruction, saturate });
    let knobs = Knobs::new(ring(draw, tile, schedule), mma, [2, 2, draw.choose(&[1, 2, 2])]);
    limits(draw, knobs)
}
