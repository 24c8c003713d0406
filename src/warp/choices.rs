//! How a warp reads its fragments: in which runs, and in how much of a loop.

/// How many neighbours a lane holds, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum InterleaveKind {
    /// As many as one access of 16 bytes loads.
    Vector,
    /// So many, or the largest power of two below it that divides what a thread holds.
    Elements(u32),
}

/// How many neighbours along M or N a lane holds before the next lane's begin, as a type.
#[diagnostic::on_unimplemented(message = "`{Self}` is not an interleave", note = "write VectorInterleave or Interleave<N>")]
pub trait InterleaveChoice: 'static {
    /// The same choice, as a value.
    const KIND: InterleaveKind;
}

/// [`InterleaveKind::Vector`].
#[derive(Clone, Copy, Debug)]
pub struct VectorInterleave;

/// [`InterleaveKind::Elements`]. 1 deals elements to lanes one by one; what a thread holds in all makes its tile one piece.
#[derive(Clone, Copy, Debug)]
pub struct Interleave<const N: u32>;

impl InterleaveChoice for VectorInterleave {
    const KIND: InterleaveKind = InterleaveKind::Vector;
}

impl<const N: u32> InterleaveChoice for Interleave<N> {
    const KIND: InterleaveKind = InterleaveKind::Elements(N);
}

/// How much of the loop over a tile's k-groups is unrolled, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum UnrollKind {
    /// All of it.
    Full,
    /// So many k-groups a turn. Only the single-stage main loop has this loop: the others schedule every k-group.
    By(u32),
}

/// How much of the loop over a tile's k-groups is unrolled, as a type.
#[diagnostic::on_unimplemented(message = "`{Self}` does not say how to unroll", note = "write FullUnroll or UnrollBy<N>")]
pub trait Unroll: 'static {
    /// The same choice, as a value.
    const KIND: UnrollKind;
}

/// [`UnrollKind::Full`].
#[derive(Clone, Copy, Debug)]
pub struct FullUnroll;

/// [`UnrollKind::By`].
#[derive(Clone, Copy, Debug)]
pub struct UnrollBy<const N: u32>;

impl Unroll for FullUnroll {
    const KIND: UnrollKind = UnrollKind::Full;
}

impl<const N: u32> Unroll for UnrollBy<N> {
    const KIND: UnrollKind = UnrollKind::By(N);
}
