//! The rules of kernels without a producer that do not depend on the MMA.

use crate::{
    arch::{Machine, WARP},
    nest::{DecompositionKind, GemmDesc, SpillKind},
    numeric::MOST_SLICES,
    refusal::{
        Because, Field, Operand, Part, Refusal, hold,
        rules::{check_alignment, explained, nearest_multiple, within},
    },
    shape::{Axis, Mnk, OperandKind, at_least_one},
    threadblock::{MainloopKind, MmaBase, SwizzleKind},
};

/// Valid extents of a warp tile along M and N.
pub(crate) const WARP_EXTENTS: &[u32] = &[8, 16, 32, 64, 128];

/// Minimum extent of a threadblock tile.
pub(crate) const LEAST_TILE: u32 = 8;

/// Maximum extents of a threadblock tile along M, N, and K.
pub(crate) const MOST_TILE: [u32; 3] = [256, 256, 512];

/// Maximum number of warps of a CTA.
pub(crate) const MOST_WARPS: u32 = 16;

/// Maximum number of registers per thread.
pub(crate) const MOST_REGISTERS: u32 = 255;

/// Maximum number of CTAs that the description of a kernel keeps on a multiprocessor.
pub(crate) const MOST_BLOCKS: u32 = 16;

/// Checks the range of a threadblock tile.
pub(crate) const fn check_range(tb: Mnk) -> Result<(), Refusal> {
    let [most_m, most_n, most_k] = MOST_TILE;
    let axes = [(Axis::M, tb.m, most_m), (Axis::N, tb.n, most_n), (Axis::K, tb.k, most_k)];
    let mut i = 0;
    while i < axes.len() {
        let (axis, value, most) = axes[i];
        hold!(within(Field::Threadblock(axis), value as u64, LEAST_TILE as u64, most as u64));
        i += 1;
    }
    Ok(())
}

/// Checks the range of a threadblock tile, that it is a multiple of the warp tile, and the number
/// of warps. The extents of the warp tile are not 0.
pub(crate) const fn check_threadblock(tb: Mnk, warp: Mnk) -> Result<(), Refusal> {
    hold!(check_range(tb));
    let [most_m, most_n, most_k] = MOST_TILE;
    let axes = [
        (Axis::M, tb.m, warp.m, most_m),
        (Axis::N, tb.n, warp.n, most_n),
        (Axis::K, tb.k, warp.k, most_k),
    ];
    let mut i = 0;
    while i < axes.len() {
        let (axis, value, of, most) = axes[i];
        if !value.is_multiple_of(of) {
            let (field, nearest) = (Field::Threadblock(axis), nearest_multiple(value, of, most));
            return Err(Refusal::does_not_nest(field, Part::Warp, value, of, nearest));
        }
        i += 1;
    }
    let warps = (tb.m / warp.m) * (tb.n / warp.n) * (tb.k / warp.k);
    within(Field::WarpsOfABlock, warps as u64, 1, MOST_WARPS as u64)
}

/// Checks that the alignment of an operand is valid, and that it divides the contiguous extent of
/// the operand's tile.
const fn check_access(base: &MmaBase, kind: OperandKind, align: u32) -> Result<(), Refusal> {
    let (operand, facts) = (Operand::from_kind(kind), base.operand(kind));
    hold!(check_alignment(Field::Alignment(operand), align, facts.element.elements_in(16)));
    let extent = facts.tile_contiguous();
    if extent.is_multiple_of(align) {
        return Ok(());
    }
    Err(Refusal::access_does_not_divide_tile(operand, align, extent, 1 << extent.trailing_zeros()))
}

/// Returns the refusal of split-K in a cluster. These kernels have no barriers in the shared memory
/// of other CTAs.
pub(crate) const fn by_clusters(mainloop: MainloopKind) -> Refusal {
    let (value, nearest) =
        (DecompositionKind::SplitKCluster.name(), DecompositionKind::SplitK.name());
    Refusal::unsupported(Field::Decomposition, value, mainloop.name(), nearest)
}

/// Checks that a decomposition without split-K has one slice.
pub(crate) const fn whole_k(split_k: u32, decomposition: DecompositionKind) -> Result<(), Refusal> {
    let because = Because::Words(decomposition.name());
    explained(within(Field::SplitK, split_k as u64, 1, 1), because)
}

/// Checks the decomposition and its number of split-K slices.
const fn check_slices(
    mainloop: MainloopKind,
    decomposition: DecompositionKind,
    split_k: u32,
) -> Result<(), Refusal> {
    match decomposition {
        DecompositionKind::SplitK | DecompositionKind::SplitKParallel => {}
        DecompositionKind::DataParallel | DecompositionKind::StreamK => {
            return whole_k(split_k, decomposition);
        }
        DecompositionKind::SplitKCluster => return Err(by_clusters(mainloop)),
    }
    within(Field::SplitK, split_k as u64, 1, MOST_SLICES as u64)
}

