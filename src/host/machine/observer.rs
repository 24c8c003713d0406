//! Who looks on while a block runs.

use crate::{operand::OperandKind, words::words};

words! {
    /// What an access is for, and which memory it is an access to.
    #[derive(PartialOrd, Ord)]
    pub enum Purpose {
        /// A vector of a tile, read from global memory.
        Fetch = "fetch",
        /// A vector, or a piece of it, from registers to shared memory.
        Store = "store",
        /// A vector, to shared memory, by an asynchronous copy.
        Copy = "copy",
        /// Elements that a thread takes from shared memory.
        Load = "load",
        /// An accumulator, to shared memory, where K is sliced.
        EpilogueStore = "epilogue-store",
        /// An accumulator of another slice, from shared memory.
        EpilogueLoad = "epilogue-load",
        /// A vector of D, to global memory.
        Write = "write",
    }
}

/// Which elements are touched: neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touched {
    /// So many of a matrix in global memory. Of an operand, the first is at (mn, k). Of a
    /// transpose's A it is at (row, column), counted from its tile; of its D, and of B, at the
    /// place of that element of A.
    Global {
        /// Along MN, or a row of A.
        row: i64,
        /// Along K, or a column of A.
        column: i64,
        /// How many.
        elements: u32,
    },
    /// So many bytes of shared memory from a byte on.
    Shared {
        /// The first byte.
        byte: u64,
        /// How many.
        bytes: u32,
    },
}

/// A thread's access: what its kernel does in one instruction, however many elements that moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Whose it is.
    pub thread: u32,
    /// What it is for.
    pub purpose: Purpose,
    /// The operand whose tile it touches, where it is one's.
    pub operand: Option<OperandKind>,
    /// What tells it apart from the thread's others of the purpose since the last barrier; the same
    /// for the threads of a warp that make it together.
    pub which: [u32; 3],
    /// Where.
    pub touched: Touched,
}

/// Who looks on.
pub trait Observer {
    /// A thread makes an access.
    fn saw(&mut self, access: &Access);
    /// All threads have met.
    fn barrier(&mut self);
}
