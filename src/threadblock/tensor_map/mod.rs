//! What TMA is told of a tensor, as a value.
//!
//! A [`TensorMapDesc`] says how a tensor of up to five dimensions lies in global memory, which box of it one copy moves, and in
//! which order the box lies in shared memory. Dimension 0 is the contiguous one. [`check`](TensorMapDesc::check) knows every rule
//! of TMA; the driver packs a description that checks, with an address, into a [`TensorMap`](crate::codegen::TensorMap) of
//! 128 bytes. What a copy does is said, and computed on the host, in [`tensor_copy`](super::tensor_copy).
//!
//! ```
//! # use falchion::{layout::Order, numeric::ElementKind, refusal::Operand, threadblock::{TensorMatrix, TensorSwizzle}};
//! // Half a million columns of bf16, 1000 rows; boxes of 128 rows and 64 columns, which are 128 bytes.
//! let a = TensorMatrix::new(Operand::A, ElementKind::Bf16, Order::Row, (1000, 500_000), 500_000);
//! let map = a.map((128, 64), TensorSwizzle::Bytes128)?;
//! assert_eq!(map.dims[..2], [500_000, 1000]);
//! assert_eq!((map.strides_bytes[0], map.box_bytes()), (1_000_000, 16_384));
//!
//! let odd = TensorMatrix { leading: 500_001, ..a }.map((128, 64), TensorSwizzle::Bytes128).unwrap_err();
//! assert_eq!(
//!     odd.to_string(),
//!     "the leading dimension of A = 500001 is not a multiple of 8 elements, which are the 16 bytes of which TMA's \
//!      strides are multiples; try 500008"
//! );
//! # Ok::<(), falchion::Refusal>(())
//! ```
//!
//! Source: the CUDA driver's documentation of `cuTensorMapEncodeTiled`.

pub(crate) mod check;
mod matrix;

pub use check::{ADDRESS_ALIGNMENT, MOST_BOX, MOST_EXTENT, MOST_STRIDE_BYTES, STRIDE_ALIGNMENT};
pub use matrix::TensorMatrix;

use crate::{layout::algebra::Swizzle, numeric::ElementKind};

/// The most dimensions a tensor has for TMA.
pub const MOST_RANK: usize = 5;

/// Bytes of a chunk, the smallest piece that a swizzle moves.
pub const CHUNK_BYTES: u32 = 16;

/// Bytes of a line of shared memory: a word of each bank.
pub const LINE_BYTES: u32 = crate::threadblock::WAVEFRONT_BYTES;

/// How chunks of 16 bytes are permuted within the lines of 128 bytes of shared memory.
///
/// ```text
/// address bits   9 8 7 | 6 5 4 | 3..0        line mod 8 | chunk of the line | byte of the chunk
/// Bytes128:              ^ ^ ^               chunk ^= line mod 8
/// Bytes64:                 ^ ^               chunk ^= line mod 4
/// Bytes32:                   ^               chunk ^= line mod 2
/// ```
///
/// The line is that of the *address*, not of the tile: the pattern starts with the tile only where the tile is aligned to
/// [`repeat_bytes`](Self::repeat_bytes).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum TensorSwizzle {
    /// As it comes.
    None,
    /// Within 32 bytes.
    Bytes32,
    /// Within 64 bytes.
    Bytes64,
    /// Within 128 bytes.
    Bytes128,
}

impl TensorSwizzle {
    /// Every swizzle, the narrowest first.
    pub const ALL: [Self; 4] = [Self::None, Self::Bytes32, Self::Bytes64, Self::Bytes128];

    /// Bits of the chunk's number that move.
    pub const fn bits(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Bytes32 => 1,
            Self::Bytes64 => 2,
            Self::Bytes128 => 3,
        }
    }

    /// Bytes within which chunks move, which are those of a box's row; `None` without a swizzle.
    pub const fn span_bytes(self) -> Option<u32> {
        match self {
            Self::None => None,
            _ => Some(CHUNK_BYTES << self.bits()),
        }
    }

    /// Bytes after which the pattern repeats, and the alignment under which a tile starts with it.
    pub const fn repeat_bytes(self) -> u32 {
        LINE_BYTES << self.bits()
    }

    /// Where the byte goes that would lie at a shared memory address. Twice is the identity.
    pub const fn apply(self, address: u32) -> u32 {
        let line = address / LINE_BYTES % (1 << self.bits());
        address ^ (line * CHUNK_BYTES)
    }

    /// The same of offsets in elements of so many bytes, in CuTe's notation.
    pub(crate) fn of_elements(self, bytes: u32) -> Option<Swizzle> {
        Swizzle::new(self.bits(), CHUNK_BYTES.checked_div(bytes)?.ilog2(), 3).ok()
    }
}

/// How much of what a copy reads the second-level cache fetches at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum L2Promotion {
    /// What the copy asks for.
    None,
    /// Pieces of 64 bytes.
    Bytes64,
    /// Pieces of 128 bytes.
    Bytes128,
    /// Pieces of 256 bytes.
    Bytes256,
}

/// A tensor in global memory and a box of it, for TMA. Elements beyond the tensor are read as zeros and not written.
///
/// Element (i0, i1, ..) lies `i0 * bytes + i1 * strides_bytes[0] + i2 * strides_bytes[1] + ..` bytes behind the address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TensorMapDesc {
    /// The elements. [`ElementKind::Tf32`] asks TMA to round binary32 on its way; all others move as they are.
    pub element: ElementKind,
    /// How many of the dimensions below count.
    pub rank: u32,
    /// Extents in elements, the contiguous dimension first. Beyond the rank: 1.
    pub dims: [u64; MOST_RANK],
    /// Bytes from one element to the next along dimension 1, 2, ... Beyond the rank: 0.
    pub strides_bytes: [u64; MOST_RANK - 1],
    /// Extents of a box in elements. Beyond the rank: 1.
    pub box_dims: [u32; MOST_RANK],
    /// The order of a box in shared memory.
    pub swizzle: TensorSwizzle,
    /// What the second-level cache makes of reads.
    pub promotion: L2Promotion,
}

impl TensorMapDesc {
    /// Bytes of a row of a box: of its extent along dimension 0.
    pub const fn inner_box_bytes(&self) -> u64 {
        self.element.matrix_bytes(self.box_dims[0] as u64)
    }

    /// Rows of a box: all its extents but the first, multiplied.
    pub const fn box_rows(&self) -> u64 {
        let (mut rows, mut dimension) = (1u64, 1);
        while dimension < MOST_RANK && dimension < self.rank as usize {
            rows = rows.saturating_mul(self.box_dims[dimension] as u64);
            dimension += 1;
        }
        rows
    }

    /// Bytes of a box, which is what a barrier has to expect of a copy wherever the box lies: zeros count.
    pub const fn box_bytes(&self) -> u64 {
        self.box_rows().saturating_mul(self.inner_box_bytes())
    }

    /// Bytes from the address to the end of the last element.
    pub const fn reach_bytes(&self) -> u128 {
        let mut reach = self.element.matrix_bytes(self.dims[0]) as u128;
        let mut dimension = 1;
        while dimension < MOST_RANK && dimension < self.rank as usize {
            let steps = self.dims[dimension].saturating_sub(1) as u128;
            reach = reach.saturating_add(steps * self.strides_bytes[dimension - 1] as u128);
            dimension += 1;
        }
        reach
    }

    /// The same tensor, read otherwise by the second-level cache.
    #[must_use]
    pub const fn promoted(self, promotion: L2Promotion) -> Self {
        Self { promotion, ..self }
    }
}
