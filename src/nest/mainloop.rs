//! The main loop of a description, with its knobs.

use crate::{
    nest::Pins,
    refusal::{Field, Refusal, hold, rules::within},
    schedule::ScheduleKind,
    shape::{Mn, Mnk},
    threadblock::{MainloopKind, MultistageKnobs, PipelinedKnobs, SingleStageKnobs, TmaRingKnobs},
    warp::UnrollKind,
};

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

impl Mainloop {
    /// Returns a main loop without a producer warp.
    pub(crate) const fn without_producer(
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
            _ => Self::Multistage(MultistageKnobs { threadblock, stages }),
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
            Self::SingleStage(_) => 1,
            Self::Pipelined(_) => 2,
            Self::Multistage(knobs) => knobs.stages,
            Self::TmaRing(knobs) => knobs.stages,
        }
    }

    /// Returns the knobs of a TMA ring, or `None` for another main loop.
    pub const fn tma_ring(&self) -> Option<&TmaRingKnobs> {
        match self {
            Self::TmaRing(knobs) => Some(knobs),
            _ => None,
        }
    }

    /// Returns the cluster shape in CTAs along M and N.
    pub const fn cluster(&self) -> Mn {
        match self.tma_ring() {
            Some(knobs) => knobs.cluster,
            None => Mn::ONE,
        }
    }

    /// Returns the schedule of the consumers, or `None` without a producer.
    pub const fn schedule(&self) -> Option<ScheduleKind> {
        match self.tma_ring() {
            Some(knobs) => Some(knobs.schedule),
            None => None,
        }
    }

    /// Returns the unrolling of the loop over a tile's k-blocks.
    pub const fn unroll(&self) -> UnrollKind {
        match self {
            Self::SingleStage(knobs) => knobs.unroll,
            _ => UnrollKind::Full,
        }
    }

    /// Returns the knobs as pins.
    pub(crate) const fn pins(&self, pins: Pins) -> Pins {
        let pins = Pins {
            mainloop: Some(self.kind()),
            threadblock: Some(self.threadblock()),
            stages: Some(self.stages()),
            ..pins
        };
        match self.tma_ring() {
            Some(knobs) => {
                Pins { cluster: Some(knobs.cluster), schedule: Some(knobs.schedule), ..pins }
            }
            None => pins,
        }
    }

    /// Checks that the main loop has the pinned number of stages, and the pinned unrolling.
    ///
    /// # Errors
    /// [`Refusal`] of the number of stages, or of the unrolling.
    pub const fn check_pinned(&self, pins: &Pins) -> Result<(), Refusal> {
        if let Some(stages) = pins.stages {
            match self {
                Self::SingleStage(_) => hold!(within(Field::Stages, stages as u64, 1, 1)),
                Self::Pipelined(_) if stages < 2 => {
                    hold!(within(Field::Stages, stages as u64, 2, 2))
                }
                Self::Pipelined(_) if stages != 2 => return Err(Refusal::pipelined_stages(stages)),
                _ => {}
            }
        }
        match (pins.unroll, self) {
            (None | Some(UnrollKind::Full), _) | (_, Self::SingleStage(_)) => Ok(()),
            (Some(UnrollKind::By(blocks)), _) => {
                Err(Refusal::no_loop_to_unroll(blocks, self.kind().name()))
            }
        }
    }

    /// Returns the main loop with the pinned knobs replaced. The main loops without a producer
    /// replace each other.
    pub(crate) const fn pinned(self, pins: &Pins) -> Self {
        let threadblock = or!(pins.threadblock, self.threadblock());
        let stages = or!(pins.stages, self.stages());
        match self {
            Self::TmaRing(knobs) => Self::TmaRing(TmaRingKnobs {
                threadblock,
                stages,
                cluster: or!(pins.cluster, knobs.cluster),
                schedule: or!(pins.schedule, knobs.schedule),
            }),
            _ => {
                let kind = match pins.mainloop {
                    None | Some(MainloopKind::TmaRing) => self.kind(),
                    Some(kind) => kind,
                };
                Self::without_producer(kind, threadblock, stages, or!(pins.unroll, self.unroll()))
            }
        }
    }
}
