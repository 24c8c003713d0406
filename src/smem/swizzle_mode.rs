//! How chunks of 16 bytes are permuted in shared memory: by TMA, and as matrix descriptors say it.

use super::WAVEFRONT_BYTES;
use crate::layout::algebra::Swizzle;
use core::fmt;

/// Bytes of a chunk, the smallest piece that a swizzle moves.
pub const CHUNK_BYTES: u32 = 16;

/// How chunks of 16 bytes are permuted within the lines of 128 bytes of shared memory, which hold a
/// word of each bank.
///
/// ```text
/// address bits   9 8 7 | 6 5 4 | 3..0        line mod 8 | chunk of the line | byte of the chunk
/// Bytes128:              ^ ^ ^               chunk ^= line mod 8
/// Bytes64:                 ^ ^               chunk ^= line mod 4
/// Bytes32:                   ^               chunk ^= line mod 2
/// ```
///
/// The line is that of the *address*, not of the tile: the pattern starts with the tile only where
/// the tile is aligned to [`repeat_bytes`](Self::repeat_bytes).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum SwizzleMode {
    /// As it comes: rows of a chunk.
    None,
    /// Within rows of 32 bytes.
    Bytes32,
    /// Within rows of 64 bytes.
    Bytes64,
    /// Within rows of 128 bytes.
    Bytes128,
}

impl SwizzleMode {
    /// Every mode, the narrowest first.
    pub const ALL: [Self; 4] = [Self::None, Self::Bytes32, Self::Bytes64, Self::Bytes128];

    /// Bits of the chunk's number that move.
    pub const fn bits(self) -> u32 {
        self as u32
    }

    /// Bytes of a row, within which chunks move.
    pub const fn row_bytes(self) -> u32 {
        CHUNK_BYTES << self.bits()
    }

    /// Bytes within which chunks move, which are those of a box's row; `None` without a swizzle.
    pub const fn span_bytes(self) -> Option<u32> {
        if self.bits() == 0 { None } else { Some(self.row_bytes()) }
    }

    /// Bytes after which the pattern repeats, those of eight rows, and the alignment under which a
    /// tile starts with it.
    pub const fn repeat_bytes(self) -> u32 {
        WAVEFRONT_BYTES << self.bits()
    }

    /// Where the byte goes that would lie at a shared memory address. Twice is the identity.
    pub const fn apply(self, address: u32) -> u32 {
        let line = address / WAVEFRONT_BYTES % (1 << self.bits());
        address ^ (line * CHUNK_BYTES)
    }

    /// The same of offsets in elements of so many bytes, in CuTe's notation.
    pub(crate) fn of_elements(self, bytes: u32) -> Option<Swizzle> {
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
