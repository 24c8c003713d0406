//! Dispatch from a description to the files of its main loop and its MMA.

use crate::{
    arch::Machine,
    nest::{
        GemmDesc,
        features::Features,
        plan::{Geometry, Plan},
    },
    numeric::EmulationKind,
    operand::{OperandNeed, Problem, Routes, fitting},
    refusal::Refusal,
    shape::OperandKind,
    threadblock::{
        MOST_STREAMS, Mainloop, MainloopKind, MmaBase,
        mma::{
            kernel::{self, OneSchedulePlan},
            program::Program,
        },
        tma_ring::explain::WarpSpecializedExplanation,
    },
    warp::{
        TiledMma, WarpMma, WarpMmaKind, mma_sync::explain::MmaSyncExplanation,
        simt::explain::SimtExplanation,
    },
};
use std::sync::Arc;

/// Returns the refusal of an emulation by kernels whose terms have another place. It suggests the
/// main loop that feeds an MMA with this emulation.
pub(crate) const fn emulation_of_others(emulation: EmulationKind) -> Refusal {
    let (mut other, mut i) = (None, 0);
    while i < WarpMmaKind::ALL.len() && other.is_none() {
        let (mma, preferred) = (WarpMmaKind::ALL[i], MainloopKind::without_producer());
        let mainloop =
            if preferred.feeds(mma) { preferred } else { MainloopKind::first_that_feeds(mma) };
        if mma.emulates(emulation) && mainloop.feeds(mma) {
            other = Some(mainloop.advice_or_emulation(emulation.in_registers()));
        }
        i += 1;
    }
    Refusal::emulation_of_others(emulation, other)
}

/// The derived facts of a description. The JSON form contains only the facts.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
pub enum Explanation {
    /// A SIMT kernel without a producer.
    Simt(SimtExplanation),
    /// A kernel with a TMA ring.
    TmaRing(WarpSpecializedExplanation),
    /// An `mma.sync` kernel without a producer.
    MmaSync(MmaSyncExplanation),
}

impl Explanation {
    /// Returns the schedule, one line per section.
    pub fn schedule(&self) -> &[String] {
        match self {
            Self::Simt(facts) => &facts.schedule,
            Self::TmaRing(facts) => &facts.schedule,
            Self::MmaSync(facts) => &facts.schedule,
        }
    }
}

impl GemmDesc {
    /// Returns the derived facts of the description.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check).
    pub fn explain(&self) -> Result<Explanation, Refusal> {
        self.check()?;
        match (self.mainloop, self.mma) {
            (Mainloop::TmaRing(_), _) => self.explained_ring().map(Explanation::TmaRing),
            (_, WarpMma::MmaSync(_)) => {
                Ok(Explanation::MmaSync(MmaSyncExplanation::new(self, &self.base())))
            }
            (_, WarpMma::Simt(_)) => {
                Ok(Explanation::Simt(SimtExplanation::new(self, &self.base())))
            }
            // `check` has refused the other pairs.
            _ => Err(self.not_fed()),
        }
    }

    /// Returns the refusal of a main loop that cannot feed the MMA.
    const fn not_fed(&self) -> Refusal {
        let mma = self.mma.kind();
        let nearest = MainloopKind::first_that_feeds(mma).name();
        Refusal::not_fed(self.mainloop.kind().name(), mma.name(), nearest)
    }

    /// Checks that the main loop can feed the MMA, and the rules of both.
    pub(crate) const fn check_pair(&self, machine: &Machine) -> Result<(), Refusal> {
        let (mainloop, mma) = (self.mainloop.kind(), self.mma.kind());
        if !mainloop.feeds(mma) {
            return Err(self.not_fed());
        }
        match self.mainloop {
            Mainloop::TmaRing(_) => self.check_on_ring(machine),
            _ => self.check_without_producer(machine),
        }
    }

    /// Returns the components of a CTA without a producer. They are arbitrary for another kernel.
    pub const fn base(&self) -> MmaBase {
        MmaBase::new(self)
    }

    /// Returns the MMA of a CTA.
    pub(crate) const fn tiled_mma(&self) -> TiledMma {
        match self.mainloop {
            Mainloop::TmaRing(_) => self.tiled_mma_on_ring(),
            _ => self.base().mma,
        }
    }

    /// Returns the divisor of the columns of half a warp tile, if the epilogue has a gate.
    pub(super) const fn columns_of_gate(&self) -> u32 {
        match self.mainloop {
            Mainloop::TmaRing(_) => self.columns_of_gate_on_ring(),
            _ => self.columns_of_gate_without_producer(),
        }
    }

    /// Returns whether kernels of this kind can read the lines of an operand by an index.
    pub(crate) const fn may_gather(&self, operand: OperandKind) -> bool {
        match self.mainloop {
            Mainloop::TmaRing(_) => self.mma.may_gather(self, operand),
            _ => true,
        }
    }

