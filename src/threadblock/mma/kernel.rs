//! The common part of kernels without a producer, whose threads all follow one schedule.
//!
//! Each CTA computes one tile of D, or several in turn. It has a main loop over stages, and its
//! threads store D.

use crate::{
    arch::OpKind,
    codegen::TranslationUnit,
    epilogue::reduction::Reduction,
    nest::{
        GemmDesc,
        features::{BlockResources, Exchange, Features, Reduced, products_of_a_microsecond},
        plan::{Geometry, Plan},
    },
    numeric::sum_of,
    operand::Problem,
    refusal::Refusal,
    shape::{OperandKind, at_least_one},
    threadblock::{Launch, MmaBase},
};

/// The plan of a kernel without a producer.
pub(crate) struct OneSchedulePlan {
    pub desc: GemmDesc,
    pub base: MmaBase,
}

impl OneSchedulePlan {
    /// Returns the plan of a valid description.
    pub fn new(desc: GemmDesc) -> Self {
        Self { desc, base: desc.base() }
    }
}

impl Plan for OneSchedulePlan {
    fn launch(
        &self,
        problem: &Problem,
        geometry: &Geometry,
        resident: u32,
    ) -> Result<Launch, Refusal> {
        super::launch::launch(&self.desc, problem, (geometry, resident))
    }

    fn unit(&self, with_fingerprints: bool) -> TranslationUnit {
        super::unit::translation_unit(&self.desc, &self.base, with_fingerprints)
    }
}

/// Returns the launch properties of a CTA, with the reduction kernel if the module has one.
pub(crate) const fn geometry(desc: &GemmDesc, base: &MmaBase) -> Geometry {
    let (tile, threads, shared_bytes) = (base.tiles.block, base.tiles.threads(), base.smem_bytes());
    let group_step = match desc.work.mode.groups_of_d() {
        Some(axis) => base.operand(OperandKind::along(axis)).mn_step(),
        None => 1,
    };
    let each = base.store_access.saturating_mul(desc.epilogue.columns_per_output() as u32);
    let accesses = base.tiles.accumulators() / at_least_one(each);
    let reduction = match desc.has_reduction() {
        true => Some(Reduction { blocks: accesses, threads: base.tiles.threads_per_warp_slice() }),
        false => None,
    };
    Geometry { tile, cluster: 1, work: base.work, group_step, threads, shared_bytes, reduction }
}

/// Costs of threads for an element type, in quarters of the cost model's unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    /// Cost of a multiply-add.
    pub product: u64,
    /// Cost of a read from shared memory, divided by the multiply-adds that share it.
    pub read: u64,
}

impl Costs {
    /// Costs of f32 on the CUDA cores, fitted to tiles that fill a multiprocessor
    /// (`lab/data/trials.csv`, log `small_tiles_simt`, log `few_rows_simt`).
    pub const OF_F32: Self = Self { product: 5, read: 32 };
    /// Costs of all other types.
    pub const OF_OTHERS: Self = Self { product: 4, read: 64 };
}

/// Returns the time per k of a CTA in multiply-adds, including its warps' reads of shared memory.
pub(crate) const fn step(base: &MmaBase, Costs { product, read }: Costs) -> u64 {
    let (tile, warp) = (base.tiles.block, base.tiles.warp);
    let products = tile.m as u64 * tile.n as u64;
    (product * products
        + read * (products / at_least_one(warp.m) as u64 + products / at_least_one(warp.n) as u64))
        / 4
}

/// Time to launch the reduction kernel, in microseconds, and bytes of slots that it reduces per
/// microsecond.
pub(crate) const APART: (f64, f64) = (1.5, 3_600_000.0);

/// Returns the bytes of a workspace slot, which holds the partial accumulators of one tile.
pub(crate) const fn slot_bytes(base: &MmaBase) -> u64 {
    sum_of(base.accumulator).matrix_bytes(base.tiles.block.m as u64 * base.tiles.block.n as u64)
}

/// Returns the facts of a CTA for the cost model. `step` is the time per k if copies overlap with
/// multiply-adds. `src/nest/cost_model.rs` explains the constants.
pub(crate) const fn features(base: &MmaBase, step: u64) -> Features {
    const NOT_HIDDEN: u64 = 32;
    let products = base.tiles.block.m as u64 * base.tiles.block.n as u64;
    let (passes, latency) = base.mainloop.cost();
    let accumulators = (products / at_least_one(base.tiles.threads_per_warp_slice()) as u64) as f64;
    // Warps that share the depth add their sums, which costs half as much again per warp.
    let ends = (NOT_HIDDEN * products * (1 + at_least_one(base.tiles.warps().k) as u64) / 2) as f64;
    Features {
        lines: None,
        transposed: 0,
        each: (passes * step) as f64,
        latency,
        alone: 0.0,
        block: Some(BlockResources {
            threads: base.tiles.threads(),
            registers: base.registers(),
            shared_bytes: base.smem_bytes(),
        }),
        not_hidden: ends,
        further: [ends; 2],
        memory: None,
        exchange: Exchange::Workspace {
            begun: 1_200_000.0,
            stored: 4900.0 * accumulators,
            added: 37_000.0 * accumulators,
            brought: 0.0,
            apart: Reduced::new(
                slot_bytes(base),
                APART,
                products_of_a_microsecond(OpKind::Simt, base.accumulator) as f64,
            ),
        },
    }
}
