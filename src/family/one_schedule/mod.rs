//! What families have in common whose threads all follow one schedule: a block for each tile of D,
//! or for some in turn, a main loop over stages, and threads that store.
//!
//! A family makes an [`MmaBase`], and says which header has its maps and what its warps multiply
//! by; the plan is this one.
//!
//! Twin: `kernels/family/one_schedule.cuh`.

mod check;
mod launch;
mod unit;

use super::features::{BlockResources, Exchange, Features, Reduced, products_of_a_microsecond};
use crate::{
    arch::OpKind,
    call::{Launch, Problem},
    codegen::TranslationUnit,
    desc::{DecompositionKind, GemmDesc},
    epilogue::reduction::Reduction,
    numeric::sum_of,
    operand::OperandKind,
    plan::{Geometry, HostProgram, Plan, Program},
    refusal::Refusal,
    shape::at_least_one,
    threadblock::{MainloopKind, MmaBase, WorkKind},
};
pub(super) use check::{
    WARP_EXTENTS, by_clusters, check_access, check_budgets, check_order, check_parts, check_stages,
    check_threadblock, registers_available,
};

/// How units of work are divided: each has a block of its own, or blocks have spans of them.
pub(super) const fn work_of(decomposition: DecompositionKind) -> WorkKind {
    match decomposition {
        DecompositionKind::StreamK => WorkKind::StreamK,
        _ => WorkKind::DataParallel,
    }
}

/// A description, the components of its block, and what its kernel is made of beside.
pub(super) struct OneSchedulePlan {
    pub desc: GemmDesc,
    pub base: MmaBase,
    /// The family's own headers, of which the first has its maps.
    pub headers: &'static [(&'static str, &'static str)],
    /// What a warp multiplies by, as a C++ type.
    pub warp_mma: &'static str,
    /// What operands refer to, and what `Config` does.
    pub includes: &'static str,
    pub declarations: String,
    /// Fingerprints beside those of its maps.
    pub fingerprints: String,
    /// Facts of each operand, of the family's own: type and name, and value.
    pub of_operands: [Vec<(&'static str, String)>; 2],
    /// Members of `Config`, of the family's own.
    pub facts: Vec<(&'static str, String)>,
    pub blocks_per_sm: u32,
    /// What its main loop needs of a thread's.
    pub registers: u32,
}

impl Plan for OneSchedulePlan {
    fn launch(
        &self,
        problem: &Problem,
        geometry: &Geometry,
        resident: u32,
    ) -> Result<Launch, Refusal> {
        launch::launch(&self.desc, problem, (geometry, resident))
    }

    fn unit(&self, with_fingerprints: bool) -> TranslationUnit {
        unit::translation_unit(self, with_fingerprints)
    }

    fn program(&self) -> Result<HostProgram, Refusal> {
        Ok(HostProgram::OneSchedule(Box::new(Program::of(self.desc, self.base))))
    }
}

/// What a launch has to know of such a block, of a kernel that may have a second one with it.
pub(super) const fn geometry(desc: &GemmDesc, base: &MmaBase) -> Geometry {
    let (tile, threads, shared_bytes) = (base.tiles.block, base.tiles.threads(), base.smem_bytes());
    let group_step = match desc.class.mode.groups() {
        Some(axis) => base.operand(OperandKind::along(axis)).mn_step(),
        None => 1,
    };
    let accesses = base.tiles.accumulators() / at_least_one(base.store_access);
    let reduction = match desc.has_reduction() {
        true => Some(Reduction { blocks: accesses, threads: base.tiles.threads_per_slice() }),
        false => None,
    };
    Geometry { tile, cluster: 1, work: base.work, group_step, threads, shared_bytes, reduction }
}

/// What threads take for elements of a type, in quarters of a product of the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// A product.
    pub product: u64,
    /// A read of shared memory, for all the products that share it.
    pub read: u64,
}

impl Costs {
    /// Of f32 on the CUDA cores: fitted to tiles that fill a multiprocessor
    /// (`lab/data/trials.csv`, log `small_tiles_simt`, log `few_rows_simt`).
    pub const OF_F32: Self = Self { product: 5, read: 32 };
    /// Of all others.
    pub const OF_OTHERS: Self = Self { product: 4, read: 64 };
}

/// A step along K of such a block, in products: its own, and what its warps read of shared memory.
pub(super) const fn step(base: &MmaBase, Costs { product, read }: Costs) -> u64 {
    let (tile, warp) = (base.tiles.block, base.tiles.warp);
    let products = tile.m as u64 * tile.n as u64;
    (product * products
        + read * (products / at_least_one(warp.m) as u64 + products / at_least_one(warp.n) as u64))
        / 4
}

/// The launch of a second kernel that adds parts, in microseconds, and bytes of slots in one.
pub(super) const APART: (f64, f64) = (1.5, 3_600_000.0);

/// Bytes of a slot of the workspace, which has a part of a tile.
pub(super) const fn slot_bytes(base: &MmaBase) -> u64 {
    sum_of(base.accumulator).matrix_bytes(base.tiles.block.m as u64 * base.tiles.block.n as u64)
}

/// What the model of time knows of such a block, whose threads have so many registers and whose
/// step along K takes so much, where copies and products do not take turns. The numbers are
/// explained in `src/family/extents.rs`.
pub(super) const fn features(base: &MmaBase, registers: u32, step: u64) -> Features {
    const NOT_HIDDEN: u64 = 32;
    // Of a k-tile that registers bring, which two barriers and its loads wait for.
    const THROUGH_REGISTERS: f64 = 230_000.0;
    let products = base.tiles.block.m as u64 * base.tiles.block.n as u64;
    let (turns, latency) = match base.mainloop {
        MainloopKind::SingleStage => (2, 9000.0),
        MainloopKind::Multistage => (1, 2600.0),
        _ => (1, THROUGH_REGISTERS / at_least_one(base.tiles.block.k) as f64),
    };
    let accumulators = (products / at_least_one(base.tiles.threads_per_slice()) as u64) as f64;
    // Warps that share the depth add up their sums, each for half as much again.
    let ends = (NOT_HIDDEN * products * (1 + at_least_one(base.tiles.warps().k) as u64) / 2) as f64;
    Features {
        lines: None,
        transposed: 0,
        each: (turns * step) as f64,
        latency,
        alone: 0.0,
        block: Some(BlockResources {
            threads: base.tiles.threads(),
            registers,
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
            apart: Reduced::of(
                slot_bytes(base),
                APART,
                products_of_a_microsecond(OpKind::Simt, base.accumulator) as f64,
            ),
        },
    }
}
