//! How a warp reads its fragments: in which runs, and in how much of a loop.

/// How many neighbours a lane holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum InterleaveKind {
    /// As many as one access of 16 bytes loads.
    Vector,
    /// So many, or the largest power of two below it that divides what a thread holds.
    Elements(u32),
}

/// How much of the loop over a tile's k-blocks is unrolled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum UnrollKind {
    /// All of it.
    Full,
    /// So many k-blocks a turn. Only the single-stage main loop has this loop: the others schedule
    /// every k-block.
    By(u32),
}
