//! The ring of stages between a producer and its consumers, as a value: where each stage and each
//! barrier lies, in which stage and phase a tile is, and how much a barrier waits for.
//!
//! ```text
//! byte 0, a multiple of 1024                                                                shared_bytes
//! | A of stage 0 | B of stage 0 | A of stage 1 | ... | staging | ... | slots | full 0 .. | empty 0 .. | turn 0 .. | source 0 .. | landed 0 .. | read 0 .. |
//! ```
//!
//! Tile number `t` lives in stage `t mod stages` during phase `(t / stages) mod 2`. What a thread
//! waits for is a parity, so a thread that is two phases off is not stopped.
//!
//! Source: PTX ISA, "mbarrier" and "Tensor copy: swizzling modes" (the 128-byte swizzle repeats
//! each 1024 bytes).
//!
//! Twin: `kernels/threadblock/pipeline.cuh`.

use super::{parts_of_k::PartsOfCluster, tensor_map::CHUNK_BYTES};
use crate::{
    Refusal,
    arch::{ArchKind, PORTABLE_CLUSTER},
    facts::facts,
    index::{Coord, IndexMap, at},
    operand::OperandKind,
    refusal::{
        Field, hold,
        rules::{multiple, within},
    },
};

/// Where stages and staging buffers begin: the period of the 128-byte swizzle.
pub const ALIGNMENT_BYTES: u32 = 1024;
/// The most staging buffers of a consumer. No limit of the hardware.
pub const MOST_STAGING: u32 = 8;
/// Bytes of a barrier.
pub const BARRIER_BYTES: u32 = 8;
/// Warps of a warpgroup.
pub const WARPS: u32 = 4;
/// The most stages a ring has. No limit of the hardware.
pub const MOST_STAGES: u32 = 16;
/// The most consumers: with the producer, 512 threads.
pub const MOST_CONSUMERS: u32 = 3;
/// Registers of a multiprocessor, all of which one block may have.
pub const REGISTERS: u32 = ArchKind::Sm90.machine().registers_per_sm;
/// The fewest registers that a thread can be left with.
pub const LEAST_REGISTERS: u32 = 24;
/// The most that a thread can have.
const THREAD_REGISTERS: u32 = 255;
/// The most; between them lie multiples of 8.
const MOST_REGISTERS: u32 = 248;
/// The most bytes of one stage of an operand and of a staging buffer: above any shared memory, and
/// two of them below the 2^20 bytes that a barrier can count.
const MOST_BYTES: u32 = 1 << 18;

/// An operand that the blocks of a cluster share: each copies its share of a tile to all of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SharedOperand {
    /// Which operand.
    pub operand: OperandKind,
    /// Blocks of the cluster.
    pub blocks: u32,
}

/// A ring of stages. Sizes of one that [`check`](Self::check) refuses may be cut off at the largest
/// number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pipeline {
    /// Stages.
    pub stages: u32,
    /// Bytes of A's and of B's tile in one stage of one block.
    pub stage_bytes: [u32; 2],
    /// Warpgroups that multiply.
    pub consumers: u32,
    /// Whether consumers take tiles of D under ping-pong, each its own; else all read each stage.
    pub pingpong: bool,
    /// What a cluster shares; `None` where each block copies for itself.
    pub multicast: Option<SharedOperand>,
    /// The parts of K that the blocks of a cluster have; `None` where they have tiles of their own.
    pub parts: Option<PartsOfCluster>,
    /// Buffers of each consumer through which it stores D, used in turn; 0 where threads store it
    /// from registers.
    pub staging_buffers: u32,
    /// Bytes of one of them.
    pub staging_bytes: u32,
    /// Whether C comes to the consumers through the same buffers, each subtile before that of D
    /// takes its place.
    pub source: bool,
}

/// A part of a block's shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Region {
    /// A stage of an operand.
    Stage(OperandKind),
    /// A staging buffer: of warpgroup `i / staging_buffers`, its buffer `i mod staging_buffers`.
    Staging,
    /// The full barrier of a stage.
    Full,
    /// The empty barrier of a stage.
    Empty,
    /// The barrier at which a consumer waits for its turn to multiply, under ping-pong.
    Turn,
    /// The barrier at which a consumer waits for subtiles of C, where those come through the
    /// staging buffers.
    Source,
    /// Where partial accumulators land that another block of the cluster sends: of warpgroup `i /
    /// senders`, those of the block of rank `1 + i mod senders`. Of no use but in the first block.
    Slot,
    /// The barrier at which a consumer of the first block waits for them.
    Landed,
    /// The barrier at which a consumer of another block waits until they have been read.
    Read,
}

