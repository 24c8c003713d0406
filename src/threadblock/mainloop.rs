//! The knobs of the main loops as one value, and dispatch to the file of each main loop.

use crate::{
    nest::{GemmDesc, Pins},
    numeric::ElementKind,
    refusal::{Operand, Refusal, hold},
    schedule::{Schedule, ScheduleKind},
    shape::{Mn, Mnk},
    threadblock::{
        MainloopKind, MmaBase, MultistageKnobs, PipelinedKnobs, SingleStageKnobs, StagedOperand,
        TmaRingKnobs,
    },
    warp::{UnrollKind, WarpMmaKind},
};

/// Maximum number of stages. The hardware has no such limit.
pub(crate) const MOST_STAGES: u32 = 16;

/// Size of the narrowest asynchronous copy in bytes. Source: PTX ISA, `cp.async`.
pub(crate) const LEAST_COPY: u32 = 4;

/// Returns whether an access of `access` elements is too narrow for an asynchronous copy.
pub(crate) const fn is_too_narrow(element: ElementKind, access: u32) -> bool {
    element.bytes_of(access) < LEAST_COPY
}

/// The main loop of a CTA, which moves tiles of A and B along K into shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mainloop {
    /// One stage, copied through registers.
    SingleStage(SingleStageKnobs),
    /// Two stages. The next tile waits in registers while the current tile is multiplied.
    Pipelined(PipelinedKnobs),
    /// A ring of stages, filled by `cp.async`.
    Multistage(MultistageKnobs),
    /// A ring of stages, filled by one producer warpgroup with TMA.
    TmaRing(TmaRingKnobs),
}

/// Knobs.
impl Mainloop {
    /// Returns a main loop. The knobs that only the TMA ring has are the defaults.
    pub(crate) const fn new(
        kind: MainloopKind,
        threadblock: Mnk,
        stages: u32,
        unroll: UnrollKind,
    ) -> Self {
        match kind {
            MainloopKind::SingleStage => {
                Self::SingleStage(SingleStageKnobs { threadblock, unroll })
            }
            MainloopKind::Pipelined => Self::Pipelined(PipelinedKnobs { threadblock }),
            MainloopKind::Multistage => Self::Multistage(MultistageKnobs { threadblock, stages }),
            MainloopKind::TmaRing => {
                Self::TmaRing(TmaRingKnobs { threadblock, stages, ..TmaRingKnobs::DEFAULT })
            }
        }
    }

    /// Returns the kind.
    pub const fn kind(&self) -> MainloopKind {
        match self {
            Self::SingleStage(_) => MainloopKind::SingleStage,
            Self::Pipelined(_) => MainloopKind::Pipelined,
            Self::Multistage(_) => MainloopKind::Multistage,
            Self::TmaRing(_) => MainloopKind::TmaRing,
        }
    }

    /// Returns the threadblock tile in elements: the tile of D that one CTA computes, and its depth
    /// along K.
    pub const fn threadblock(&self) -> Mnk {
        match self {
            Self::SingleStage(knobs) => knobs.threadblock,
            Self::Pipelined(knobs) => knobs.threadblock,
            Self::Multistage(knobs) => knobs.threadblock,
            Self::TmaRing(knobs) => knobs.threadblock,
        }
    }

    /// Returns the number of k-tiles that shared memory holds at once.
    pub const fn stages(&self) -> u32 {
        match self {
            Self::SingleStage(_) => SingleStageKnobs::STAGES,
            Self::Pipelined(_) => PipelinedKnobs::STAGES,
            Self::Multistage(knobs) => knobs.stages,
            Self::TmaRing(knobs) => knobs.stages,
        }
    }

    /// Returns whether a producer warpgroup copies tiles by TMA.
    pub const fn has_producer(&self) -> bool {
        self.kind().has_producer()
    }

    /// Returns the cluster shape in CTAs along M and N.
    pub const fn cluster(&self) -> Mn {
        match self {
            Self::SingleStage(_) | Self::Pipelined(_) | Self::Multistage(_) => Mn::ONE,
            Self::TmaRing(knobs) => knobs.cluster,
        }
    }

    /// Returns the schedule of the consumers, or `None` without a producer.
    pub const fn consumers(&self) -> Option<ScheduleKind> {
        match self {
            Self::SingleStage(_) | Self::Pipelined(_) | Self::Multistage(_) => None,
            Self::TmaRing(knobs) => Some(knobs.schedule),
        }
    }

    /// Returns the unrolling of the loop over a tile's k-blocks.
    pub const fn unroll(&self) -> UnrollKind {
        match self {
            Self::SingleStage(knobs) => knobs.unroll,
            Self::Pipelined(_) | Self::Multistage(_) | Self::TmaRing(_) => UnrollKind::Full,
        }
    }

    /// Adds the knobs to pins.
    pub(crate) const fn pins(&self, pins: Pins) -> Pins {
        let pins = Pins { mainloop: Some(self.kind()), stages: Some(self.stages()), ..pins };
        match self {
            Self::SingleStage(knobs) => knobs.pins(pins),
            Self::Pipelined(knobs) => knobs.pins(pins),
            Self::Multistage(knobs) => knobs.pins(pins),
            Self::TmaRing(knobs) => knobs.pins(pins),
        }
    }

