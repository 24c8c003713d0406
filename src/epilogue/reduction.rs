//! Parallel split-K: a second kernel adds the parts of K, and runs the epilogue.
//!
//! The blocks of the first kernel store their parts in slots of the workspace and are done: no
//! tickets are drawn, and none are cleared before. The second one has a block for each access of
//! the threads that share a tile, so that all multiprocessors read slots at the same time; a thread
//! adds one access of all parts, in the order in which the blocks of `splitk` would
//! ([`PARTS_AT_ONCE`](crate::threadblock::PARTS_AT_ONCE) neighbours, then as many such sums), so
//! that bits are the same. It is in the same module, takes the same parameters, and is launched
//! while the first one ends.
//!
//! An access is what a thread stores at once of its accumulators; of a warpgroup's, the four of an
//! octet of columns.
//!
//! Twin: `kernels/epilogue/reduction.cuh`.

/// What a launch has to know of the second kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reduction {
    /// Blocks of each tile.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
}