impl Region {
    /// All, in the order of [`PipelineLayout`]'s rows.
    pub const ALL: [Self; 10] = [
        Self::Stage(OperandKind::A),
        Self::Stage(OperandKind::B),
        Self::Staging,
        Self::Full,
        Self::Empty,
        Self::Turn,
        Self::Source,
        Self::Slot,
        Self::Landed,
        Self::Read,
    ];
}

impl Pipeline {
    /// Whether there is such a ring.
    ///
    /// # Errors
    /// A number out of its range, or a copy into a stage that would not begin where the swizzle
    /// does.
    pub const fn check(&self) -> Result<(), Refusal> {
        let blocks = match self.multicast {
            Some(multicast) => multicast.blocks,
            None => 2,
        };
        let [a, b] = self.stage_bytes;
        let parts = match self.parts {
            Some(parts) => parts.blocks,
            None => 2,
        };
        let part_bytes = self.extent(Region::Slot).1;
        let (least_staging, most_staging) =
            if self.staging_buffers == 0 { (0, 0) } else { (ALIGNMENT_BYTES, MOST_BYTES) };
        let ranges = [
            (Field::Stages, self.stages, 2, MOST_STAGES),
            (Field::Consumers, self.consumers, 1, MOST_CONSUMERS),
            (Field::BlocksOfACluster, blocks, 2, PORTABLE_CLUSTER),
            (Field::BlocksOfACluster, parts, 2, PORTABLE_CLUSTER),
            (Field::PartBytes, part_bytes, 0, MOST_BYTES / 2),
            (Field::StagingBuffers, self.staging_buffers, 0, MOST_STAGING),
            (Field::StagingBytes, self.staging_bytes, least_staging, most_staging),
            (Field::StageBytes(OperandKind::A), a, ALIGNMENT_BYTES, MOST_BYTES),
            (Field::StageBytes(OperandKind::B), b, ALIGNMENT_BYTES, MOST_BYTES),
        ];
        let mut i = 0;
        while i < ranges.len() {
            let (field, value, least, most) = ranges[i];
            hold!(within(field, value as u64, least as u64, most as u64));
            i += 1;
        }
        let multiples = [
            (Field::StagingBytes, self.staging_bytes, ALIGNMENT_BYTES),
            (Field::PartBytes, part_bytes, CHUNK_BYTES),
            (Field::StageBytes(OperandKind::A), a, ALIGNMENT_BYTES * self.shares(OperandKind::A)),
            (Field::StageBytes(OperandKind::B), b, ALIGNMENT_BYTES * self.shares(OperandKind::B)),
        ];
        let mut i = 0;
        while i < multiples.len() {
            let (field, value, of) = multiples[i];
            hold!(multiple(field, value as u64, of as u64, u64::MAX));
            i += 1;
        }
        Ok(())
    }

    /// Blocks of the cluster; 1 without.
    pub const fn blocks(&self) -> u32 {
        match self.parts {
            Some(parts) => parts.blocks,
            None => self.sharing(),
        }
    }

    /// Blocks that share what they copy; 1 where each copies for itself.
    pub const fn sharing(&self) -> u32 {
        match self.multicast {
            Some(multicast) => multicast.blocks,
            None => 1,
        }
    }

    /// Blocks of the cluster that send partial accumulators to the first.
    pub const fn senders(&self) -> u32 {
        match self.parts {
            Some(parts) => parts.blocks.saturating_sub(1),
            None => 0,
        }
    }

    /// Bytes of partial accumulators that land for a consumer of the first block at once.
    pub const fn landing_bytes(&self) -> u32 {
        self.extent(Region::Slot).1.saturating_mul(self.senders())
    }

    /// In how many shares an operand's tile arrives, each copied by another block.
    pub const fn shares(&self, operand: OperandKind) -> u32 {
        match self.multicast {
            Some(multicast) if multicast.operand.index() == operand.index() => multicast.blocks,
            _ => 1,
        }
    }

