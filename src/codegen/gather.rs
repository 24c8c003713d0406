//! Parameters of the gather pass.

mirrored! {
    /// Parameters of a gather pass, which copies lines that an index list selects.
    GatherParams {
        /// Address of the operand.
        source: u64,
        /// Address of the copy.
        destination: u64,
        /// Address of the index list; 0 if line `i` of the copy is line `i` of the operand.
        indices: u64,
        /// Bytes between lines of the operand.
        source_line: u64,
        /// Bytes between units of a line of the operand.
        source_unit: u64,
        /// Bytes between lines of the copy.
        copy_line: u64,
        /// Bytes between units of a line of the copy.
        copy_unit: u64,
        /// Bytes between groups of lines of the operand.
        source_group: u64,
        /// Bytes between runs of units of the operand.
        source_run: u64,
        /// Bytes from one matrix of the batch to the next.
        stride_source: u64,
        /// Bytes from the copy of one matrix to the next.
        stride_copy: u64,
        /// Lines per group of the operand.
        lines_of_group: u32,
        /// Units per run of the operand.
        units_of_run: u32,
        /// Number of lines of the copy.
        lines: u32,
        /// Units per line.
        units: u32,
        /// Number of lines of the operand.
        extent: u32,
        /// Tiles per matrix.
        tiles: u32,
        /// Number of tiles along the contiguous dimension of the copy.
        tiles_across: u32,
        /// Base-2 logarithm of the threads along the contiguous dimension of the copy.
        log_units: u32,
        /// Whether the contiguous dimension of the copy runs across lines.
        by_lines: u32,
        /// Padding to a multiple of 8 bytes.
        reserved: u32,
    }
}
