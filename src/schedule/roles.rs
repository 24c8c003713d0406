//! Steps of warp-specialized kernels: a producer moves tiles into a ring of stages, consumers
//! multiply them.
//!
//! K-tiles are numbered through all tiles of D that a block computes: number `t` lives in a stage,
//! in a phase, as [`Pipeline::position`](crate::threadblock::Pipeline::position) says. Each stage
//! has two barriers in shared memory: *full*, whose phase completes when every byte has landed, and
//! *empty*, whose phase completes when every warp that reads the stage has released it. A producer
//! and each warp of a consumer count for themselves: `t`, and `k`, how many k-tiles of the current
//! tile of D they are past.
//!
//! Source: PTX ISA, "mbarrier", "Asynchronous warpgroup level matrix instructions", "Async proxy".
//!
//! Twin: `kernels/schedule/roles.cuh`.

use super::{Schedule, Section, steps};
use crate::operand::OperandKind;
use crate::words::words;
use core::fmt;

steps! {
    sections Opening Prologue Body Tail Epilogue Closing;

    /// One step of one role.
    pub enum RoleStep {
        /// One thread of the block sets up every full and every empty barrier.
        InitBarriers,
        /// What that thread set up is visible to asynchronous copies and to the cluster.
        FenceBarrierInit,
        /// All threads of the block meet.
        MeetBlock,
        /// All threads of the cluster meet.
        MeetCluster,
        /// Each thread of the warpgroup keeps that many registers and gives the others away.
        RegistersDown {
            /// How many.
            count: u8,
        },
        /// Each thread of the warpgroup takes registers until it has that many, and waits until
        /// they are to be had.
        RegistersUp {
            /// How many.
            count: u8,
        },
        /// Of maps in memory, which another kernel made, the thread that copies sees those of the
        /// product whose tile of D comes: the producer's of A and B, a consumer's of C and D.
        AcquireMaps,
        /// Waits until the stage of tile `t` is empty: the phase before the tile's own is complete.
        AwaitEmpty,
        /// Arrives at the full barrier of tile `t`, which from then on waits for the bytes of the
        /// stage.
        Expect,
        /// Begins to copy an operand's part of tile `t` into its stage: in a cluster that shares
        /// the operand, this block's share to all blocks. The bytes are counted at the full barrier
        /// of each block that they land in.
        CopyTensor {
            /// Which operand.
            operand: OperandKind,
        },
        /// Waits until every stage that was filled is empty, so that no block arrives at one that
        /// has left.
        Drain,
        /// `t` passes by the units of work that consumers before this one multiply in this round.
        SkipEarlier,
        /// `t` passes by those that consumers behind it multiply.
        SkipLater,
        /// Waits until the consumer before has begun all its products: who were further ahead would
        /// wait for a phase that is two off.
        AwaitTurn,
        /// Lets the next consumer multiply.
        PassTurn,
        /// Waits until tile `t` is full.
        AwaitFull,
        /// The same, where the tile of D has a k-tile that is not multiplied yet; else nothing.
        AwaitNext,
        /// Each lane reads its fragments of tile `t`'s first k, where there is such a tile; else
        /// nothing.
        LoadFirst,
        /// The warp brings A of tile `t` to registers, to set `k mod sets`: its lanes have read it
        /// when they go on.
        LoadFragments,
        /// Registers written before are in order with the products that begin after: accumulators
        /// may be multiplied into.
        FenceOperands,
        /// Begins to multiply tile `t`: accumulators += A tile times B tile; the first k-tile
        /// overwrites them. Where threads multiply, all of it but its last k, whose fragments each
        /// lane holds when it goes on.
        MultiplyStage,
        /// Begins to multiply part `part` of tile `t`, the tile of one instruction: partial
        /// accumulators = A tile times B tile. There is one set of partial accumulators, whichever
        /// part it is; what they held is overwritten.
        MultiplyPart {
            /// Which part of the consumer's tile: along M first.
            part: u8,
        },
        /// Adds the partial accumulators to the accumulators of part `part`, rounded to f32; those
        /// are 0 before the first k-tile.
        Promote {
            /// Which part.
            part: u8,
        },
        /// The products begun since the last commit become one group.
        CommitProducts,
        /// Waits until at most `pending` of the warp's groups of products are under way.
        AwaitProducts {
            /// How many may be.
            pending: u8,
        },
        /// The lanes of the warp meet: what they multiply they have read.
        MeetWarp,
        /// Multiplies the last k of the tile that was begun, from registers: what is read meanwhile
        /// is the next tile's.
        MultiplyLast,
        /// Arrives at the empty barriers of tile `t - behind`, in every block whose producer fills
        /// this block's stages. Does nothing where `behind` exceeds `k`: that tile belongs to an
        /// earlier tile of D, and has been released.
        Release {
            /// How many tiles before.
            behind: u8,
        },
        /// `t` and `k` are one more.
        Advance,
        /// The storing thread waits until none of its stores reads the staging buffers, and arrives
        /// at the warpgroup's source barrier, which from then on waits for the bytes of C that fill
        /// all of them. Nothing where C is not read, as in the next two.
        ExpectSource,
        /// The storing thread begins to copy subtile `subtile` of the warpgroup's part of C to the
        /// staging buffer `subtile mod buffers`.
        FetchSource {
            /// Which subtile.
            subtile: u8,
        },
        /// Waits until the subtiles of C that were fetched last have landed.
        AwaitSource,
        /// The storing thread waits until at most `pending` of its groups of stores still read
        /// shared memory.
        AwaitStores {
            /// How many may be.
            pending: u8,
        },
        /// The four warps of the warpgroup meet.
        Meet,
        /// Subtile `subtile` of the warp's part of D: from accumulators through the epilogue to the
        /// staging buffer `subtile mod buffers`, in place of the elements of C that lie there.
        StoreStaging {
            /// Which subtile.
            subtile: u8,
        },
        /// What the thread wrote to shared memory is visible to asynchronous copies.
        FenceProxy,
        /// The storing thread begins to copy subtile `subtile` of the warpgroup's part from its
        /// staging buffer to D.
        StoreTensor {
            /// Which subtile.
            subtile: u8,
        },
        /// The stores begun since the last commit become one group.
        CommitStores,
        /// The threads of the warp bring their accumulators through the epilogue to D.
        StoreThreads,
        /// Under split-K: the warp brings its accumulators to its slot of the workspace, the four
        /// warps meet, and the consumer counts itself at a ticket. The last of
        /// [`PARTS_AT_ONCE`](crate::threadblock::PARTS_AT_ONCE) neighbours adds their slots to its
        /// accumulators, and so on with the sums of so many. Who has added the last one goes on to
        /// the epilogue; the others go on to the next unit of work.
        ReduceParts,
        /// Under a cluster's split: in all blocks but the first, waits until what the consumer sent
        /// last has been read; nothing of what it sends first.
        AwaitRead,
        /// In those, each thread begins to copy its accumulators to the consumer's slot in the
        /// first block, whose landed barrier counts the bytes. Who has sent them goes on to the
        /// next unit of work.
        SendParts,
        /// In the first block, the storing thread arrives at the consumer's landed barrier, which
        /// from then on waits for the bytes of all others' accumulators.
        ExpectParts,
        /// In that, waits until they have landed.
        AwaitParts,
        /// In that, each thread adds them to its own in ascending k, and holds the sum.
        AddParts,
        /// In that, the lanes of the warp have read them, and arrive at the consumer's read barrier
        /// of each other block; nothing behind the last unit of work.
        ReleaseParts,
    }
}

