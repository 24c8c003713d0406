//! Steps of warp-specialized kernels: a producer moves tiles into a ring of stages, and consumers
//! multiply them.
//!
//! K-tiles are numbered through all tiles of D that a block computes.
//! [`Pipeline::position`](crate::threadblock::Pipeline::position) maps tile `t` to its stage and
//! its phase. Each stage has two mbarriers in shared memory. A phase of *full* completes when every
//! byte has landed. A phase of *empty* completes when every warp that reads the stage has released
//! it. The producer and each consumer warp have two counters: `t`, and `k`, the number of k-tiles
//! of the current tile of D that lie behind them.
//!
//! Source: PTX ISA, "mbarrier", "Asynchronous warpgroup level matrix instructions", "Async proxy".
//!
//! Twin: `kernels/schedule/roles.cuh`.

use super::{Schedule, Section, steps};
use crate::shape::{OperandKind, words::words};
use core::fmt;

steps! {
    sections Opening Prologue Body Tail Epilogue Closing;

    /// One step of one role.
    pub enum RoleStep {
        /// One thread of the block initializes all mbarriers.
        InitBarriers,
        /// Makes the initialized mbarriers visible to asynchronous copies and to the cluster.
        FenceBarrierInit,
        /// Synchronizes the threads of the block.
        MeetBlock,
        /// Synchronizes the threads of the cluster.
        MeetCluster,
        /// Each thread of the warpgroup keeps `count` registers and releases the others.
        RegistersDown {
            /// Number of registers.
            count: u8,
        },
        /// Each thread of the warpgroup raises its register count to `count`, and waits until the
        /// registers are free.
        RegistersUp {
            /// Number of registers.
            count: u8,
        },
        /// Waits until the stage of tile `t` is empty: the phase before the tile's own is complete.
        AwaitEmpty,
        /// Arrives at the full barrier of tile `t`, which then expects the bytes of the stage.
        Expect,
        /// Starts the copy of an operand's part of tile `t` into its stage. In a cluster that
        /// shares the operand, the block multicasts its share to all blocks. The full barrier of
        /// each destination block counts the bytes.
        CopyTensor {
            /// Operand to copy.
            operand: OperandKind,
        },
        /// Each thread of the producer starts to copy its part of the lines that an index list
        /// selects, of an operand's part of tile `t`, into the stage. The threads copy with
        /// `cp.async`, and write zeros for a line beyond the operand. Each block gathers for
        /// itself.
        GatherLines {
            /// Operand to gather.
            operand: OperandKind,
        },
        /// Each thread of the producer arrives at the full barrier of tile `t` as soon as the lines
        /// that the thread has copied so far have landed. The thread does not wait for them.
        ArriveGathered,
        /// Waits until every filled stage is empty. No block then arrives at a barrier of a block
        /// that has exited, and no thread exits before its lines have landed.
        Drain,
        /// Advances `t` past the work units that earlier consumers multiply in this round.
        SkipEarlier,
        /// Advances `t` past the work units that later consumers multiply.
        SkipLater,
        /// Waits until the previous consumer has issued all its products. A consumer further ahead
        /// would wait on a phase that is two off.
        AwaitTurn,
        /// Signals the next consumer that it may multiply.
        PassTurn,
        /// Waits until tile `t` is full.
        AwaitFull,
        /// Waits until tile `t` is full, if the tile of D has another k-tile to multiply; otherwise
        /// does nothing.
        AwaitNext,
        /// Each thread writes zeros to its part of tile `t`'s elements outside the group's K, in
        /// both operands. All consumers that multiply the tile share the elements. This step and
        /// the next do nothing if the tile lies in the group, or does not exist.
        ClearOutside,
        /// Makes the zeros visible to products, and synchronizes the consumers that multiply the
        /// tile.
        MeetCleared,
        /// Each lane reads its fragments of tile `t`'s first k-block, if the tile exists; otherwise
        /// does nothing.
        LoadFirst,
        /// Each warp loads A of tile `t` to fragment set `k mod sets`. Its lanes have read A when
        /// the step ends.
        LoadFragments,
        /// Orders earlier register writes before later products, so that products may use the
        /// accumulators.
        FenceOperands,
        /// Starts to multiply tile `t`: accumulators += A tile times B tile; the first k-tile
        /// overwrites them. Without `wgmma`, multiplies all k-blocks but the last, whose fragments
        /// each lane holds when the step ends.
        MultiplyStage,
        /// Starts to multiply instruction tile `tile` of k-tile `t`: partial accumulators = A tile
        /// times B tile. All instruction tiles share one set of partial accumulators, which the
        /// product overwrites.
        MultiplyInstructionTile {
            /// Instruction tile of the consumer, along M first.
            tile: u8,
        },
        /// Adds the partial accumulators to the accumulators of instruction tile `tile`, rounded to
        /// f32. The accumulators are 0 before the first k-tile.
        Promote {
            /// Instruction tile of the consumer.
            tile: u8,
        },
        /// Closes the group of products issued since the last commit.
        CommitProducts,
        /// Waits until at most `pending` groups of the warp's products are in flight.
        AwaitProducts {
            /// Maximum number of groups in flight.
            pending: u8,
        },
        /// Synchronizes the lanes of the warp: all of them have read the stage.
        MeetWarp,
        /// Multiplies the last k of the current tile from registers. Reads in flight belong to the
        /// next tile.
        MultiplyLast,
        /// Arrives at the empty barriers of tile `t - behind`, in every block whose producer fills
        /// this block's stages. Does nothing if `behind` exceeds `k`: that tile belongs to an
        /// earlier tile of D and has been released.
        Release {
            /// Distance in tiles.
            behind: u8,
        },
        /// Increments `t` and `k`.
        Advance,
        /// The storing thread waits until none of its stores reads the staging buffers. It then
        /// arrives at the warpgroup's source barrier, which expects the bytes of C for all buffers.
        /// This step and the next two do nothing if C is not read.
        ExpectSource,
        /// The storing thread starts the copy of subtile `subtile` of the warpgroup's part of C to
        /// the staging buffer `subtile mod buffers`.
        FetchSource {
            /// Subtile to copy.
            subtile: u8,
        },
        /// Waits until the fetched subtiles of C have landed.
        AwaitSource,
        /// The storing thread waits until at most `pending` groups of its stores still read shared
        /// memory.
        AwaitStores {
            /// Maximum number of groups in flight.
            pending: u8,
        },
        /// Synchronizes the four warps of the warpgroup.
        Meet,
        /// The threads of the warpgroup write the vectors of the epilogue for its part of D to
        /// shared memory.
        StageVectors,
        /// Applies the epilogue to subtile `subtile` of the warp's part of D, and writes it to the
        /// staging buffer `subtile mod buffers`. The elements replace those of C in the buffer.
        StoreStaging {
            /// Subtile to stage.
            subtile: u8,
        },
        /// Makes writes to shared memory by the generic proxy visible to the async proxy: writes
        /// of the thread, before TMA stores D, and gathered lines that the thread has waited for,
        /// before `wgmma` reads them. The fence must lie between the writes and the reads in
        /// causality order (PTX ISA, "Memory Consistency Model"). A fence in the producer would
        /// have to wait for the copies, whose arrival is asynchronous.
        FenceProxy,
        /// The storing thread starts the copy of subtile `subtile` of the warpgroup's part from its
        /// staging buffer to D.
        StoreTensor {
            /// Subtile to store.
            subtile: u8,
        },
        /// Closes the group of stores issued since the last commit.
        CommitStores,
        /// The threads of the warp apply the epilogue to their accumulators and store D.
        StoreThreads,
        /// Under split-K: the warp stores its accumulators to its slot of the workspace, the four
        /// warps synchronize, and the consumer increments a ticket. The last of
        /// [`SLICES_AT_ONCE`](crate::threadblock::SLICES_AT_ONCE) neighbors to arrive adds their
        /// slots to its accumulators; the sums are added likewise, level by level. The consumer
        /// that holds the final sum runs the epilogue. All others continue with the next work unit.
        ReduceSlices,
        /// Under split-K within a cluster, in all blocks but the first: waits until the first block
        /// has read what the consumer sent last. Does nothing before the first send.
        AwaitRead,
        /// In all blocks but the first: each thread starts the copy of its accumulators to the
        /// consumer's slot in the first block, whose landed barrier counts the bytes. The consumer
        /// continues with the next work unit.
        SendPartials,
        /// In the first block: the storing thread arrives at the consumer's landed barrier, which
        /// then expects the bytes of all other blocks' accumulators.
        ExpectPartials,
        /// In the first block: waits until these accumulators have landed.
        AwaitPartials,
        /// In the first block: each thread adds them to its own accumulators in ascending k, and
        /// then holds the sum.
        AddPartials,
        /// In the first block: the warp's lanes have read the accumulators and arrive at the
        /// consumer's read barrier of each other block. Does nothing after the last work unit.
        ReleasePartials,
    }
}