    /// Arrivals that complete a phase of a full barrier, besides the bytes: the producer's.
    pub const fn full_arrivals(&self) -> u32 {
        1
    }

    /// Arrivals that complete a phase of an empty barrier: one of each warp that reads what this
    /// block's producer writes, in every block that it writes to.
    pub const fn empty_arrivals(&self) -> u32 {
        self.readers().saturating_mul(WARPS).saturating_mul(self.sharing())
    }

    /// Warpgroups that read each stage.
    pub const fn readers(&self) -> u32 {
        if self.pingpong { 1 } else { self.consumers }
    }

    /// Bytes that a full barrier waits for: the whole stage, whoever copies it.
    pub const fn expect_bytes(&self) -> u32 {
        self.stage_bytes[0].saturating_add(self.stage_bytes[1])
    }

    /// Bytes that one block copies of an operand's tile, to each block that it copies to.
    pub fn copy_bytes(&self, operand: OperandKind) -> u32 {
        self.stage_bytes[operand.index()] / self.shares(operand).max(1)
    }

    /// Threads of the block: the producer's warpgroup and the consumers'.
    pub const fn threads(&self) -> u32 {
        self.consumers.saturating_add(1).saturating_mul(WARPS * 32)
    }

    /// Registers with which each thread is launched: the most of which all threads of the block can
    /// have as many, a multiple of 8.
    pub const fn launch_registers(&self) -> u32 {
        let share = REGISTERS / self.threads() / 8 * 8;
        if share < MOST_REGISTERS { share } else { MOST_REGISTERS }
    }

    /// Registers with which each thread can be launched, at most: all 255 that a thread can have,
    /// where two warpgroups share those of the multiprocessor.
    pub const fn most_launch_registers(&self) -> u32 {
        let share = REGISTERS / self.threads() / 8 * 8;
        if share < THREAD_REGISTERS { share } else { THREAD_REGISTERS }
    }

    /// Registers that each thread of a consumer can take where those of the producer keep so many:
    /// the most that the block has, a multiple of 8.
    pub const fn registers_beside(&self, producer: u32) -> u32 {
        let consumers = if self.consumers == 0 { 1 } else { self.consumers };
        let share = (REGISTERS / (WARPS * 32)).saturating_sub(producer) / consumers / 8 * 8;
        if share < MOST_REGISTERS { share } else { MOST_REGISTERS }
    }

    /// How many there are of a region, how many bytes each has, and from which byte to which byte
    /// of the next one it goes on.
    const fn extent(&self, region: Region) -> (u32, u32, u32) {
        let stage = self.expect_bytes();
        match region {
            Region::Stage(operand) => (self.stages, self.stage_bytes[operand.index()], stage),
            Region::Staging => (
                self.consumers.saturating_mul(self.staging_buffers),
                self.staging_bytes,
                self.staging_bytes,
            ),
            Region::Full | Region::Empty => (self.stages, BARRIER_BYTES, BARRIER_BYTES),
            Region::Turn => {
                (if self.pingpong { self.consumers } else { 0 }, BARRIER_BYTES, BARRIER_BYTES)
            }
            Region::Source => {
                (if self.source { self.consumers } else { 0 }, BARRIER_BYTES, BARRIER_BYTES)
            }
            Region::Slot => match self.parts {
                Some(PartsOfCluster { bytes, .. }) => {
                    (self.consumers.saturating_mul(self.senders()), bytes, bytes)
                }
                None => (0, 0, 0),
            },
            Region::Landed | Region::Read if self.parts.is_some() => {
                (self.consumers, BARRIER_BYTES, BARRIER_BYTES)
            }
            Region::Landed | Region::Read => (0, BARRIER_BYTES, BARRIER_BYTES),
        }
    }

    /// Where the first of a region begins.
    pub const fn first_byte(&self, region: Region) -> u32 {
        match region {
            Region::Stage(OperandKind::A) => 0,
            Region::Stage(OperandKind::B) => self.stage_bytes[0],
            Region::Staging => self.stages.saturating_mul(self.expect_bytes()),
            Region::Slot => self.end(Region::Staging),
            Region::Full => self.end(Region::Slot),
            Region::Empty => self.end(Region::Full),
            Region::Turn => self.end(Region::Empty),
            Region::Source => self.end(Region::Turn),
            Region::Landed => self.end(Region::Source),
            Region::Read => self.end(Region::Landed),
        }
    }

