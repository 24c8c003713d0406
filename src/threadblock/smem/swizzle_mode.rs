//! Swizzle modes of TMA and of matrix descriptors, which permute chunks of 16 bytes in shared
//! memory.

use crate::{layout::algebra::Swizzle, threadblock::smem::WAVEFRONT_BYTES};
use core::fmt;

/// Size of a chunk in bytes, the smallest unit that a swizzle moves.
pub const CHUNK_BYTES: u32 = 16;

/// Permutation of 16-byte chunks within the 128-byte lines of shared memory. A line holds one word
/// of each bank.
///
/// ```text
/// address bits   9 8 7 | 6 5 4 | 3..0        line mod 8 | chunk of the line | byte of the chunk
/// Bytes128:              ^ ^ ^               chunk ^= line mod 8
/// Bytes64:                 ^ ^               chunk ^= line mod 4
/// Bytes32:                   ^               chunk ^= line mod 2
/// ```
///
/// The pattern depends on the line of the *address*, not on the line of the tile. It starts with
/// the tile only if the tile is aligned to [`repeat_bytes`](Self::repeat_bytes).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SwizzleMode {
    /// No permutation; rows are single chunks.
    None,
    /// Permutation within rows of 32 bytes.
    Bytes32,
    /// Permutation within rows of 64 bytes.
    Bytes64,
    /// Permutation within rows of 128 bytes.
    Bytes128,
}

impl SwizzleMode {
    /// All modes, narrowest first.
    pub const ALL: [Self; 4] = [Self::None, Self::Bytes32, Self::Bytes64, Self::Bytes128];

    /// Returns the number of chunk-index bits that change.
    pub const fn bits(self) -> u32 {
        self as u32
    }

    /// Returns the row size in bytes, within which chunks move.
    pub const fn row_bytes(self) -> u32 {
        CHUNK_BYTES << self.bits()
    }

    /// Returns the span of the swizzle in bytes, which is the size of a box row; `None` without a
    /// swizzle.
    pub const fn span_bytes(self) -> Option<u32> {
        if self.bits() == 0 { None } else { Some(self.row_bytes()) }
    }

    /// Returns the period of the pattern in bytes, which is eight rows. A tile with this alignment
    /// starts with the pattern.
    pub const fn repeat_bytes(self) -> u32 {
        WAVEFRONT_BYTES << self.bits()
    }

    /// Returns the swizzled shared-memory address of a byte. The function is its own inverse.
    pub const fn apply(self, address: u32) -> u32 {
        let line = address / WAVEFRONT_BYTES % (1 << self.bits());
        address ^ (line * CHUNK_BYTES)
    }

    /// Returns this swizzle of element offsets, for elements of `bytes` bytes, in CuTe's notation.
    pub(crate) fn for_elements(self, bytes: u32) -> Option<Swizzle> {
        Swizzle::new(self.bits(), CHUNK_BYTES.checked_div(bytes)?.ilog2(), 3).ok()
    }
}

impl fmt::Display for SwizzleMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.pad("unswizzled"),
            swizzled => write!(f, "{}-byte swizzled", swizzled.row_bytes()),
        }
    }
}