words! {
    /// Role that follows a schedule.
    #[derive(Default)]
    pub enum Role {
        /// Every warp of the block, before anything else.
        #[default]
        Setup = "Setup",
        /// The warpgroup that fills the ring. All its threads perform the opening. Then one thread
        /// continues, or all threads if they gather lines.
        Producer = "Producer",
        /// A warpgroup that multiplies. All its threads perform each step.
        Consumer = "Consumer",
    }
}

/// Schedules of a kernel, one per role.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Roles {
    /// Schedule of every warp at the start; it has only an opening.
    pub setup: Schedule<RoleStep>,
    /// Schedule of the producer.
    pub producer: Schedule<RoleStep>,
    /// Schedule of each consumer.
    pub consumer: Schedule<RoleStep>,
}

impl Roles {
    /// Returns the schedule of a role.
    pub fn schedule(&self, role: Role) -> &Schedule<RoleStep> {
        match role {
            Role::Setup => &self.setup,
            Role::Producer => &self.producer,
            Role::Consumer => &self.consumer,
        }
    }

    /// Returns the schedule of a role for modification.
    pub fn schedule_mut(&mut self, role: Role) -> &mut Schedule<RoleStep> {
        match role {
            Role::Setup => &mut self.setup,
            Role::Producer => &mut self.producer,
            Role::Consumer => &mut self.consumer,
        }
    }

    /// Yields all steps of all schedules in order.
    pub fn places(&self) -> impl Iterator<Item = (Role, Section, usize, RoleStep)> + '_ {
        Role::ALL.into_iter().flat_map(|role| {
            self.schedule(role)
                .places()
                .map(move |(section, index, step)| (role, section, index, step))
        })
    }

    /// Returns the schedules as a C++ struct `Roles` with one struct per role.
    pub fn header(&self) -> String {
        let each: String =
            Role::ALL.into_iter().map(|role| self.schedule(role).spell(role.name())).collect();
        format!("struct Roles {{\n{each}}};\n")
    }
}

impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for role in Role::ALL {
            for line in
                self.schedule(role).to_string().lines().filter(|line| !line.ends_with(": -"))
            {
                writeln!(f, "{:>8} {line}", role.name())?;
            }
        }
        Ok(())
    }
}
