//! Observer callbacks of the machine.

use falchion::internals::shape::OperandKind;

/// The purpose of an access, which determines the memory that it touches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Purpose {
    /// Vector load of a tile from global memory.
    Fetch,
    /// Store of a vector, or of a piece of it, from registers to shared memory.
    Store,
    /// Asynchronous copy of a vector to shared memory.
    Copy,
    /// Load of fragment elements from shared memory.
    Load,
    /// Store of an accumulator to shared memory, under sliced-K.
    EpilogueStore,
    /// Load of another slice's accumulator from shared memory.
    EpilogueLoad,
    /// Vector store of D to global memory.
    Write,
}

impl Purpose {
    /// Returns the name, as tables of accesses spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Store => "store",
            Self::Copy => "copy",
            Self::Load => "load",
            Self::EpilogueStore => "epilogue-store",
            Self::EpilogueLoad => "epilogue-load",
            Self::Write => "write",
        }
    }
}

/// The contiguous elements or bytes that an access touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touched {
    /// Elements of a matrix in global memory. For a GEMM operand, the first element is (mn, k). For
    /// A of a transpose, it is (row, column) relative to the tile. For B and D of a transpose, it
    /// is the position of the corresponding element of A.
    Global {
        /// Index along M or N, or the row of A.
        row: i64,
        /// Index along K, or the column of A.
        column: i64,
        /// Number of elements.
        elements: u32,
    },
    /// Bytes of shared memory.
    Shared {
        /// The first byte.
        byte: u64,
        /// Number of bytes.
        bytes: u32,
    },
}

/// The access of one thread in one instruction of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Number of the thread.
    pub thread: u32,
    /// The purpose of the access.
    pub purpose: Purpose,
    /// The operand whose tile it touches, if any.
    pub operand: Option<OperandKind>,
    /// Distinguishes the access from the thread's other accesses of the same purpose since the last
    /// barrier. The threads of a warp that make an access together have equal values.
    pub which: [u32; 3],
    /// The touched elements or bytes.
    pub touched: Touched,
}

/// Receives the accesses of a CTA while it runs.
pub trait Observer {
    /// Called for each access of a thread.
    fn saw(&mut self, access: &Access);
    /// Called when all threads have passed a barrier.
    fn barrier(&mut self);
}
