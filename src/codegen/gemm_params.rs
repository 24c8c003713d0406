//! Parameters of GEMM kernels.

use crate::{
    epilogue::{MOST_OPERANDS, SCALARS},
    shape::EpilogueOperand,
};

mirrored! {
    /// An operand of an epilogue: C, or a vector or matrix beside it.
    EpilogueOperandParams {
        /// Address of the first element; 0 if the epilogue does not read the operand.
        address: u64,
        /// Elements between neighboring rows.
        row_stride: i64,
        /// Elements between neighboring columns.
        column_stride: i64,
        /// Elements between the matrices of neighboring GEMMs.
        batch_stride: i64,
    }
}

impl EpilogueOperandParams {
    /// An operand that the epilogue does not read.
    pub const NONE: Self = Self { address: 0, row_stride: 0, column_stride: 0, batch_stride: 0 };
}

mirrored! {
    /// An index list, and the lines of its matrix.
    IndexParams {
        /// Address of the list; 0 without a list.
        address: u64,
        /// Number of lines of the matrix.
        extent: u32,
        /// Padding, which is 0.
        reserved: u32,
    }
}

impl IndexParams {
    /// No list.
    pub const NONE: Self = Self { address: 0, extent: 0, reserved: 0 };
}

mirrored! {
    /// The parts of a sum that an epilogue writes, which a second kernel adds.
    SumParams {
        /// Address of the parts; 0 without a sum.
        address: u64,
        /// Values from the parts of one GEMM to those of the next GEMM; 0 if groups of D share
        /// them.
        batch_stride: u64,
        /// Lines that have a sum: rows or columns of D.
        lines: u32,
        /// Parts per line.
        parts: u32,
        /// GEMMs with sums of their own.
        products: u32,
        /// Padding, which is 0.
        reserved: u32,
    }
}

impl SumParams {
    /// No sum.
    pub const NONE: Self =
        Self { address: 0, batch_stride: 0, lines: 0, parts: 0, products: 0, reserved: 0 };
}

mirrored! {
    /// Parameters of a GEMM kernel. With a TMA ring, tensor maps follow them: see
    /// [`TensorGemmParams`](super::TensorGemmParams).
    GemmParams {
        /// Address of A, which a TMA ring reads through its tensor map instead.
        a: u64,
        /// Address of B, as of A.
        b: u64,
        /// Address of D.
        d: u64,
        /// Leading dimension of A, in elements.
        lda: i64,
        /// Leading dimension of B, in elements.
        ldb: i64,
        /// Leading dimension of D, in elements.
        ldd: i64,
        /// Batch stride of A, in elements.
        stride_a: i64,
        /// Batch stride of B, in elements.
        stride_b: i64,
        /// Batch stride of D, in elements.
        stride_d: i64,
        /// Operands of the epilogue by position. C is operand 0.
        operands: [EpilogueOperandParams; MOST_OPERANDS],
        /// Scalars alpha, beta, and s2 to s7.
        scalars: [f64; SCALARS],
        /// Rows of D.
        m: i32,
        /// Columns of D.
        n: i32,
        /// Length of the dot products; 0 if the epilogue reads no accumulator.
        k: i32,
        /// Number of k-tiles.
        tiles_k: u32,
        /// Number of tiles along M, or of cluster rectangles.
        tiles_m: u32,
        /// Number of tiles along N, or of cluster rectangles.
        tiles_n: u32,
        /// Whether the epilogue reads C.
        reads_source: u32,
        /// Whether alpha is 1, beta is 0, and C is not read, as in most calls.
        unscaled: u32,
        /// Number of GEMMs in the batch.
        batch: u32,
        /// Bit mask of A (bit 0), B, and C. A bit is set if each GEMM has its own matrix.
        own: u32,
        /// Number of split-K slices. With stream-K, the number of streamed tiles.
        split_k: u32,
        /// K-tiles per split-K slice. With stream-K, k-tiles per cluster's span. The first
        /// `longer_slices` slices or spans have one more.
        slice_tiles: u32,
        /// Number of slices or spans with one more k-tile.
        longer_slices: u32,
        /// Tickets per tile, times the consumers that share the tile; 0 if a second kernel reduces
        /// the slices.
        tile_tickets: u32,
        /// K-tiles per term of a decomposed operand; unused otherwise.
        term_blocks: u32,
        /// Padding, which is 0.
        unused: u32,
        /// Addresses of the `DecomposedLine`s of A's rows and B's columns, if they are scaled.
        lines: [u64; 2],
        /// Bytes from the lines of one GEMM's operands to the lines of the next GEMM, for A and B.
        stride_lines: [u64; 2],
        /// Address of the split-K partials; 0 without split-K.
        slots: u64,
        /// Address of the tickets, which are 0 at the launch.
        tickets: u64,
        /// Address of the group offsets, or of the records of an array.
        records: u64,
        /// Index lists of A, B, and D.
        indices: [IndexParams; 3],
        /// Elements between neighboring rows and columns of D, for a D with two strides.
        strides_d: [i64; 2],
        /// Elements between groups of rows and of columns of C, and of D.
        outer_strides: [[i64; 2]; 2],
        /// Rows and columns per group of C, and of D.
        split_extents: [[u32; 2]; 2],
        /// Elements from a gate's column of B to its partner; 0 without a gate.
        gate_stride: i64,
        /// Sums that the epilogue writes, in the order of [`EpilogueOperand::SUMS`].
        sums: [SumParams; EpilogueOperand::SUMS.len()],
    }
}
