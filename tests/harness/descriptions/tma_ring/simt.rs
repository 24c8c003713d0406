//! Random descriptions of warp-specialized TMA-fed SIMT kernels, which multiply f32 on the CUDA
//! cores.

use super::{
    super::{epilogue, order},
    first_valid, grid_of_warps,
};
use crate::harness::prelude::*;

const F32: Combined = element_types(ElementKind::F32, ElementKind::F32, ElementKind::F32);

/// Returns the description of a TMA-fed SIMT kernel with these tiles of a CTA, a warp, and a
/// thread. It has three stages and default values otherwise.
pub fn plain(
    orders: [Order; 3],
    block: (u32, u32, u32),
    warp: (u32, u32),
    thread: (u32, u32),
) -> GemmDesc {
    let ring = TmaRingKnobs {
        threadblock: Mnk::new(block.0, block.1, block.2),
        stages: 3,
        ..TmaRingKnobs::DEFAULT
    };
    let mma = SimtKnobs {
        warp: Mnk::new(warp.0, warp.1, block.2),
        thread: Some(Mnk::new(thread.0, thread.1, 1)),
        interleave: InterleaveKind::Vector,
    };
    let knobs = Knobs::new(Mainloop::TmaRing(ring), WarpMma::Simt(mma), [4; 3]);
    GemmDesc::from_values(OpKind::Simt, ArchKind::Sm90, F32, orders, knobs)
}

/// Returns a random valid description.
pub fn description(seed: u64, wanted: Wanted) -> GemmDesc {
    first_valid(seed, wanted, attempt)
}

/// Returns random values for every free knob. Many of the descriptions are invalid.
fn attempt(
    random: &mut Random,
    orders: [Order; 3],
    (m, n): (u32, u32),
    plain_epilogue: bool,
) -> GemmDesc {
    let thread = (random.pick(&[4, 4, 8, 8, 12, 16]), random.pick(&[4, 4, 8, 8, 12, 16]));
    let lanes = random.pick(&[2, 4, 4, 8, 16]);
    let warp = (thread.0 * lanes, thread.1 * (32 / lanes));
    let (schedule, (down, across)) = grid_of_warps(random);
    let k = 8 * (1 + random.below(5) as u32);
    let desc = plain(orders, (warp.0 * down, warp.1 * across, k), warp, thread);
    but!(desc, stages: 2 + random.below(6) as u32, swizzle: order(random), split_k: random.pick(&[1, 1, 1, 2, 5]), align_c: random.pick(&[4, 4, 2, 1]), cluster: Mn { m, n }, schedule: schedule, spills: if !plain_epilogue && random.once_in(4) { SpillKind::Allowed } else { SpillKind::Refused }, epilogue: epilogue(random, plain_epilogue))
}
