//! Schedules of a producer and its consumers, and their options. The ring determines whether all
//! consumers multiply parts of one tile of D (cooperative) or whole tiles (ping-pong).

use crate::{
    schedule::{RoleStep, Roles, Schedule},
    shape::OperandKind,
    threadblock::Pipeline,
};

/// Options of the schedules of a ring.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RoleOptions {
    /// Number of `wgmma` groups that a warp leaves in flight when it continues with the next
    /// k-tile. It releases a stage this many tiles later.
    pub pending: u8,
    /// If each stage is promoted, the number of instruction tiles that a consumer multiplies and
    /// promotes separately. `None` if products accumulate without promotion.
    pub promoted_tiles: Option<u8>,
    /// Whether a consumer loads A to registers before it multiplies. It uses `pending + 1` fragment
    /// sets round-robin, so no product in flight reads the set that is written.
    pub fragments: bool,
    /// Number of subtiles in which a warpgroup stores its part of a tile of D; 0 if threads store
    /// D.
    pub subtiles: u8,
    /// Whether a work unit is a split-K slice, whose partial accumulators must be added to those of
    /// the other slices.
    pub split_k: bool,
    /// Whether threads hold their own accumulators and store them to D, as on CUDA cores and with
    /// `mma.sync`. Products are then synchronous, and nothing is staged.
    pub by_threads: bool,
    /// Whether a work unit is a group along K. TMA copies whole boxes, so consumers clear the
    /// elements outside the group.
    pub groups_k: bool,
    /// Registers per thread of the producer and of a consumer; `None` keeps the registers of the
    /// launch.
    pub registers: Option<[u8; 2]>,
}

impl RoleOptions {
    /// Returns the number of fragment sets for A; 0 if A stays in shared memory.
    pub const fn fragment_sets(&self) -> u32 {
        if self.fragments { self.pending as u32 + 1 } else { 0 }
    }

    /// Returns the maximum number of groups in flight for `stages` stages. If A comes from
    /// registers, the fragment sets bound the number.
    pub(crate) const fn most_pending(stages: u32, fragments: bool) -> u32 {
        if fragments { 1 } else { stages.saturating_sub(1) }
    }

    /// Returns the schedules for a ring. `pending` must be less than the number of stages.
    /// `subtiles` must be a multiple of the staging buffers, so that each subtile uses the same
    /// buffer in every tile.
    pub fn roles(&self, ring: &Pipeline) -> Roles {
        Roles {
            setup: Self::setup(ring),
            producer: self.producer(ring),
            consumer: self.consumer(ring),
        }
    }

    fn setup(ring: &Pipeline) -> Schedule<RoleStep> {
        let meet = if ring.blocks() > 1 { RoleStep::MeetCluster } else { RoleStep::MeetBlock };
        Schedule {
            opening: vec![RoleStep::InitBarriers, RoleStep::FenceBarrierInit, meet],
            ..Schedule::default()
        }
    }

    fn producer(&self, ring: &Pipeline) -> Schedule<RoleStep> {
        let gathered = |operand: &OperandKind| ring.gathered[operand.index()];
        let (lines, boxes): (Vec<_>, Vec<_>) = OperandKind::BOTH.into_iter().partition(gathered);
        let expect = (!boxes.is_empty()).then_some(RoleStep::Expect);
        let arrive = (!lines.is_empty()).then_some(RoleStep::ArriveGathered);
        // Without a cluster, no other block arrives at this block's barriers. The producer then
        // drains only if its threads have issued copies that land in the block.
        let drains = ring.multicast.is_some() || ring.gathers();
        Schedule {
            opening: self
                .registers
                .map(|[count, _]| RoleStep::RegistersDown { count })
                .into_iter()
                .collect(),
            body: [RoleStep::AwaitEmpty]
                .into_iter()
                .chain(expect)
                .chain(boxes.into_iter().map(|operand| RoleStep::CopyTensor { operand }))
                .chain(lines.into_iter().map(|operand| RoleStep::GatherLines { operand }))
                .chain(arrive)
                .chain([RoleStep::Advance])
                .collect(),
            closing: drains.then_some(RoleStep::Drain).into_iter().collect(),
            ..Schedule::default()
        }
    }

