//! The schedules of a producer and its consumers over a ring, and what they leave open. The ring
//! says whether all consumers multiply one tile of D, each its own part, or take whole tiles under
//! ping-pong.

use super::Pipeline;
use crate::{
    operand::OperandKind,
    refusal::Field,
    schedule::{RoleStep, Roles, Schedule},
};

/// What the schedules of a ring leave open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RoleOptions {
    /// Groups of products that a warp leaves under way when it goes on to the next k-tile. A stage
    /// is released that many tiles later.
    pub pending: u8,
    /// In how many parts, an instruction's tile each, a consumer multiplies a stage where each
    /// stage is promoted; `None` where products are summed in the accumulators throughout.
    pub promoted_parts: Option<u8>,
    /// Whether a consumer brings A to registers before it multiplies: to one of `pending + 1` sets
    /// in turn, so that no products under way read the one that is written.
    pub fragments: bool,
    /// In how many subtiles a warpgroup stores its part of a tile of D; 0 where threads store.
    pub subtiles: u8,
    /// Whether a unit of work is a part of K, whose accumulators are added to those of the other
    /// parts.
    pub split_k: bool,
    /// Whether each thread multiplies and stores a tile of its own: products are done when they are
    /// performed, and nothing is staged.
    pub by_threads: bool,
    /// Whether tensor maps lie in memory, which another kernel made, of A and B, and of C and D.
    pub acquires: [bool; 2],
    /// Registers of a thread of the producer and of a consumer; `None` leaves what the launch gave.
    pub registers: Option<[u8; 2]>,
}

impl RoleOptions {
    /// Sets of registers that hold A in turn; none where it stays in shared memory.
    pub const fn fragment_sets(&self) -> u32 {
        if self.fragments { self.pending as u32 + 1 } else { 0 }
    }

    /// The most groups of products that stay under way over so many stages; each has a set of
    /// fragments where A comes from registers.
    pub(crate) const fn most_pending(stages: u32, fragments: bool) -> (Field, u32) {
        if fragments {
            (Field::PendingFromRegisters, 1)
        } else {
            (Field::Pending, stages.saturating_sub(1))
        }
    }

    /// The schedules over a ring: `pending` is less than the number of stages, and `subtiles` a
    /// multiple of the staging buffers, so that a subtile finds its buffer at the same place in
    /// each tile.
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
        Schedule {
            opening: self
                .registers
                .map(|[count, _]| RoleStep::RegistersDown { count })
                .into_iter()
                .collect(),
            prologue: self.acquired(0).collect(),
            body: vec![
                RoleStep::AwaitEmpty,
                RoleStep::Expect,
                RoleStep::CopyTensor { operand: OperandKind::A },
                RoleStep::CopyTensor { operand: OperandKind::B },
                RoleStep::Advance,
            ],
            // Without a cluster nobody arrives from elsewhere: the block stays until its own
            // consumers are done.
            closing: ring.multicast.map(|_| RoleStep::Drain).into_iter().collect(),
            ..Schedule::default()
        }
    }

    /// How the producer, or a consumer, comes to see its maps.
    fn acquired(&self, role: usize) -> impl Iterator<Item = RoleStep> {
        self.acquires[role].then_some(RoleStep::AcquireMaps).into_iter()
    }

    /// How parts of K come together.
    fn reduced(&self, ring: &Pipeline) -> &'static [RoleStep] {
        match (self.split_k, ring.parts) {
            (false, _) => &[],
            (true, None) => &[RoleStep::ReduceParts],
            (true, Some(_)) => &[
                RoleStep::AwaitRead,
                RoleStep::SendParts,
                RoleStep::ExpectParts,
                RoleStep::AwaitParts,
                RoleStep::AddParts,
                RoleStep::ReleaseParts,
            ],
        }
    }

    /// Where threads multiply: while the last k of a stage is multiplied, the first of the next is
    /// read.
    fn threads(&self, ring: &Pipeline) -> Schedule<RoleStep> {
        let next = [RoleStep::AwaitNext, RoleStep::LoadFirst];
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
            prologue: turns([RoleStep::SkipEarlier, RoleStep::AwaitTurn]).chain(next).collect(),
            body: rest.into_iter().chain(next).chain([RoleStep::MultiplyLast]).collect(),
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
        if self.fragments {
            body.push(RoleStep::LoadFragments);
        }
        match self.promoted_parts {
            None => body.extend([
                RoleStep::FenceOperands,
                RoleStep::MultiplyStage,
                RoleStep::CommitProducts,
                RoleStep::AwaitProducts { pending },
            ]),
            Some(parts) => body.extend((0..parts).flat_map(|part| {
                [
                    RoleStep::FenceOperands,
                    RoleStep::MultiplyPart { part },
                    RoleStep::CommitProducts,
                    RoleStep::AwaitProducts { pending: 0 },
                    RoleStep::Promote { part },
                ]
            })),
        }
        body.extend([RoleStep::Release { behind: pending }, RoleStep::Advance]);
        let pingpong = ring.pingpong;
        let mut tail = Vec::new();
        if pingpong {
            tail.push(RoleStep::PassTurn);
        }
        for behind in (1..=pending).rev() {
            tail.extend([
                RoleStep::AwaitProducts { pending: behind - 1 },
                RoleStep::Release { behind },
            ]);
        }
        if pingpong {
            tail.push(RoleStep::SkipLater);
        }
        tail.extend(self.reduced(ring));
        // As many subtiles as there are buffers share their barriers and their fence. The buffers
        // were last read by the group before.
        let subtiles: Vec<_> = (0..self.subtiles).collect();
        let mut prologue = if pingpong { vec![RoleStep::SkipEarlier] } else { Vec::new() };
        let mut epilogue = Vec::new();
        // As C: early, where it is known who stores the tile.
        (if self.split_k { &mut epilogue } else { &mut prologue }).extend(self.acquired(1));
        for (number, batch) in subtiles.chunks(ring.staging_buffers.max(1) as usize).enumerate() {
            epilogue.extend([RoleStep::AwaitStores { pending: 0 }, RoleStep::Meet]);
            if ring.source {
                // The first subtiles of C arrive while the tile is multiplied, where it is known
                // who stores it.
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
            // Shared memory has to stay until it has been read.
            closing: vec![RoleStep::AwaitStores { pending: 0 }],
        }
    }
}
