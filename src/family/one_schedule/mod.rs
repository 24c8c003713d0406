//! What families have in common whose threads all follow one schedule: a block for each tile of D, a main loop over stages, and threads that store.
//!
//! A family makes an [`MmaBase`], and says which header has its maps and what its warps multiply by; the plan is this one.
//!
//! Twin: `kernels/family/one_schedule.cuh`.

mod launch;
mod unit;

use crate::{
    arch::{ArchKind, Machine},
    numeric::MOST_PARTS,
    threadblock::SwizzleKind,
};
use crate::{
    call::{Launch, OperandNeed, Problem},
    codegen::TranslationUnit,
    desc::GemmDesc,
    plan::{Geometry, HostProgram, Plan, Program},
    refusal::{Field, Refusal, Word, hold, rules::within},
    threadblock::{MainloopKind, MmaBase, WorkKind},
};

/// How units of work are divided.
const WORK: WorkKind = WorkKind::DataParallel;

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
    /// Facts of each operand, of the family's own: type and name, and value.
    pub of_operands: [Vec<(&'static str, String)>; 2],
    /// Members of `Config`, of the family's own.
    pub facts: Vec<(&'static str, String)>,
}

impl Plan for OneSchedulePlan {
    fn needs(&self) -> [OperandNeed; 2] {
        self.base.operands.map(|operand| OperandNeed::Accesses(operand.access))
    }

    fn launch(&self, problem: &Problem, geometry: &Geometry, _: u32) -> Result<Launch, Refusal> {
        launch::launch(&self.desc, problem, geometry)
    }

    fn unit(&self, with_fingerprints: bool) -> TranslationUnit {
        unit::translation_unit(self, with_fingerprints)
    }

    fn program(&self) -> Result<HostProgram, Refusal> {
        Ok(HostProgram::OneSchedule(Box::new(Program::of(self.desc, self.base))))
    }
}

/// What a launch has to know of such a block.
pub(super) const fn geometry(base: &MmaBase) -> Geometry {
    let (tile, threads, shared_bytes) = (base.tiles.block, base.tiles.threads(), base.smem_bytes());
    Geometry { tile, cluster: 1, work: WORK, threads, shared_bytes }
}

/// Whether the order of tiles, the parts of K and the blocks of a multiprocessor are within their ranges.
pub(super) const fn check_order(swizzle: SwizzleKind, split_k: u32, blocks_per_sm: u32) -> Result<(), Refusal> {
    if let Some(group_size) = swizzle.group_size()
        && let Err(refusal) = within(Field::Swizzle, group_size as u64, 1, 64)
    {
        return Err(refusal);
    }
    hold!(within(Field::SplitK, split_k as u64, 1, MOST_PARTS as u64));
    within(Field::BlocksPerSm, blocks_per_sm as u64, 1, 16)
}

/// Whether the main loop is one of these, and has as many stages.
pub(super) const fn check_stages(mainloop: MainloopKind, stages: u32, arch: ArchKind) -> Result<(), Refusal> {
    match mainloop {
        MainloopKind::SingleStage => within(Field::Stages, stages as u64, 1, 1),
        MainloopKind::Pipelined if stages < 2 => within(Field::Stages, stages as u64, 2, 2),
        MainloopKind::Pipelined if stages != 2 => Err(Refusal::PipelinedStages { stages }),
        MainloopKind::Pipelined => Ok(()),
        MainloopKind::Multistage if !arch.copies_asynchronously() => Err(Refusal::NoAsynchronousCopy { arch }),
        MainloopKind::Multistage => within(Field::Stages, stages as u64, 2, 16),
        MainloopKind::WarpSpecialized => Err(Refusal::NoChoice {
            field: Field::Mainloop,
            mainloop: Word(mainloop.name()),
            nearest: Word(MainloopKind::Multistage.name()),
        }),
    }
}

/// Whether a machine has the threads, the registers and the shared memory of so many blocks. Registers are those that a thread needs and can have; `None`
/// where it may need more.
pub(super) const fn check_budgets(
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
        return Err(Refusal::Registers { needed, available, threads, blocks });
    }
    let resident = threads.saturating_mul(blocks) as u64;
    if let Err(refusal) = within(Field::ThreadsOfAMultiprocessor, resident, 32, machine.threads_per_sm as u64) {
        return Err(refusal);
    }
    let (needed, available) = (base.smem_bytes(), machine.shared_bytes_each_of(blocks));
    if needed > available {
        let (stages, stage, partials) = (base.stages, base.stage_bytes(), base.partials_bytes());
        return Err(Refusal::SharedMemory { needed, available, stages, stage, partials, blocks, arch: machine.sm });
    }
    Ok(())
}

/// The registers that a thread can have: a quarter of a kilobyte, or its share of the multiprocessor's, which are dealt to
/// warps in eights for a thread, a quarter of them to every fourth warp.
pub(super) const fn registers_available(base_threads: u32, blocks: u32, per_sm: u32) -> u32 {
    use crate::{arch::WARP, shape::at_least_one};
    let threads = base_threads.saturating_mul(blocks).div_ceil(4 * WARP).saturating_mul(4 * WARP);
    let share = per_sm / at_least_one(threads) / 8 * 8;
    if share < 255 { share } else { 255 }
}
