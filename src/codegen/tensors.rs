//! Kernel parameters with tensor maps. In C++, the declaration of tensor maps precedes them.

use super::gemm_params;

mirrored! {
    /// A tensor map: a [`TensorMapDesc`](crate::threadblock::TensorMapDesc) and an address, as the
    /// driver encodes them for TMA. A `__grid_constant__` parameter passes it by value.
    TensorMap align 64 {
        /// Opaque words of the driver.
        word: [u64; 16],
    }
}

gemm_params! {
    /// Parameters of a GEMM kernel whose producer uses TMA. The size is a multiple of the alignment
    /// of tensor maps, because `mirrored!` rejects padding.
    TensorGemmParams align 64 {
        /// Tensor map of A's boxes.
        a: TensorMap,
        /// Tensor map of B's boxes.
        b: TensorMap,
        /// Tensor map of C's subtiles; unused if threads read C.
        source: TensorMap,
        /// Tensor map of D's subtiles; unused if threads store D.
        d: TensorMap,
        /// Address of C; 0 if the epilogue does not read C.
        c: u64,
        /// Address of D.
        d_address: u64,
        /// Leading dimension of C, in elements.
        ldc: i64,
        /// Leading dimension of D, in elements.
        ldd: i64,
        /// Scalars alpha, beta, and s2 to s7.
        scalars: [f64; 8],
        /// Rows of D.
        m: i32,
        /// Columns of D.
        n: i32,
        /// Number of k-tiles; 0 if the epilogue reads no accumulator.
        tiles_k: u32,
        /// Number of cluster rectangles along M.
        tiles_m: u32,
        /// Number of cluster rectangles along N.
        tiles_n: u32,
        /// Whether the epilogue reads C.
        reads_source: u32,
        /// Whether alpha is 1, beta is 0, and C is not read, as in most calls.
        unscaled: u32,
        /// K-tiles per term of a decomposed operand; unused otherwise.
        term_blocks: u32,
        /// Addresses of the `DecomposedLine`s of A's rows and B's columns,
        /// if they are scaled.
        lines: [u64; 2],
        /// Batch stride of C, in elements.
        stride_c: i64,
        /// Batch stride of D, in elements.
        stride_d: i64,
        /// Bytes from the lines of one GEMM's operands to the lines of the next GEMM, for A and B.
        stride_lines: [u64; 2],
        /// Number of GEMMs in the batch.
        batch: u32,
        /// Bit mask of A (bit 0), B, and C. A bit is set if each GEMM has its own matrix.
        own: u32,
    }
}
