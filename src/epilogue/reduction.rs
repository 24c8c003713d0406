//! Parallel split-K: a second kernel adds the split-K slices and runs the epilogue.
//!
//! The blocks of the first kernel store their partial accumulators to workspace slots and exit, so
//! tickets are neither used nor cleared. The second kernel has one block for each access of the
//! threads that share a tile, so all SMs read slots at once. A thread adds one access of all
//! slices, in the same order as the blocks of `splitk`
//! ([`SLICES_AT_ONCE`](crate::threadblock::SLICES_AT_ONCE) neighbors, then the sums of such
//! groups), so the bits are equal. The kernel is in the same module, has the same parameters, and
//! is launched while the first kernel ends.
//!
//! An access is the set of accumulators that a thread stores at once.

/// Launch configuration of the second kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reduction {
    /// Blocks per tile.
    pub blocks: u32,
    /// Threads per block.
    pub threads: u32,
}
