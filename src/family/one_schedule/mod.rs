//! What families have in common whose threads all follow one schedule: a block for each tile of D, a main loop over stages, and threads that store.
//!
//! A family makes an [`MmaBase`], and says which header has its maps and what its warps multiply by; the plan is this one.
//!
//! Twin: `kernels/family/one_schedule.cuh`.

mod check;
mod launch;
mod unit;

use crate::{
    call::{Launch, OperandNeed, Problem},
    codegen::TranslationUnit,
    desc::GemmDesc,
    plan::{Geometry, HostProgram, Plan, Program},
    refusal::Refusal,
    threadblock::{MmaBase, WorkKind},
};
pub(super) use check::{
    WARP_EXTENTS, check_access, check_budgets, check_order, check_stages, check_threadblock, registers_available,
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
