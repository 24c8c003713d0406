//! What a repack pass is launched with.

mirrored! {
    /// One matrix, or those of a batch, and where the copy goes.
    RepackCopyParams {
        /// Address of the first row.
        source: u64,
        /// Address of the first row's copy, a multiple of 16.
        destination: u64,
        /// Bytes from one row to the next.
        stride: u64,
        /// Bytes from one copied row to the next, a multiple of 16.
        pitch: u64,
        /// Bytes of a row.
        row_bytes: u64,
        /// Rows.
        rows: u32,
        /// Pieces of a row.
        pieces: u32,
        /// Tiles across a row.
        tiles_across: u32,
        /// Pieces of a tile's row, as a power of two.
        log_pieces: u32,
        /// Bytes from one matrix to the next.
        stride_source: u64,
        /// Bytes from one matrix's copy to the next one's, a multiple of 16.
        stride_copy: u64,
        /// Tiles of a matrix.
        tiles: u32,
        /// Makes the size a multiple of 8 bytes.
        reserved: u32,
    }
}

mirrored! {
    /// What a repack pass is launched with: one operand's copy or both, of which the first has the
    /// first blocks.
    RepackParams {
        /// The copies.
        copies: [RepackCopyParams; 2],
        /// Blocks of the first one.
        blocks: u32,
        /// Makes the size a multiple of 8 bytes.
        reserved: u32,
    }
}
