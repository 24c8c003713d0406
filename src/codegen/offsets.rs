//! What a pass that writes offsets is launched with.

/// Offsets that a launch takes.
pub const MOST_OFFSETS: usize = 128;

mirrored! {
    /// What a pass that writes offsets is launched with.
    OffsetsParams {
        /// Address of the first one's place.
        destination: u64,
        /// How many there are.
        count: u32,
        /// Makes the size a multiple of 8 bytes.
        reserved: u32,
        /// The offsets, and zeros behind them.
        offsets: [u32; MOST_OFFSETS],
    }
}
