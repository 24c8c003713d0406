//! Random descriptions of TMA-fed `mma.sync` kernels, which multiply f64.

use super::{
    super::{adding, epilogue, order, spills},
    first_valid, grid_of_warps,
};
use crate::harness::prelude::*;

const F64: Combined = element_types(ElementKind::F64, ElementKind::F64, ElementKind::F64);

/// Returns the description of a TMA-fed `mma.sync` kernel with these tiles of a CTA and of a warp,
/// and this depth of an instruction. It has three stages and default values otherwise.
pub fn plain(orders: [Order; 3], block: (u32, u32), warp: (u32, u32), k: u32) -> GemmDesc {
    let ring = TmaRingKnobs {
        threadblock: Mnk::new(block.0, block.1, 16),
        stages: 3,
        ..TmaRingKnobs::DEFAULT
    };
    let mma = MmaSyncKnobs {
        warp: Mnk::new(warp.0, warp.1, 16),
        instruction: Mnk::new(16, 8, k),
        saturate: SaturateKind::Off,
    };
    let knobs = Knobs::new(Mainloop::TmaRing(ring), WarpMma::MmaSync(mma), [2; 3]);
    GemmDesc::from_values(OpKind::TensorOp, ArchKind::Sm90, F64, orders, knobs)
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
    let warp = (random.pick(&[16, 16, 32, 48, 64]), random.pick(&[16, 16, 32, 48, 64]));
    let (schedule, (down, across)) = grid_of_warps(random);
    let desc = plain(orders, (warp.0 * down, warp.1 * across), warp, random.pick(&[4, 8]));
    let split_k = random.pick(&[1, 1, 1, 2, 5]);
    but!(desc, stages: 2 + random.below(6) as u32, swizzle: order(random), split_k: split_k, decomposition: adding(split_k), align_c: random.pick(&[2, 2, 1]), cluster: Mn { m, n }, schedule: schedule, spills: spills(random, !plain_epilogue, 4), epilogue: epilogue(random, plain_epilogue))
}
