//! The cost of a SIMT kernel without a producer.

use crate::{
    nest::features::Features,
    numeric::ElementKind,
    shape::at_least_one,
    threadblock::{
        MmaBase,
        mma::kernel::{self, Costs},
    },
    warp::SimtKnobs,
};

impl SimtKnobs {
    /// Returns the facts for the cost model. `src/nest/cost_model.rs` explains the constants.
    ///
    /// They are fitted with a K-major A, whose elements are transposed and copied one by one on
    /// their way to shared memory. For f32, a B that is transposed costs extra time. The time grows
    /// as fewer multiply-adds per element hide it (`lab/data/trials.csv`, log `few_rows_simt`).
    pub(crate) const fn features(base: &MmaBase) -> Features {
        const TRANSPOSED: u64 = 256;
        const MOST: u64 = 24;
        const STRAIGHT: u64 = 8;
        let singles = matches!(base.operands[0].element, ElementKind::F32);
        let tile = base.tiles.block;
        let each = TRANSPOSED / at_least_one(tile.m) as u64;
        let transposed = if singles && base.operands[1].transposes() { tile.n as u64 } else { 0 };
        let costs = if singles { Costs::OF_F32 } else { Costs::OF_OTHERS };
        let step = kernel::step(base, costs) + transposed * if each < MOST { each } else { MOST };
        let straight =
            if singles && !base.operands[0].transposes() { STRAIGHT * tile.m as u64 } else { 0 };
        let step = if straight < step { step - straight } else { step };
        // A barrier every eight steps of k, with few multiply-adds in each.
        let alone = if singles && tile.k <= 8 && tile.m * tile.n <= 64 * 64 { 2600.0 } else { 0.0 };
        Features { alone, ..kernel::features(base, step) }
    }
}
