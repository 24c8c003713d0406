//! The schedules of a producer and its consumers over a ring, and what they leave open. The ring says whether all consumers multiply
//! one tile of D, each its own part, or take whole tiles under ping-pong.

use super::{
    Pipeline,
    pipeline::{LEAST_REGISTERS, MOST_STAGING},
};
use crate::{
    operand::OperandKind,
    refusal::{Field, Refusal, rules::within},
    schedule::{RoleStep, Roles, Schedule},
};

/// What the schedules of a ring leave open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RoleOptions {
    /// Groups of products that a warp leaves under way when it goes on to the next k-tile. A stage is released that many tiles
    /// later.
    pub pending: u8,
    /// In how many parts, an instruction's tile each, a consumer multiplies a stage where each stage is promoted; `None` where products
    /// are summed in the accumulators throughout.
    pub promoted_parts: Option<u8>,
    /// Whether a consumer brings A to registers before it multiplies: to one of `pending + 1` sets in turn, so that no products under way
    /// read the one that is written.
    pub fragments: bool,
    /// In how many subtiles a warpgroup stores its part of a tile of D; 0 where threads store.
    pub subtiles: u8,
    /// Whether each thread multiplies and stores a tile of its own: products are done when they are performed, and nothing is staged.
    pub by_threads: bool,
    /// Registers of a thread of the producer and of a consumer; `None` leaves what the launch gave.
    pub registers: Option<[u8; 2]>,
}

impl RoleOptions {
    /// Sets of registers that hold A in turn; none where it stays in shared memory.
    pub const fn fragment_sets(&self) -> u32 {
        if self.fragments { self.pending as u32 + 1 } else { 0 }
    }

    /// The most groups of products that stay under way over so many stages; each has a set of fragments where A comes from registers.
    pub(crate) const fn most_pending(stages: u32, fragments: bool) -> (Field, u32) {
        if fragments { (Field::PendingFromRegisters, 1) } else { (Field::Pending, stages.saturating_sub(1)) }
    }

    /// Whether there are such schedules over this ring.
    ///
    /// # Errors
    /// `pending` not below the number of stages: the producer would wait for a stage that its reader keeps; or not 0 where stages
    /// are promoted. No part of a stage. `subtiles` no multiple of the staging buffers: a subtile would not find its buffer at the same
    /// place in each tile. Where threads multiply: anything pending, promoted or sliced. Registers that a thread cannot be left with, or more
    /// than the block has.
    pub fn check(&self, ring: &Pipeline) -> Result<(), Refusal> {
        let (pending, subtiles, buffers) =
            (u64::from(self.pending), u64::from(self.subtiles), u64::from(ring.staging_buffers.max(1)));
        for fragments in [false, self.fragments] {
            let (field, most) = Self::most_pending(ring.stages, fragments);
            within(field, pending, 0, most.into())?;
        }
        if self.promoted_parts.is_some() && pending > 0 {
            // Sums are added once they are there.
            return Err(Refusal::OutOfRange { field: Field::PendingPromoted, value: pending, least: 0, most: 0 });
        }
        if self.fragments && self.promoted_parts.is_some() {
            let parts = u64::from(self.promoted_parts.unwrap_or(0));
            return Err(Refusal::OutOfRange { field: Field::PartsFromRegisters, value: parts, least: 0, most: 0 });
        }
        if self.promoted_parts == Some(0) {
            return Err(Refusal::OutOfRange { field: Field::Parts, value: 0, least: 1, most: u64::from(u8::MAX) });
        }
        if self.by_threads {
            let parts = u64::from(self.promoted_parts.unwrap_or(0));
            for (field, value) in [
                (Field::FragmentSetsOfThreads, u64::from(self.fragments)),
                (Field::PendingOfThreads, pending),
                (Field::PartsOfThreads, parts),
                (Field::SubtilesOfThreads, subtiles),
            ] {
                if value != 0 {
                    return Err(Refusal::OutOfRange { field, value, least: 0, most: 0 });
                }
            }
        } else if ring.staging_buffers == 0 {
            let most = u64::from(MOST_STAGING);
            return Err(Refusal::OutOfRange { field: Field::StagingBuffersOfSubtiles, value: 0, least: 1, most });
        } else if subtiles == 0 {
            return Err(Refusal::OutOfRange { field: Field::Subtiles, value: 0, least: 1, most: u64::from(u8::MAX) });
        }
        if !subtiles.is_multiple_of(buffers) {
            return Err(Refusal::NotMultiple {
                field: Field::Subtiles,
                value: subtiles,
                of: buffers,
                nearest: Some(subtiles.next_multiple_of(buffers))
                    .filter(|up| *up <= u64::from(u8::MAX))
                    .unwrap_or(subtiles / buffers * buffers),
            });
        }
        self.registers.map_or(Ok(()), |counts| Self::check_registers(ring, counts.map(u32::from)))
    }