    /// Returns the main loop with the pinned knobs replaced. The main loops without a producer
    /// replace each other.
    pub(crate) const fn pinned(self, pins: &Pins) -> Self {
        let mainloop = match pins.mainloop {
            Some(kind) if !kind.has_producer() && !self.has_producer() => {
                Self::new(kind, self.threadblock(), self.stages(), self.unroll())
            }
            _ => self,
        };
        match mainloop {
            Self::SingleStage(knobs) => Self::SingleStage(knobs.pinned(pins)),
            Self::Pipelined(knobs) => Self::Pipelined(knobs.pinned(pins)),
            Self::Multistage(knobs) => Self::Multistage(knobs.pinned(pins)),
            Self::TmaRing(knobs) => Self::TmaRing(knobs.pinned(pins)),
        }
    }
}

/// Rules.
impl Mainloop {
    /// Checks that the main loop has the pinned number of stages, and the pinned unrolling.
    ///
    /// # Errors
    /// [`Refusal`] of the number of stages, or of the unrolling.
    pub const fn check_pinned(&self, pins: &Pins) -> Result<(), Refusal> {
        if let Some(stages) = pins.stages {
            match self {
                Self::SingleStage(_) => hold!(SingleStageKnobs::check_stages(stages)),
                Self::Pipelined(_) => hold!(PipelinedKnobs::check_stages(stages)),
                Self::Multistage(_) | Self::TmaRing(_) => {}
            }
        }
        match (self, pins.unroll) {
            (Self::SingleStage(_), _) => Ok(()),
            (_, None | Some(UnrollKind::Full)) => Ok(()),
            (_, Some(UnrollKind::By(k_blocks))) => {
                Err(Refusal::no_loop_to_unroll(k_blocks, self.kind().name()))
            }
        }
    }

    /// Checks the knobs of a main loop without a producer.
    pub(crate) const fn check(&self, desc: &GemmDesc) -> Result<(), Refusal> {
        match self {
            Self::SingleStage(knobs) => knobs.check(desc.warp().k),
            Self::Pipelined(_) => Ok(()),
            Self::Multistage(knobs) => {
                knobs.check(desc.arch, MainloopKind::first_through_registers(desc.mma.kind()))
            }
            Self::TmaRing(_) => Err(self.kind().needs_roles()),
        }
    }

    /// Checks that the copies of the main loop, which feeds `mma`, support the accesses of an
    /// operand.
    pub(crate) const fn check_copies(
        &self,
        operand: Operand,
        staged: &StagedOperand,
        mma: WarpMmaKind,
    ) -> Result<(), Refusal> {
        match self {
            Self::Multistage(_) => {
                let other = MainloopKind::first_through_registers(mma);
                MultistageKnobs::check_copies(operand, staged, other)
            }
            Self::SingleStage(_) | Self::Pipelined(_) | Self::TmaRing(_) => Ok(()),
        }
    }

    /// Returns whether an access of `access` elements is too narrow for the copies of the main
    /// loop.
    pub(crate) const fn is_too_narrow(&self, element: ElementKind, access: u32) -> bool {
        match self {
            Self::Multistage(_) => is_too_narrow(element, access),
            Self::SingleStage(_) | Self::Pipelined(_) | Self::TmaRing(_) => false,
        }
    }
}

/// Steps, C++, and cost.
impl Mainloop {
    /// Returns whether copies to shared memory bypass registers.
    pub const fn copies_asynchronously(&self) -> bool {
        self.kind().copies_asynchronously()
    }

    /// Returns whether the fragments of the next k-block load while the current one is multiplied.
    pub(crate) const fn loads_ahead(&self) -> bool {
        match self {
            Self::SingleStage(_) => false,
            Self::Pipelined(_) | Self::Multistage(_) | Self::TmaRing(_) => true,
        }
    }

    /// Returns the schedule that all threads of the block follow. It is empty with a producer,
    /// whose roles have schedules of their own.
    pub(crate) fn schedule(&self, base: &MmaBase) -> Schedule {
        match self {
            Self::SingleStage(_) => SingleStageKnobs::schedule(),
            Self::Pipelined(_) => PipelinedKnobs::schedule(base),
            Self::Multistage(_) => MultistageKnobs::schedule(base),
            Self::TmaRing(_) => Schedule::default(),
        }
    }

    /// Returns the header and the name of the C++ template.
    #[doc(hidden)]
    pub const fn cuda(&self) -> [&'static str; 2] {
        match self {
            Self::SingleStage(_) => SingleStageKnobs::CUDA,
            Self::Pipelined(_) => PipelinedKnobs::CUDA,
            Self::Multistage(_) => MultistageKnobs::CUDA,
            Self::TmaRing(_) => ["threadblock/tma_ring.cuh", "threadblock::TmaRing"],
        }
    }

    /// Returns the number of times that a k-tile occupies a block, and the latency of a step along
    /// K that no other resident CTA hides.
    pub(crate) const fn cost(&self) -> (u64, f64) {
        match self {
            Self::SingleStage(_) => SingleStageKnobs::cost(),
            Self::Pipelined(knobs) => knobs.cost(),
            Self::Multistage(_) => MultistageKnobs::cost(),
            Self::TmaRing(_) => (1, 0.0),
        }
    }
}

impl GemmDesc {
    /// Returns the k-blocks per iteration of the loop over a tile.
    pub const fn groups_a_turn(&self) -> u32 {
        match self.mainloop.unroll() {
            UnrollKind::Full => self.warp().k,
            UnrollKind::By(groups) => groups,
        }
    }
}
