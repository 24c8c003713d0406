//! The SIMT family: kernels on the CUDA cores whose threads all follow one schedule.
//!
//! Twin: `kernels/warp/simt/kernel.cuh`.

use crate::{
    codegen::fingerprint_assertion,
    nest::{GemmDesc, features::Features, plan::Plan},
    numeric::ElementKind,
    refusal::Refusal,
    shape::at_least_one,
    threadblock::mma::kernel::{self, Costs, OneSchedulePlan},
    warp::{exchange::BlockedToStriped, simt::explain::SimtExplanation},
};
use std::sync::Arc;

/// The header with the maps of the family's kernels.
const HEADERS: &[(&str, &str)] =
    &[("warp/simt/kernel.cuh", include_str!("../../../kernels/warp/simt/kernel.cuh"))];

impl GemmDesc {
    pub(crate) fn planned_simt(self) -> Result<Arc<dyn Plan>, Refusal> {
        Ok(Arc::new(OneSchedulePlan {
            desc: self,
            base: self.base(),
            headers: HEADERS,
            warp_mma: "warp::MmaSimt<Config>",
            includes: &[],
            fingerprints: self.fingerprint_of_exchange(),
            declarations: String::new(),
            of_operands: Default::default(),
            facts: vec![("static constexpr int kUnroll", self.groups_a_turn().to_string())],
            blocks_per_sm: self.limits.blocks_per_sm,
            registers: self.base().registers(),
        }))
    }

    /// Returns the fingerprint assertion of the exchange between lanes before a store, or an empty
    /// text without an exchange.
    fn fingerprint_of_exchange(&self) -> String {
        let base = self.base();
        BlockedToStriped::new(&base.tiles, base.accumulator, base.store_access)
            .map_or_else(String::new, |map| fingerprint_assertion(&map.twin(), "exchange", &map))
    }

    pub(crate) fn explained_simt(&self) -> Result<SimtExplanation, Refusal> {
        Ok(SimtExplanation::new(self, &self.base()))
    }

    /// Returns the facts for the cost model. `src/nest/cost_model.rs` explains the constants.
    ///
    /// They are fitted with a K-major A, whose elements are transposed and copied one by one on
    /// their way to shared memory. For f32, a B that is transposed costs extra time. The time grows
    /// as fewer multiply-adds per element hide it (`lab/data/trials.csv`, log `few_rows_simt`).
    pub(crate) const fn features_simt(&self) -> Features {
        const TRANSPOSED: u64 = 256;
        const MOST: u64 = 24;
        const STRAIGHT: u64 = 8;
        let (base, singles) = (self.base(), matches!(self.operands[0].stored, ElementKind::F32));
        let tile = base.tiles.block;
        let each = TRANSPOSED / at_least_one(tile.m) as u64;
        let transposed = if singles && base.operands[1].transposes() { tile.n as u64 } else { 0 };
        let costs = if singles { Costs::OF_F32 } else { Costs::OF_OTHERS };
        let step = kernel::step(&base, costs) + transposed * if each < MOST { each } else { MOST };
        let straight =
            if singles && !base.operands[0].transposes() { STRAIGHT * tile.m as u64 } else { 0 };
        let step = if straight < step { step - straight } else { step };
        // A barrier every eight steps of k, with few multiply-adds in each.
        let alone = if singles && tile.k <= 8 && tile.m * tile.n <= 64 * 64 { 2600.0 } else { 0.0 };
        Features { alone, ..kernel::features(&base, base.registers(), step) }
    }
}
