//! Parameters of the repack pass.

mirrored! {
    /// One copy of a repack pass: a matrix, or the matrices of a batch, and the destination.
    RepackCopyParams {
        /// Address of the first row.
        source: u64,
        /// Address of the copy of the first row, a multiple of 16.
        destination: u64,
        /// Bytes from one row of the source to the next.
        stride: u64,
        /// Bytes from one row of the copy to the next, a multiple of 16.
        pitch: u64,
        /// Bytes per row.
        row_bytes: u64,
        /// Number of rows.
        rows: u32,
        /// Pieces of 16 bytes per row.
        pieces: u32,
        /// Number of tiles across a row.
        tiles_across: u32,
        /// Base-2 logarithm of the pieces per row of a tile.
        log_pieces: u32,
        /// Bytes from one matrix of the batch to the next.
        stride_source: u64,
        /// Bytes from the copy of one matrix to the next, a multiple of 16.
        stride_copy: u64,
        /// Tiles per matrix.
        tiles: u32,
        /// Padding to a multiple of 8 bytes.
        reserved: u32,
    }
}

mirrored! {
    /// Parameters of a repack pass: copies of one operand or both. The first copy uses the first
    /// blocks.
    RepackParams {
        /// The copies.
        copies: [RepackCopyParams; 2],
        /// Number of thread blocks of the first copy.
        blocks: u32,
        /// Padding to a multiple of 8 bytes.
        reserved: u32,
    }
}
