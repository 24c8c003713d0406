//! What a split of an operand is launched with, and what it leaves behind.

use crate::numeric::split::LineFacts;

mirrored! {
    /// What is known of a row of A, or a column of B, that is scaled: [`LineFacts`](crate::numeric::split::LineFacts), and its shift.
    SplitLine {
        /// The bits of the largest magnitude.
        largest: u32,
        /// Numbers that are not 0.
        nonzero: u32,
        /// Those of them outside of the window.
        outside: u32,
        /// Its numbers are multiplied by two to the power of minus this.
        shift: i32,
    }
}

impl From<SplitLine> for LineFacts {
    fn from(line: SplitLine) -> Self {
        Self { largest: line.largest, nonzero: line.nonzero, outside: line.outside }
    }
}

mirrored! {
    /// What a pass of a split is launched with.
    SplitParams {
        /// Address of the operand.
        source: u64,
        /// Its leading dimension, in elements.
        leading: u64,
        /// Address of the first row's parts, a multiple of 16.
        parts: u64,
        /// Elements from one row of parts to the next.
        pitch: u64,
        /// Address of the rows' facts.
        lines: u64,
        /// Address of the number of the first row that is refused.
        status: u64,
        /// Rows of A, or columns of B.
        mn: u32,
        /// Length of a row.
        k: u32,
        /// Elements of one part, zeros behind it included.
        padded: u32,
        /// Tiles across a part.
        tiles_across: u32,
        /// Whether the operand is contiguous along K.
        along_k: u32,
        /// Whether rows can be read 16 bytes at a time.
        vectors: u32,
        /// Which pass.
        pass: u32,
        /// Makes the size a multiple of 8 bytes.
        reserved: u32,
    }
}