    /// The byte behind the last of a region whose parts lie side by side.
    const fn end(&self, region: Region) -> u32 {
        let (count, bytes, _) = self.extent(region);
        self.first_byte(region).saturating_add(count.saturating_mul(bytes))
    }

    /// Where number `i` of a region begins; `None` where there are not so many.
    pub const fn byte(&self, region: Region, i: u32) -> Option<u32> {
        let (count, _, pitch) = self.extent(region);
        if i < count {
            Some(self.first_byte(region).saturating_add(i.saturating_mul(pitch)))
        } else {
            None
        }
    }

    /// Bytes of shared memory, from a multiple of [`ALIGNMENT_BYTES`] on.
    pub const fn shared_bytes(&self) -> u32 {
        self.end(Region::Read)
    }

    /// Bytes of C that land for a consumer at once: all its buffers.
    pub const fn source_bytes(&self) -> u32 {
        self.staging_buffers.saturating_mul(self.staging_bytes)
    }

    /// The ring as a C++ struct, for `kernels/threadblock/pipeline.cuh`.
    pub fn header(&self) -> String {
        let own = [
            ("kStages", self.stages),
            ("kBytesA", self.stage_bytes[0]),
            ("kBytesB", self.stage_bytes[1]),
            ("kConsumers", self.consumers),
            ("kTurns", self.extent(Region::Turn).0),
            ("kSources", self.extent(Region::Source).0),
            ("kBlocks", self.sharing()),
            ("kSenders", self.senders()),
            ("kSlotBytes", self.extent(Region::Slot).1),
            ("kSharesA", self.shares(OperandKind::A)),
            ("kSharesB", self.shares(OperandKind::B)),
            ("kStagingBuffers", self.staging_buffers),
            ("kStagingBytes", self.staging_bytes),
            ("kFullArrivals", self.full_arrivals()),
            ("kEmptyArrivals", self.empty_arrivals()),
            ("kTurnArrivals", WARPS),
            ("kWarpgroup", WARPS * 32),
        ];
        let mut text = String::from("struct RingFacts {\n");
        text.push_str(&facts("unsigned", &own));
        text.push_str("};\n");
        text
    }
}

/// (region, number) to the byte at which it begins. A row for each of [`Region::ALL`].
#[derive(Clone, Copy, Debug)]
pub struct PipelineLayout(pub Pipeline);

impl IndexMap for PipelineLayout {
    fn domain(&self) -> Coord {
        let most = Region::ALL.map(|region| self.0.extent(region).0).into_iter().max().unwrap_or(0);
        at(Region::ALL.len() as u32, most)
    }

    fn codomain(&self) -> u32 {
        self.0.shared_bytes()
    }

    fn at(&self, point: Coord) -> Option<u32> {
        self.0.byte(*Region::ALL.get(point.row as usize)?, point.column)
    }
}

/// Tile number `t` of two rounds of the ring, after which all repeats: row 0 its stage, row 1 its
/// phase. A kernel comes there step by step, as in these rows, or at once, as in rows 2 and 3,
/// which are the same.
#[derive(Clone, Copy, Debug)]
pub struct RingPosition {
    /// Stages.
    pub stages: u32,
}

impl RingPosition {
    /// The stage and the phase of tile number `t`.
    pub const fn of(self, t: u64) -> (u32, u32) {
        let stages = if self.stages == 0 { 1 } else { self.stages as u64 };
        ((t % stages) as u32, ((t / stages) % 2) as u32)
    }
}

impl IndexMap for RingPosition {
    fn domain(&self) -> Coord {
        at(4, self.stages.saturating_mul(2))
    }

    fn codomain(&self) -> u32 {
        self.stages.max(2)
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let (stage, phase) = self.of(u64::from(point.column));
        [stage, phase, stage, phase].get(point.row as usize).copied()
    }
}

#[cfg(test)]
#[path = "pipeline_tests.rs"]
mod tests;