    /// Returns the steps that reduce split-K slices.
    fn reduced(&self, ring: &Pipeline) -> &'static [RoleStep] {
        match (self.split_k, ring.slices) {
            (false, _) => &[],
            (true, None) => &[RoleStep::ReduceSlices],
            (true, Some(_)) => &[
                RoleStep::AwaitRead,
                RoleStep::SendPartials,
                RoleStep::ExpectPartials,
                RoleStep::AwaitPartials,
                RoleStep::AddPartials,
                RoleStep::ReleasePartials,
            ],
        }
    }

    /// Returns the steps that clear the elements of a stage outside the group's K.
    const fn cleared(&self) -> &'static [RoleStep] {
        match self.groups_k {
            false => &[],
            true => &[RoleStep::ClearOutside, RoleStep::MeetCleared],
        }
    }

    /// Returns the schedule of a consumer without `wgmma`. While it multiplies the last k of a
    /// stage, it reads the first fragments of the next stage.
    fn threads(&self, ring: &Pipeline) -> Schedule<RoleStep> {
        let next = || {
            let await_next = [RoleStep::AwaitNext].into_iter();
            await_next.chain(self.cleared().iter().copied()).chain([RoleStep::LoadFirst])
        };
        let pingpong = ring.pingpong;
        let turns = |steps: [RoleStep; 2]| steps.into_iter().filter(move |_| pingpong);
        let rest = [
            RoleStep::MultiplyStage,
            RoleStep::MeetWarp,
            RoleStep::Release { behind: 0 },
            RoleStep::Advance,
        ];
        Schedule {
            opening: self
                .registers
                .map(|[_, count]| RoleStep::RegistersUp { count })
                .into_iter()
                .collect(),
            prologue: turns([RoleStep::SkipEarlier, RoleStep::AwaitTurn]).chain(next()).collect(),
            body: rest.into_iter().chain(next()).chain([RoleStep::MultiplyLast]).collect(),
            tail: turns([RoleStep::PassTurn, RoleStep::SkipLater])
                .chain(self.reduced(ring).iter().copied())
                .collect(),
            epilogue: vec![RoleStep::StoreThreads],
            ..Schedule::default()
        }
    }

    fn consumer(&self, ring: &Pipeline) -> Schedule<RoleStep> {
        if self.by_threads {
            return self.threads(ring);
        }
        let pending = self.pending;
        let mut body = vec![RoleStep::AwaitFull];
        if ring.gathers() {
            body.push(RoleStep::FenceProxy);
        }
        body.extend(self.cleared());
        if self.fragments {
            body.push(RoleStep::LoadFragments);
        }
        match self.promoted_tiles {
            None => body.extend([
                RoleStep::FenceOperands,
                RoleStep::MultiplyStage,
                RoleStep::CommitProducts,
                RoleStep::AwaitProducts { pending },
            ]),
            Some(tiles) => body.extend((0..tiles).flat_map(|tile| {
                [
                    RoleStep::FenceOperands,
                    RoleStep::MultiplyInstructionTile { tile },
                    RoleStep::CommitProducts,
                    RoleStep::AwaitProducts { pending: 0 },
                    RoleStep::Promote { tile },
                ]
            })),
        }
        body.extend([RoleStep::Release { behind: pending }, RoleStep::Advance]);
        let pingpong = ring.pingpong;
        let mut tail = Vec::new();
        if pingpong {
            tail.push(RoleStep::PassTurn);
        }
        // The last products run while the threads wait for the vectors. The epilogue of the
        // previous tile read the buffer before its last barrier.
        if ring.vector_bytes > 0 {
            tail.push(RoleStep::StageVectors);
        }
        // One wait for all products: between two waits, NVRTC 13.0 read accumulators too early.
        if pending > 0 {
            tail.push(RoleStep::AwaitProducts { pending: 0 });
        }
        tail.extend((1..=pending).rev().map(|behind| RoleStep::Release { behind }));
        if pingpong {
            tail.push(RoleStep::SkipLater);
        }
        tail.extend(self.reduced(ring));
        // Each group of subtiles has as many subtiles as there are buffers and shares barriers and
        // a fence. The previous group was the last to read the buffers.
        let subtiles: Vec<_> = (0..self.subtiles).collect();
        let mut prologue = if pingpong { vec![RoleStep::SkipEarlier] } else { Vec::new() };
        let mut epilogue = Vec::new();
        for (number, batch) in subtiles.chunks(ring.staging_buffers.max(1) as usize).enumerate() {
            epilogue.extend([RoleStep::AwaitStores { pending: 0 }, RoleStep::Meet]);
            if ring.source {
                // The first subtiles of C arrive while the tile is multiplied, if the consumer that
                // stores the tile is known.
                let early =
                    if number == 0 && !self.split_k { &mut prologue } else { &mut epilogue };
                early.push(RoleStep::ExpectSource);
                early.extend(batch.iter().map(|&subtile| RoleStep::FetchSource { subtile }));
                epilogue.push(RoleStep::AwaitSource);
            }
            epilogue.extend(batch.iter().map(|&subtile| RoleStep::StoreStaging { subtile }));
            epilogue.extend([RoleStep::FenceProxy, RoleStep::Meet]);
            epilogue.extend(batch.iter().map(|&subtile| RoleStep::StoreTensor { subtile }));
            epilogue.push(RoleStep::CommitStores);
        }
        if pingpong {
            prologue.push(RoleStep::AwaitTurn);
        }
        Schedule {
            opening: self
                .registers
                .map(|[_, count]| RoleStep::RegistersUp { count })
                .into_iter()
                .collect(),
            prologue,
            body,
            tail,
            epilogue,
            // Shared memory must stay allocated until all stores have read it.
            closing: vec![RoleStep::AwaitStores { pending: 0 }],
        }
    }
}
