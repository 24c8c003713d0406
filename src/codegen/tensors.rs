//! Parameters with tensor maps. In C++ the maps' declaration comes before theirs.

use crate::operand::VectorKind;

mirrored! {
    /// A tensor and a box of it, as the driver packs a
    /// [`TensorMapDesc`](crate::threadblock::TensorMapDesc) and an address for TMA. A field of
    /// parameters that `__grid_constant__` passes by value.
    TensorMap align 64 {
        /// The driver's own.
        word: [u64; 16],
    }
}

mirrored! {
    /// What a kernel whose producer is TMA is launched with.
    TensorGemmParams align 64 {
        /// Boxes of A.
        a: TensorMap,
        /// Boxes of B.
        b: TensorMap,
        /// Subtiles of C; of no meaning where threads read them.
        source: TensorMap,
        /// Subtiles of D; of no meaning where threads store them.
        d: TensorMap,
        /// Address of C; 0 when it is not read.
        c: u64,
        /// Address of D.
        d_address: u64,
        /// Leading dimension of C, in elements.
        ldc: i64,
        /// Leading dimension of D, in elements.
        ldd: i64,
        /// alpha, beta, s2 .. s7.
        scalars: [f64; 8],
        /// Rows of D.
        m: i32,
        /// Columns of D.
        n: i32,
        /// K-tiles; 0 when the epilogue reads no accumulator.
        tiles_k: u32,
        /// Clusters' rectangles of tiles down D.
        tiles_m: u32,
        /// Clusters' rectangles of tiles across D.
        tiles_n: u32,
        /// Whether the epilogue reads C.
        reads_source: u32,
        /// Whether alpha is 1 and beta is 0, and C is not read: what nearly every product asks for.
        unscaled: u32,
        /// K-tiles of one part of a factor that is decomposed; of no meaning elsewhere.
        part_blocks: u32,
        /// Addresses of the [`DecomposedLine`](super::DecomposedLine)s of A's rows and of B's
        /// columns, where those are scaled.
        lines: [u64; 2],
        /// Elements from one C of the batch to the next.
        stride_c: i64,
        /// Elements from one D of the batch to the next.
        stride_d: i64,
        /// Bytes from the lines of one product's operands to those of the next.
        stride_lines: [u64; 2],
        /// Products of the batch.
        batch: u32,
        /// Of A, B and C, a bit each, the lowest A's: whether each product has a matrix of its own.
        own: u32,
        /// Addresses of vectors; 0 of one that is not read.
        vectors: [u64; VectorKind::ALL.len()],
        /// Address of the partial accumulators of the parts of K; 0 without split-K.
        slots: u64,
        /// Address of the tickets, which are 0.
        tickets: u64,
        /// Parts of K; of streams, tiles that are streamed.
        split_k: u32,
        /// K-tiles of each part, or of each cluster's span, but for the first ones, which have one
        /// more.
        part_tiles: u32,
        /// Parts, or spans, that have one k-tile more.
        longer_parts: u32,
        /// Tickets of each tile, of each consumer that shares it.
        tile_tickets: u32,
        /// Address of the offsets of groups; 0 without groups. Behind four vectors the size is a
        /// multiple of the maps' alignment.
        offsets: u64,
    }
}