    /// The producer gives registers away, and consumers take no more than those.
    fn check_registers(ring: &Pipeline, [producer, consumer]: [u32; 2]) -> Result<(), Refusal> {
        let launch = ring.launch_registers();
        for (field, value, least, most) in [
            (Field::ProducerRegisters, producer, LEAST_REGISTERS, launch),
            (Field::ConsumerRegisters, consumer, launch, ring.registers_beside(producer)),
        ] {
            let [value, least, most] = [value, least, most].map(u64::from);
            if !(least..=most).contains(&value) {
                return Err(Refusal::OutOfRange { field, value, least, most });
            }
            if !value.is_multiple_of(8) {
                return Err(Refusal::NotMultiple { field, value, of: 8, nearest: value / 8 * 8 });
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
        Ok(self.spelled(ring))
    }

    /// The schedules over a ring, of both of which it is known that they are legal.
    pub(crate) fn spelled(&self, ring: &Pipeline) -> Roles {
        Roles { setup: Self::setup(ring), producer: self.producer(ring), consumer: self.consumer(ring) }
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

    /// Where threads multiply: while the last k of a stage is multiplied, the first of the next is read.
    fn threads(&self, ring: &Pipeline) -> Schedule<RoleStep> {
        let next = [RoleStep::AwaitNext, RoleStep::LoadFirst];
        let pingpong = ring.pingpong;
        let turns = |steps: [RoleStep; 2]| steps.into_iter().filter(move |_| pingpong);
        let rest = [RoleStep::MultiplyStage, RoleStep::MeetWarp, RoleStep::Release { behind: 0 }, RoleStep::Advance];
        Schedule {
            opening: self.registers.map(|[_, count]| RoleStep::RegistersUp { count }).into_iter().collect(),
            prologue: turns([RoleStep::SkipEarlier, RoleStep::AwaitTurn]).chain(next).collect(),
            body: rest.into_iter().chain(next).chain([RoleStep::MultiplyLast]).collect(),
            epilogue: turns([RoleStep::PassTurn, RoleStep::SkipLater]).chain([RoleStep::StoreThreads]).collect(),
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
        let mut epilogue = Vec::new();
        if pingpong {
            epilogue.push(RoleStep::PassTurn);
        }
        for behind in (1..=pending).rev() {
            epilogue.extend([RoleStep::AwaitProducts { pending: behind - 1 }, RoleStep::Release { behind }]);
        }
        if pingpong {
            epilogue.push(RoleStep::SkipLater);
        }
        // As many subtiles as there are buffers share their barriers and their fence. The buffers were last read by the group before.
        let subtiles: Vec<_> = (0..self.subtiles).collect();
        let mut prologue = if pingpong { vec![RoleStep::SkipEarlier] } else { Vec::new() };
        for (number, batch) in subtiles.chunks(ring.staging_buffers.max(1) as usize).enumerate() {
            epilogue.extend([RoleStep::AwaitStores { pending: 0 }, RoleStep::Meet]);
            if ring.source {
                // The first subtiles of C arrive while the tile is multiplied.
                let early = if number == 0 { &mut prologue } else { &mut epilogue };
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
            opening: self.registers.map(|[_, count]| RoleStep::RegistersUp { count }).into_iter().collect(),
            prologue,
            body,
            epilogue,
            // Shared memory has to stay until it has been read.
            closing: vec![RoleStep::AwaitStores { pending: 0 }],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RING: Pipeline = Pipeline {
        stages: 4,
        stage_bytes: [16 << 10, 32 << 10],
        consumers: 2,
        pingpong: false,
        multicast: None,
        staging_buffers: 2,
        staging_bytes: 8 << 10,
        source: false,
    };
    const LEGAL: RoleOptions = RoleOptions {
        pending: 1,
        promoted_parts: None,
        fragments: false,
        subtiles: 4,
        by_threads: false,
        registers: Some([24, 240]),
    };

    #[test]
    fn registers_are_those_that_the_block_has() {
        assert_eq!(RING.launch_registers(), 168);
        assert_eq!(LEGAL.check(&RING), Ok(()));
        for (ring, registers, sentence) in [
            (RING, [16, 240], "registers of the producer = 16 is out of range (24 to 168); try 24"),
            (RING, [40, 240], "registers of a consumer = 240 is out of range (168 to 232); try 232"),
            (RING, [24, 244], "registers of a consumer = 244 is out of range (168 to 240); try 240"),
            (RING, [28, 168], "registers of the producer = 28 is not a multiple of 8; try 24"),
            (Pipeline { consumers: 3, ..RING }, [32, 168], "registers of a consumer = 168 is out of range (128 to 160); try 160"),
        ] {
            let refusal = RoleOptions { registers: Some(registers), ..LEGAL }.check(&ring).expect_err(sentence);
            assert_eq!(refusal.sentence().as_str(), sentence);
        }
    }

    #[test]
    fn schedules_that_are_none_are_refused_in_a_sentence() {
        for (options, sentence) in [
            (RoleOptions { pending: 4, ..LEGAL }, "pending = 4 is out of range (0 to 3); try 3"),
            (
                RoleOptions { promoted_parts: Some(2), ..LEGAL },
                "pending where stages are promoted = 1 is out of range (0 to 0); try 0",
            ),
            (
                RoleOptions { promoted_parts: Some(0), pending: 0, ..LEGAL },
                "parts of a stage = 0 is out of range (1 to 255); try 1",
            ),
            (RoleOptions { subtiles: 0, ..LEGAL }, "subtiles = 0 is out of range (1 to 255); try 1"),
            (RoleOptions { subtiles: 3, ..LEGAL }, "subtiles = 3 is not a multiple of 2; try 4"),
            (RoleOptions { by_threads: true, ..LEGAL }, "pending where threads multiply = 1 is out of range (0 to 0); try 0"),
            (
                RoleOptions { by_threads: true, pending: 0, promoted_parts: Some(2), ..LEGAL },
                "parts of a stage where threads multiply = 2 is out of range (0 to 0); try 0",
            ),
            (
                RoleOptions { by_threads: true, pending: 0, ..LEGAL },
                "subtiles where threads store = 4 is out of range (0 to 0); try 0",
            ),
        ] {
            assert_eq!(options.roles(&RING).expect_err(sentence).sentence().as_str(), sentence);
        }
        let bare = Pipeline { staging_buffers: 0, staging_bytes: 0, ..RING };
        let says = LEGAL.roles(&bare).expect_err("no buffer").sentence();
        assert_eq!(says.as_str(), "staging buffers of subtiles = 0 is out of range (1 to 8); try 1");
        assert!(LEGAL.roles(&Pipeline { stages: 0, ..RING }).is_err());
    }
}
