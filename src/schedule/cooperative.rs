//! The cooperative schedules: all consumers multiply one tile of D, each its own rows.

use super::{RoleStep, Roles, Schedule};
use crate::{Refusal, desc::OperandKind, threadblock::Pipeline};

/// What the cooperative schedules leave open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cooperative {
    /// Groups of products that a warp leaves under way when it goes on to the next tile along K. A stage is let go that many tiles
    /// later.
    pub pending: u8,
    /// In how many slices a warpgroup stores its part of a tile of D.
    pub slices: u8,
    /// Registers of a thread of the producer and of a consumer; `None` leaves what the launch gave.
    pub registers: Option<[u8; 2]>,
}

/// Registers that `setmaxnreg` can leave a thread with: multiples of 8 from here on.
const LEAST_REGISTERS: u8 = 24;
/// To here.
const MOST_REGISTERS: u8 = 248;

impl Cooperative {
    /// Whether there are such schedules over this ring.
    ///
    /// # Errors
    /// `pending` not below the number of stages: the producer would wait for a stage that its reader keeps. `slices` no multiple of
    /// the staging buffers: a slice would not find its buffer at the same place in each tile. Registers that `setmaxnreg` does not
    /// take.
    pub fn check(&self, ring: &Pipeline) -> Result<(), Refusal> {
        let (pending, slices, buffers) = (u64::from(self.pending), u64::from(self.slices), u64::from(ring.staging_buffers));
        if pending >= u64::from(ring.stages) {
            return Err(Refusal::OutOfRange { field: "pending", value: pending, least: 0, most: u64::from(ring.stages) - 1 });
        }
        if slices == 0 {
            return Err(Refusal::OutOfRange { field: "slices", value: 0, least: 1, most: u64::from(u8::MAX) });
        }
        if !slices.is_multiple_of(buffers) {
            return Err(Refusal::NotMultiple {
                field: "slices",
                value: slices,
                of: buffers,
                nearest: slices.div_ceil(buffers) * buffers,
            });
        }
        for count in self.registers.into_iter().flatten() {
            let (value, least, most) = (u64::from(count), u64::from(LEAST_REGISTERS), u64::from(MOST_REGISTERS));
            if !(least..=most).contains(&value) {
                return Err(Refusal::OutOfRange { field: "registers", value, least, most });
            }
            if !value.is_multiple_of(8) {
                return Err(Refusal::NotMultiple { field: "registers", value, of: 8, nearest: value.next_multiple_of(8) });
            }
        }
        Ok(())
    }

    /// The schedules over a ring.
    ///
    /// # Errors
    /// Those of [`check`](Self::check), and the ring's own.
    pub fn roles(&self, ring: &Pipeline) -> Result<Roles, Refusal> {
        ring.check()?;
        self.check(ring)?;
        Ok(Roles { setup: Self::setup(ring), producer: self.producer(ring), consumer: self.consumer(ring) })
    }

    fn setup(ring: &Pipeline) -> Schedule<RoleStep> {
        let meet = if ring.multicast.is_some() { RoleStep::MeetCluster } else { RoleStep::MeetBlock };
        Schedule { opening: vec![RoleStep::InitBarriers, RoleStep::FenceBarrierInit, meet], ..Schedule::default() }
    }

    fn producer(&self, ring: &Pipeline) -> Schedule<RoleStep> {
        Schedule {
            opening: self.registers.map(|[count, _]| RoleStep::RegistersDown { count }).into_iter().collect(),
            body: vec![
                RoleStep::AwaitEmpty,
                RoleStep::Expect,
                RoleStep::CopyTensor { operand: OperandKind::A },
                RoleStep::CopyTensor { operand: OperandKind::B },
                RoleStep::Advance,
            ],
            // Without a cluster nobody arrives from elsewhere: the block stays until its own consumers are done.
            closing: ring.multicast.map(|_| RoleStep::Drain).into_iter().collect(),
            ..Schedule::default()
        }
    }

    fn consumer(&self, ring: &Pipeline) -> Schedule<RoleStep> {
        let pending = self.pending;
        let body = vec![
            RoleStep::AwaitFull,
            RoleStep::FenceOperands,
            RoleStep::MultiplyStage,
            RoleStep::CommitProducts,
            RoleStep::AwaitProducts { pending },
            RoleStep::Release { behind: pending },
            RoleStep::Advance,
        ];
        let mut epilogue = Vec::new();
        for behind in (1..=pending).rev() {
            epilogue.extend([RoleStep::AwaitProducts { pending: behind - 1 }, RoleStep::Release { behind }]);
        }
        for slice in 0..self.slices {
            epilogue.extend([
                // The buffer was last used as many stores ago as there are buffers.
                RoleStep::AwaitStores { pending: (ring.staging_buffers - 1) as u8 },
                RoleStep::Meet,
                RoleStep::Deposit { slice },
                RoleStep::FenceProxy,
                RoleStep::Meet,
                RoleStep::StoreTensor { slice },
                RoleStep::CommitStores,
            ]);
        }
        Schedule {
            opening: self.registers.map(|[_, count]| RoleStep::RegistersUp { count }).into_iter().collect(),
            body,
            epilogue,
            // Shared memory has to stay until it has been read.
            closing: vec![RoleStep::AwaitStores { pending: 0 }],
            ..Schedule::default()
        }
    }
}
