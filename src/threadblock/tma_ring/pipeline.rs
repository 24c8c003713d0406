//! Ring of stages between a producer and its consumers: addresses of stages and barriers, the stage
//! and phase of each tile, and the arrival counts of barriers.
//!
//! ```text
//! byte 0, a multiple of 1024                                                                shared_bytes
//! | A of stage 0 | B of stage 0 | A of stage 1 | ... | staging | ... | slots | vectors | full 0 .. | empty 0 .. | turn 0 .. | source 0 .. | landed 0 .. | read 0 .. |
//! ```
//!
//! Tile number `t` occupies stage `t mod stages` during phase `(t / stages) mod 2`. A wait tests
//! only the parity of a phase. It therefore does not stop a thread that is two phases off.
//!
//! Source: PTX ISA, "mbarrier" and "Tensor copy: swizzling modes" (the 128-byte swizzle repeats
//! each 1024 bytes).
//!
//! Twin: `kernels/threadblock/tma_ring/pipeline.cuh`.

use crate::{
    Refusal,
    arch::{ArchKind, PORTABLE_CLUSTER},
    codegen::facts::facts,
    epilogue::vectors::VECTOR_ALIGNMENT,
    layout::index_map::{Coord, IndexMap, at},
    refusal::{
        Field, hold,
        rules::{multiple, within},
    },
    shape::OperandKind,
    threadblock::{mainloop::MOST_STAGES, split_k::ClusterSlices, tensor_map::CHUNK_BYTES},
    warp::warpgroup::WARPS,
};

/// Alignment of stages and staging buffers in bytes: the period of the 128-byte swizzle.
pub const ALIGNMENT_BYTES: u32 = 1024;
/// Maximum number of staging buffers per consumer. The hardware has no such limit.
pub const MOST_STAGING: u32 = 16;
/// Size of an mbarrier in bytes.
pub const BARRIER_BYTES: u32 = 8;
/// Maximum number of consumers. With the producer, they have 512 threads.
pub const MOST_CONSUMERS: u32 = 3;
/// Registers per SM. One block may use all of them.
pub const REGISTERS: u32 = ArchKind::Sm90.machine().registers_per_sm;
/// Minimum number of registers per thread that `setmaxnreg` accepts.
pub const LEAST_REGISTERS: u32 = 24;
/// Maximum number of registers per thread that `setmaxnreg` accepts, in multiples of 8.
const MOST_REGISTERS: u32 = 248;
/// Maximum size in bytes of one operand's stage and of a staging buffer. The limit exceeds any
/// shared memory, and two such sizes stay below the 2^20 bytes that an mbarrier can count.
const MOST_BYTES: u32 = 1 << 18;

/// Operand that the blocks of a cluster share: each block multicasts its share of a tile to all of
/// them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SharedOperand {
    /// Shared operand.
    pub operand: OperandKind,
    /// Blocks per cluster.
    pub blocks: u32,
}

/// Ring of stages. Sizes saturate if [`check`](Self::check) refuses the ring.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pipeline {
    /// Number of stages.
    pub stages: u32,
    /// Size of A's and of B's tile in one stage of one block, in bytes.
    pub stage_bytes: [u32; 2],
    /// Number of consumer warpgroups.
    pub consumers: u32,
    /// Whether consumers compute separate tiles of D (ping-pong). Otherwise all consumers read each
    /// stage.
    pub pingpong: bool,
    /// Operand that the cluster shares; `None` if each block copies for itself.
    pub multicast: Option<SharedOperand>,
    /// Whether the producer's threads gather the lines of A, and of B. TMA copies other operands.
    pub gathered: [bool; 2],
    /// Split-K slices that the blocks of a cluster compute; `None` if each block computes its own
    /// tile.
    pub slices: Option<ClusterSlices>,
    /// Staging buffers per consumer, used round-robin to store D; 0 if threads store D from
    /// registers.
    pub staging_buffers: u32,
    /// Size of a staging buffer in bytes.
    pub staging_bytes: u32,
    /// Size of the vectors of the epilogue in bytes, per consumer; 0 without vectors.
    pub vector_bytes: u32,
    /// Whether C reaches the consumers through the staging buffers. Each subtile of C arrives
    /// before the subtile of D overwrites it.
    pub source: bool,
}

/// Region of a block's shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Region {
    /// Stage of an operand.
    Stage(OperandKind),
    /// Staging buffer. Number `i` is buffer `i mod staging_buffers` of consumer `i /
    /// staging_buffers`.
    Staging,
    /// Full barrier of a stage.
    Full,
    /// Empty barrier of a stage.
    Empty,
    /// Barrier on which a consumer waits for its turn to multiply, under ping-pong.
    Turn,
    /// Barrier on which a consumer waits for subtiles of C, if they arrive through the staging
    /// buffers.
    Source,
    /// Slot for partial accumulators that another block of the cluster sends. Slot `i` receives
    /// data for consumer `i / senders` from the block of rank `1 + i mod senders`. Only the first
    /// block uses the slots.
    Slot,
    /// Barrier on which a consumer of the first block waits for partial accumulators.
    Landed,
    /// Barrier on which a consumer of another block waits until the first block has read them.
    Read,
    /// Vectors of the epilogue for a consumer's part of a tile.
    Vectors,
}

