//! The two kernels below the parameterized one.

/// A kernel as a textbook has it, 16 x 16 threads a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Textbook {
    /// One element of C a thread, its row of A and its column of B from global memory.
    Naive,
    /// The same through 16 x 16 tiles in shared memory.
    SharedMemory,
}
