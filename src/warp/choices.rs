//! Choices of a warp's fragment loads: interleave and unrolling.

/// Number of neighboring elements that a lane holds contiguously.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InterleaveKind {
    /// As many elements as one access of 16 bytes loads.
    Vector,
    /// This number, or the largest power of two below it that divides the elements of a thread.
    Elements(u32),
}

/// Unrolling of the loop over a tile's k-blocks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnrollKind {
    /// Full unrolling.
    Full,
    /// This number of k-blocks per iteration. Only the single-stage main loop has this loop; the
    /// other main loops schedule every k-block.
    By(u32),
}