impl Region {
    /// All regions, in the order of the rows of [`PipelineLayout`].
    pub const ALL: [Self; 11] = [
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
        Self::Vectors,
    ];
}

impl Pipeline {
    /// Checks the ring.
    ///
    /// # Errors
    /// [`Refusal`] if a number is out of its range, or if a copy into a stage would not begin at a
    /// multiple of the swizzle's period.
    pub const fn check(&self) -> Result<(), Refusal> {
        let blocks = match self.multicast {
            Some(multicast) => multicast.blocks,
            None => 2,
        };
        let [a, b] = self.stage_bytes;
        let slices = match self.slices {
            Some(slices) => slices.blocks,
            None => 2,
        };
        let partial_bytes = self.extent(Region::Slot).1;
        let (least_staging, most_staging) =
            if self.staging_buffers == 0 { (0, 0) } else { (ALIGNMENT_BYTES, MOST_BYTES) };
        let ranges = [
            (Field::Stages, self.stages, 2, MOST_STAGES),
            (Field::Consumers, self.consumers, 1, MOST_CONSUMERS),
            (Field::BlocksOfACluster, blocks, 2, PORTABLE_CLUSTER),
            (Field::BlocksOfACluster, slices, 2, PORTABLE_CLUSTER),
            (Field::PartialBytes, partial_bytes, 0, MOST_BYTES / 2),
            (Field::VectorBytes, self.vector_bytes, 0, MOST_BYTES),
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
            (Field::PartialBytes, partial_bytes, CHUNK_BYTES),
            (Field::VectorBytes, self.vector_bytes, VECTOR_ALIGNMENT),
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

    /// Returns the number of blocks per cluster; 1 without a cluster.
    pub const fn blocks(&self) -> u32 {
        match self.slices {
            Some(slices) => slices.blocks,
            None => self.sharing(),
        }
    }

    /// Returns the number of blocks that share an operand; 1 if each block copies for itself.
    pub const fn sharing(&self) -> u32 {
        match self.multicast {
            Some(multicast) => multicast.blocks,
            None => 1,
        }
    }

    /// Returns the number of blocks that send partial accumulators to the first block of the
    /// cluster.
    pub const fn senders(&self) -> u32 {
        match self.slices {
            Some(slices) => slices.blocks.saturating_sub(1),
            None => 0,
        }
    }

    /// Returns the bytes of partial accumulators that a consumer of the first block receives at
    /// once.
    pub const fn landing_bytes(&self) -> u32 {
        self.extent(Region::Slot).1.saturating_mul(self.senders())
    }

    /// Returns the number of shares in which an operand's tile arrives, each copied by another
    /// block.
    pub const fn shares(&self, operand: OperandKind) -> u32 {
        match self.multicast {
            Some(multicast) if multicast.operand.index() == operand.index() => multicast.blocks,
            _ => 1,
        }
    }

    /// Returns whether the producer's threads gather the lines of an operand.
    pub const fn gathers(&self) -> bool {
        self.gathered[0] || self.gathered[1]
    }

    /// Returns whether TMA copies an operand.
    pub const fn copies_boxes(&self) -> bool {
        !(self.gathered[0] && self.gathered[1])
    }

    /// Returns the arrivals that complete a phase of a full barrier, in addition to the bytes: one
    /// by the thread that announces the bytes of TMA, and one by each thread that gathers lines.
    pub const fn full_arrivals(&self) -> u32 {
        let threads = if self.gathers() { WARPS * 32 } else { 0 };
        threads + self.copies_boxes() as u32
    }

    /// Returns the arrivals that complete a phase of an empty barrier. Each warp that reads data
    /// from this block's producer arrives once, in every block that the producer writes to.
    pub const fn empty_arrivals(&self) -> u32 {
        self.readers().saturating_mul(WARPS).saturating_mul(self.sharing())
    }

    /// Returns the number of warpgroups that read each stage.
    pub const fn readers(&self) -> u32 {
        if self.pingpong { 1 } else { self.consumers }
    }

    /// Returns the size of a stage in bytes.
    pub const fn whole_stage_bytes(&self) -> u32 {
        self.stage_bytes[0].saturating_add(self.stage_bytes[1])
    }

    /// Returns the bytes that a full barrier waits for: those that TMA copies to the stage,
    /// whichever block issues the copies.
    pub const fn expect_bytes(&self) -> u32 {
        let [a, b] = self.stage_bytes;
        let [gathered_a, gathered_b] = self.gathered;
        (if gathered_a { 0 } else { a }).saturating_add(if gathered_b { 0 } else { b })
    }

    /// Returns the bytes of an operand's tile that one block copies to each destination block.
    pub fn copy_bytes(&self, operand: OperandKind) -> u32 {
        self.stage_bytes[operand.index()] / self.shares(operand).max(1)
    }

    /// Returns the threads per block: the producer warpgroup and the consumers.
    pub const fn threads(&self) -> u32 {
        self.consumers.saturating_add(1).saturating_mul(WARPS * 32)
    }

    /// Returns the registers per thread at launch: the largest multiple of 8 that all threads of
    /// the block can have.
    pub const fn launch_registers(&self) -> u32 {
        let share = REGISTERS / self.threads() / 8 * 8;
        if share < MOST_REGISTERS { share } else { MOST_REGISTERS }
    }

    /// Returns the registers per consumer thread if each producer thread keeps `producer`
    /// registers: the largest multiple of 8 that fits. Warpgroups share only the registers of the
    /// launch: `setmaxnreg.inc` waits forever for others.
    pub const fn registers_beside(&self, producer: u32) -> u32 {
        let consumers = if self.consumers == 0 { 1 } else { self.consumers };
        let launched = self.launch_registers() * (consumers + 1);
        let share = launched.saturating_sub(producer) / consumers / 8 * 8;
        if share < MOST_REGISTERS { share } else { MOST_REGISTERS }
    }

    /// Returns the number of items in a region, the bytes per item, and the pitch in bytes from one
    /// item to the next.
    const fn extent(&self, region: Region) -> (u32, u32, u32) {
        let stage = self.whole_stage_bytes();
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
            Region::Slot => match self.slices {
                Some(ClusterSlices { bytes, .. }) => {
                    (self.consumers.saturating_mul(self.senders()), bytes, bytes)
                }
                None => (0, 0, 0),
            },
            Region::Vectors if self.vector_bytes == 0 => (0, 0, 0),
            Region::Vectors => (self.consumers, self.vector_bytes, self.vector_bytes),
            Region::Landed | Region::Read if self.slices.is_some() => {
                (self.consumers, BARRIER_BYTES, BARRIER_BYTES)
            }
            Region::Landed | Region::Read => (0, BARRIER_BYTES, BARRIER_BYTES),
        }
    }

    /// Returns the offset of a region's first item in bytes.
    pub const fn first_byte(&self, region: Region) -> u32 {
        match region {
            Region::Stage(OperandKind::A) => 0,
            Region::Stage(OperandKind::B) => self.stage_bytes[0],
            Region::Staging => self.stages.saturating_mul(self.whole_stage_bytes()),
            Region::Slot => self.end(Region::Staging),
            Region::Vectors => self.end(Region::Slot),
            Region::Full => self.end(Region::Vectors),
            Region::Empty => self.end(Region::Full),
            Region::Turn => self.end(Region::Empty),
            Region::Source => self.end(Region::Turn),
            Region::Landed => self.end(Region::Source),
            Region::Read => self.end(Region::Landed),
        }
    }

    /// Returns the offset behind a region whose items are contiguous.
    const fn end(&self, region: Region) -> u32 {
        let (count, bytes, _) = self.extent(region);
        self.first_byte(region).saturating_add(count.saturating_mul(bytes))
    }

    /// Returns the offset of item `i` of a region in bytes, or `None` if the region has fewer
    /// items.
    pub const fn byte(&self, region: Region, i: u32) -> Option<u32> {
        let (count, _, pitch) = self.extent(region);
        if i < count {
            Some(self.first_byte(region).saturating_add(i.saturating_mul(pitch)))
        } else {
            None
        }
    }

    /// Returns the size of the shared memory in bytes, starting at a multiple of
    /// [`ALIGNMENT_BYTES`].
    pub const fn shared_bytes(&self) -> u32 {
        self.end(Region::Read)
    }

    /// Returns the bytes of C that a consumer receives at once: the size of all its staging
    /// buffers.
    pub const fn source_bytes(&self) -> u32 {
        self.staging_buffers.saturating_mul(self.staging_bytes)
    }

    /// Returns the ring as a C++ struct, for `kernels/threadblock/tma_ring/pipeline.cuh`.
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
            ("kGatheredA", u32::from(self.gathered[0])),
            ("kGatheredB", u32::from(self.gathered[1])),
            ("kVectorBytes", self.vector_bytes),
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

/// Map from (region, item) to an offset in bytes. Row `i` is region `i` of [`Region::ALL`].
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

/// Stage (row 0) and phase (row 1) of each tile during two rounds of the ring, its period. A kernel
/// advances tile by tile for rows 0 and 1. For rows 2 and 3, which have the same values, it skips
/// ahead in one step.
#[derive(Clone, Copy, Debug)]
pub struct RingPosition {
    /// Number of stages.
    pub stages: u32,
}

impl RingPosition {
    /// Returns the stage and the phase of tile number `t`.
    pub const fn position(self, t: u64) -> (u32, u32) {
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
        let (stage, phase) = self.position(u64::from(point.column));
        [stage, phase, stage, phase].get(point.row as usize).copied()
    }
}

#[cfg(test)]
#[path = "pipeline_tests.rs"]
mod tests;
