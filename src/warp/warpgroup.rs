//! A warpgroup: the shape of its tile, and the rows that each thread holds.
//!
//! Twin: `kernels/warp/warpgroup.cuh`.

use crate::arch::WARP;

/// Warps per warpgroup.
pub const WARPS: u32 = 4;

/// Threads per warpgroup.
pub const THREADS: u32 = WARPS * WARP;

/// Rows of D per instruction of a warpgroup.
pub const ROWS: u32 = 64;

/// K extent of a stage in bytes: a row of the 128-byte swizzle.
pub const STAGE_BYTES: u32 = 128;

/// Rows per warp.
pub(crate) const WARP_ROWS: u32 = 16;

/// Assignment of the rows of an instruction tile to threads, for lane `l` of warp `w`. The hardware
/// identifies rows of A and of accumulators only by the threads that hold them. A kernel that loads
/// A to registers may therefore permute the rows, if it permutes the accumulators alike.
///
/// ```text
/// Ordinary    16 w + l / 4 + 8 lower
/// Paired      16 w + 2 (l / 4) + lower
/// Crossed     16 w + 2 (l / 4) + (lower xor l / 16)
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FragmentRows {
    /// PTX's numbering, which operands in shared memory require.
    Ordinary,
    /// Two neighboring rows per thread.
    Paired,
    /// Paired rows, swapped in the upper half of a warp. Any eight lanes with one row each then
    /// have rows that differ modulo 8, so eight rows of the 128-byte swizzle use different banks.
    Crossed,
}

impl FragmentRows {
    /// Returns the upper row (`lower` = 0) or the lower row (`lower` = 1) of a thread.
    pub const fn row(self, thread: u32, lower: u32) -> u32 {
        let (first, lane) = (thread / WARP * WARP_ROWS, thread % WARP);
        match self {
            Self::Ordinary => first + lane / 4 + 8 * lower,
            Self::Paired => first + lane / 4 * 2 + lower,
            Self::Crossed => first + lane / 4 * 2 + (lower ^ (lane / 16)),
        }
    }

    /// Returns the name in C++.
    pub const fn cuda(self) -> &'static str {
        match self {
            Self::Ordinary => "warp::FragmentRows::Ordinary",
            Self::Paired => "warp::FragmentRows::Paired",
            Self::Crossed => "warp::FragmentRows::Crossed",
        }
    }

    /// Returns the row distance to the next four lanes, and from the upper to the lower row.
    /// Crossed rows are paired rows with a swizzle.
    pub(crate) const fn strides(self) -> (u32, u32) {
        if matches!(self, Self::Ordinary) { (1, 8) } else { (2, 1) }
    }
}