/// Checks the ranges of the tile order's group size and of the CTAs per multiprocessor.
const fn check_order(swizzle: SwizzleKind, blocks_per_sm: u32) -> Result<(), Refusal> {
    if let Some(group_size) = swizzle.group_size()
        && let Err(refusal) = within(Field::Swizzle, group_size as u64, 1, 64)
    {
        return Err(refusal);
    }
    within(Field::BlocksPerSm, blocks_per_sm as u64, 1, MOST_BLOCKS as u64)
}

/// Checks that a machine has the threads, registers, and shared memory for `blocks` CTAs.
/// `registers` holds the needed and available registers per thread; `None` allows spills.
const fn check_budgets(
    base: &MmaBase,
    machine: &Machine,
    blocks: u32,
    registers: Option<[u32; 2]>,
) -> Result<(), Refusal> {
    let threads = base.tiles.threads();
    hold!(within(Field::ThreadsOfABlock, threads as u64, 32, machine.threads_per_block as u64));
    if let Some([needed, available]) = registers
        && needed > available
    {
        return Err(Refusal::registers(needed, available, threads, blocks));
    }
    let resident = threads.saturating_mul(blocks) as u64;
    if let Err(refusal) =
        within(Field::ThreadsOfAMultiprocessor, resident, 32, machine.threads_per_sm as u64)
    {
        return Err(refusal);
    }
    let (needed, available) = (base.smem_bytes(), machine.shared_bytes_each_of(blocks));
    if needed > available {
        let (stages, stage, partials) = (base.stages, base.stage_bytes(), base.partials_bytes());
        return Err(Refusal::shared_memory(
            [needed, available],
            [stages, stage, partials],
            blocks,
            machine.sm,
        ));
    }
    Ok(())
}

/// Returns the registers available to a thread: at most 255, and at most its share of the
/// multiprocessor. Warps get registers in units of eight per thread, and each quarter of the
/// multiprocessor serves every fourth warp.
pub(crate) const fn registers_available(base_threads: u32, blocks: u32, per_sm: u32) -> u32 {
    let threads = base_threads.saturating_mul(blocks).div_ceil(4 * WARP).saturating_mul(4 * WARP);
    let share = per_sm / at_least_one(threads) / 8 * 8;
    if share < MOST_REGISTERS { share } else { MOST_REGISTERS }
}

impl GemmDesc {
    /// Checks a description without a producer, whose main loop can feed its MMA.
    pub(crate) const fn check_without_producer(&self, machine: &Machine) -> Result<(), Refusal> {
        if !self.types().is_of(self.op()) {
            return Err(self.types().refused_by(self.op()));
        }
        hold!(self.mma.check(self));
        hold!(check_threadblock(self.threadblock(), self.warp()));
        let decomposition = self.work.decomposition;
        hold!(check_slices(self.mainloop.kind(), decomposition, self.work.split_k));
        if matches!(decomposition, DecompositionKind::SplitKParallel) && !self.may_reduce() {
            return Err(Refusal::unsupported(
                Field::Decomposition,
                decomposition.name(),
                "sums of rows or columns",
                DecompositionKind::SplitK.name(),
            ));
        }
        hold!(check_order(self.work.swizzle, self.limits.blocks_per_sm));
        hold!(self.mainloop.check(self));
        let base = self.base();
        hold!(self.check_copies(&base));
        hold!(self.check_epilogue());
        self.check_resources(&base, machine)
    }

    /// Checks the accesses of A and B, their layouts in shared memory, and the copies between.
    pub(crate) const fn check_copies(&self, base: &MmaBase) -> Result<(), Refusal> {
        let mut i = 0;
        while i < OperandKind::BOTH.len() {
            let (kind, staged) = (OperandKind::BOTH[i], &base.operands[i]);
            hold!(check_access(base, kind, self.operands[i].access));
            hold!(self.mma.check_operand(self, kind, staged));
            hold!(self.mainloop.check_copies(Operand::from_kind(kind), staged, self.mma.kind()));
            i += 1;
        }
        Ok(())
    }

    /// Checks that a machine has the threads, registers, and shared memory of the CTAs.
    pub(crate) const fn check_resources(
        &self,
        base: &MmaBase,
        machine: &Machine,
    ) -> Result<(), Refusal> {
        let bound = match self.limits.spills {
            SpillKind::Refused => {
                let (threads, blocks) = (base.tiles.threads(), self.limits.blocks_per_sm);
                let available = registers_available(threads, blocks, machine.registers_per_sm);
                Some([base.registers(), available])
            }
            SpillKind::Allowed => None,
        };
        check_budgets(base, machine, self.limits.blocks_per_sm, bound)
    }

    /// Returns the registers available to a thread of a kernel without a producer.
    pub const fn registers_available(&self, per_sm: u32) -> u32 {
        registers_available(self.base().tiles.threads(), self.limits.blocks_per_sm, per_sm)
    }
}