words! {
    /// Who follows a schedule.
    #[derive(Default)]
    pub enum Role {
        /// Every warp of the block, before anything else.
        #[default]
        Setup = "Setup",
        /// The warpgroup that fills the ring. All of it opens; then one thread goes on.
        Producer = "Producer",
        /// A warpgroup that multiplies. All of its threads do each step.
        Consumer = "Consumer",
    }
}

/// The schedules of a kernel, one for each role.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Roles {
    /// What every warp begins with: an opening alone.
    pub setup: Schedule<RoleStep>,
    /// The producer's.
    pub producer: Schedule<RoleStep>,
    /// Each consumer's.
    pub consumer: Schedule<RoleStep>,
}

impl Roles {
    /// A role's schedule.
    pub fn of(&self, role: Role) -> &Schedule<RoleStep> {
        match role {
            Role::Setup => &self.setup,
            Role::Producer => &self.producer,
            Role::Consumer => &self.consumer,
        }
    }

    /// A role's schedule, to be changed.
    pub fn of_mut(&mut self, role: Role) -> &mut Schedule<RoleStep> {
        match role {
            Role::Setup => &mut self.setup,
            Role::Producer => &mut self.producer,
            Role::Consumer => &mut self.consumer,
        }
    }

    /// Every place of every schedule, in order.
    pub fn places(&self) -> impl Iterator<Item = (Role, Section, usize, RoleStep)> + '_ {
        Role::ALL.into_iter().flat_map(|role| {
            self.of(role).places().map(move |(section, index, step)| (role, section, index, step))
        })
    }

    /// The schedules as C++: a struct `Roles` of one struct for each role.
    pub fn header(&self) -> String {
        let each: String =
            Role::ALL.into_iter().map(|role| self.of(role).spell(role.name())).collect();
        format!("struct Roles {{\n{each}}};\n")
    }
}

impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for role in Role::ALL {
            for line in self.of(role).to_string().lines().filter(|line| !line.ends_with(": -")) {
                writeln!(f, "{:>8} {line}", role.name())?;
            }
        }
        Ok(())
    }
}