    /// Returns whether the kernel reads the lines of an operand by an index. Otherwise, a pass
    /// gathers them.
    pub(crate) const fn gathers(&self, operand: OperandKind) -> bool {
        match self.mainloop {
            Mainloop::TmaRing(_) => self.mma.gathers(self, operand),
            _ => true,
        }
    }

    /// Returns the alignment of the first tile of a group along the axis of the groups.
    #[doc(hidden)]
    pub const fn group_step(&self) -> u32 {
        match self.mainloop {
            Mainloop::TmaRing(_) => self.group_step_ring(),
            _ => self.geometry().group_step,
        }
    }

    /// Returns the properties that determine the launch.
    #[doc(hidden)]
    pub const fn geometry(&self) -> Geometry {
        match self.mainloop {
            Mainloop::TmaRing(_) => self.geometry_ring(),
            _ => kernel::geometry(self, &self.base()),
        }
    }

    /// Returns the facts for the cost model.
    pub(crate) const fn features(&self) -> Features {
        match self.mainloop {
            Mainloop::TmaRing(_) => self.mma.consumer_features(self),
            _ => self.mma.features(self, &self.base()),
        }
    }

    /// Returns the maximum number of stream-K clusters, which bounds the workspace.
    ///
    /// The workspace size is computed before the device and the registers per thread are known. The
    /// bound therefore assumes [`MOST_STREAMS`] multiprocessors, and on each one the estimated or
    /// the pinned number of CTAs, whichever is larger. A larger device leaves multiprocessors idle.
    #[doc(hidden)]
    pub const fn most_streams(&self) -> u32 {
        let held = self.features().resident(&self.arch.machine());
        let asked = self.limits.blocks_per_sm;
        MOST_STREAMS.saturating_mul(if held > asked { held } else { asked })
    }

    /// Returns the requirements under which the kernel reads A and B in place.
    pub(crate) fn needs(&self) -> [OperandNeed; 2] {
        match self.mainloop {
            Mainloop::TmaRing(_) => self.needs_ring(),
            _ => self.base().operands.map(|operand| OperandNeed::Accesses(operand.access)),
        }
    }

    /// Returns the plan, which is cached with the kernel.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check), and the refusal of a transform or an order of tiles
    /// that this process does not have.
    #[doc(hidden)]
    pub fn plan(&self) -> Result<Arc<dyn Plan>, Refusal> {
        self.check()?;
        self.check_registered()?;
        match self.mainloop {
            Mainloop::TmaRing(_) => self.planned_ring(),
            _ => Ok(Arc::new(OneSchedulePlan::new(*self))),
        }
    }

    /// Returns the host program of a kernel whose threads all follow one schedule.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check), and [`Refusal`] for another kernel.
    #[doc(hidden)]
    pub fn one_schedule(&self) -> Result<Program, Refusal> {
        self.check()?;
        self.check_registered()?;
        match self.mainloop {
            Mainloop::TmaRing(_) => Err(self.mainloop.kind().needs_roles()),
            _ => Ok(Program::new(*self, self.base())),
        }
    }

    /// Returns the threads per CTA. The number is arbitrary for an invalid description.
    pub const fn threads(&self) -> u32 {
        self.geometry().threads
    }

    /// Returns the shared memory per CTA in bytes. The number is arbitrary for an invalid
    /// description.
    pub const fn smem_bytes(&self) -> u32 {
        self.geometry().shared_bytes
    }

    /// Returns the routes of the operands to the kernel, for a problem in the user's frame. Unknown
    /// addresses count as multiples of 16 bytes, as in allocations.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check).
    #[doc(hidden)]
    pub fn routes(&self, problem: &Problem) -> Result<Routes, Refusal> {
        self.check()?;
        Ok(Routes::new(self, &problem.enter_unchecked(self)).leave(self.frame))
    }

    /// Returns the bytes of workspace for one problem, or for the GEMMs of an array, one after the
    /// other. The problems are in the user's frame, and kernels read them in place if possible.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check), and the refusal of a problem that the description
    /// cannot compute.
    #[doc(hidden)]
    pub fn workspace_of(&self, problems: &[Problem]) -> Result<u64, Refusal> {
        let Some(first) = problems.first() else { return Ok(0) };
        let desc = if problems.len() > 1 { self.for_array(problems.len()) } else { *self }
            .for_scalars(&first.scalars);
        desc.check()?;
        let seen =
            problems.iter().map(|problem| problem.enter(&desc)).collect::<Result<Vec<_>, _>>()?;
        Ok(Routes::for_array(&desc, &seen).iter().map(Routes::workspace_bytes).max().unwrap_or(0))
    }

    /// Returns the description with accesses as wide as a problem in the user's frame allows.
    /// Leading dimensions, extents, and known addresses limit the accesses.
    ///
    /// # Errors
    /// The refusal of a problem that the description cannot compute.
    #[doc(hidden)]
    pub fn fitted(&self, problem: &Problem) -> Result<GemmDesc, Refusal> {
        self.check()?;
        let seen = problem.enter(self)?;
        Ok(fitting(self, &Routes::new(self, &seen).problem(self, &seen, 0)))
    }
}
