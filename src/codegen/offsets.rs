//! Parameters of the pass that writes group offsets to global memory.

/// Maximum number of offsets per launch.
pub const MOST_OFFSETS: usize = 128;

mirrored! {
    /// Parameters of the pass that writes group offsets.
    OffsetsParams {
        /// Address to which the first offset is written.
        destination: u64,
        /// Number of offsets.
        count: u32,
        /// Padding to a multiple of 8 bytes.
        reserved: u32,
        /// The offsets, followed by zeros.
        offsets: [u32; MOST_OFFSETS],
    }
}
