//! Steps of kernels whose threads all do the same.
//!
//! Two counters belong to each thread: `written`, the k-tiles put into shared memory so far, and
//! `read`, the tile being multiplied. Tile `t` lives in stage `t mod stages`. Steps that would
//! touch a tile beyond the last do nothing.
//!
//! Twin: `kernels/schedule.cuh`.

use super::steps;

steps! {
    sections Prologue Body Epilogue;

    /// One step of every thread of a block.
    pub enum Step {
        /// Tile `written`: global memory to the thread's staging registers.
        Fetch,
        /// Tile `written`: staging registers to shared memory; then `written` is one more.
        Store,
        /// Tile `written`: accesses of part `part` of `of`, from global to shared memory,
        /// asynchronously.
        Copy {
            /// Which part.
            part: u8,
            /// Of how many.
            of: u8,
        },
        /// The copies issued since the last commit become one group; then `written` is one more.
        Commit,
        /// Waits until at most `pending` of the thread's groups are under way.
        Wait {
            /// How many may be.
            pending: u8,
        },
        /// All threads of the block meet; what they wrote to shared memory is visible to all.
        Barrier,
        /// K-block `k_block` of tile `read`: shared memory to fragment `k_block mod 2`.
        Load {
            /// Which k of the warp's tile.
            k_block: u8,
        },
        /// A's part of a `Load`.
        LoadA {
            /// Which k of the warp's tile.
            k_block: u8,
        },
        /// Accumulators += the outer product of the fragments of k-block `k_block`.
        Multiply {
            /// Which k of the warp's tile.
            k_block: u8,
        },
        /// `Multiply` of k-block `k_block`, and B's part of the `Load` of k-block `next`, each load
        /// behind the products that take what it overwrites: B has one fragment.
        MultiplyLoad {
            /// Which k of the warp's tile.
            k_block: u8,
            /// Which k is loaded.
            next: u8,
        },
        /// Every k-block of tile `read`, one after the other: both fragments are loaded, then
        /// multiplied.
        MultiplyTile,
        /// `read` is one more.
        Advance,
        /// Slice `slice` of K stores its partial accumulators to shared memory.
        StorePartials {
            /// Which slice, from 1.
            slice: u8,
        },
        /// Slice 0 adds the partial accumulators of slice `slice`.
        ReducePartials {
            /// Which slice, from 1.
            slice: u8,
        },
        /// What the thread is to write: from shared memory, or from its registers where there is
        /// none, to D.
        Write,
    }
}
