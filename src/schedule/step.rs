//! Steps of kernels whose threads all follow one schedule.
//!
//! Each thread has two counters: `written`, the number of k-tiles written to shared memory, and
//! `read`, the tile being multiplied. Tile `t` occupies stage `t mod stages`. Steps on a tile
//! beyond the last do nothing.
//!
//! Twin: `kernels/schedule.cuh`.

use super::steps;

steps! {
    sections Prologue Body Epilogue;

    /// One step of every thread of a block.
    pub enum Step {
        /// Loads tile `written` from global memory to the thread's staging registers.
        Fetch,
        /// Stores tile `written` from staging registers to shared memory, and increments `written`.
        Store,
        /// Starts asynchronous copies of tile `written` from global to shared memory: the accesses
        /// of part `part` of `of`.
        Copy {
            /// Part to copy.
            part: u8,
            /// Number of parts.
            of: u8,
        },
        /// Closes the group of copies issued since the last commit, and increments `written`.
        Commit,
        /// Waits until at most `pending` groups of the thread's copies are in flight.
        Wait {
            /// Maximum number of groups in flight.
            pending: u8,
        },
        /// Synchronizes the threads of the block, and makes their writes to shared memory visible
        /// to all.
        Barrier,
        /// Loads k-block `k_block` of tile `read` from shared memory to fragment `k_block mod 2`.
        Load {
            /// K-block of the warp's tile.
            k_block: u8,
        },
        /// Performs A's part of a `Load`.
        LoadA {
            /// K-block of the warp's tile.
            k_block: u8,
        },
        /// Adds the outer product of the fragments of k-block `k_block` to the accumulators.
        Multiply {
            /// K-block of the warp's tile.
            k_block: u8,
        },
        /// Performs `Multiply` of k-block `k_block`, and B's part of the `Load` of k-block `next`.
        /// B has one fragment, so each load follows the products that read the words it overwrites.
        MultiplyLoad {
            /// K-block to multiply.
            k_block: u8,
            /// K-block to load.
            next: u8,
        },
        /// Loads both fragments of each k-block of tile `read` in sequence, and multiplies them.
        MultiplyTile,
        /// Increments `read`.
        Advance,
        /// The warps of warp slice `slice` store their partial accumulators to shared memory.
        StoreWarpSlice {
            /// Index of the warp slice, from 1 on.
            slice: u8,
        },
        /// The warps of warp slice 0 add the partial accumulators of warp slice `slice` to their
        /// own.
        ReduceWarpSlice {
            /// Index of the warp slice, from 1 on.
            slice: u8,
        },
        /// Stores the thread's output to D, from shared memory or, if nothing was staged, from
        /// registers.
        Write,
    }
}
