//! Tensor maps for TMA, as values.
//!
//! A [`TensorMapDesc`] describes the layout of a tensor of up to five dimensions in global memory,
//! the box that one copy moves, and the swizzle of the box in shared memory. Dimension 0 is
//! contiguous. [`check`](TensorMapDesc::check) implements the rules of TMA. The driver encodes a
//! valid description and an address into a [`TensorMap`](crate::codegen::TensorMap) of 128 bytes.
//! [`tensor_copy`](super::tensor_copy) defines the effect of a copy and performs it on the host.
//!
//! ```
//! # use falchion::{layout::Order, numeric::ElementKind, refusal::Operand, threadblock::{TensorMatrix, SwizzleMode}};
//! // Half a million columns of bf16, 1000 rows; boxes of 128 rows and 64 columns, which are 128 bytes.
//! let a = TensorMatrix::new(Operand::A, ElementKind::Bf16, Order::Row, (1000, 500_000), 500_000);
//! let map = a.map((128, 64), SwizzleMode::Bytes128)?;
//! assert_eq!(map.dims[..2], [500_000, 1000]);
//! assert_eq!((map.strides_bytes[0], map.box_bytes()), (1_000_000, 16_384));
//!
//! let odd = TensorMatrix { leading: 500_001, ..a }.map((128, 64), SwizzleMode::Bytes128).unwrap_err();
//! assert_eq!(
//!     odd.to_string(),
//!     "leading dimension of A = 500001 is not a multiple of 8 elements (strides of TMA are multiples of \
//!      16 bytes); try 500008"
//! );
//! # Ok::<(), falchion::Refusal>(())
//! ```
//!
//! Source: the CUDA driver's documentation of `cuTensorMapEncodeTiled`.

pub(crate) mod check;
mod matrix;

pub use crate::threadblock::smem::CHUNK_BYTES;
pub use check::{ADDRESS_ALIGNMENT, MOST_BOX, MOST_STRIDE_BYTES, STRIDE_ALIGNMENT};
pub use matrix::TensorMatrix;

use crate::{
    numeric::ElementKind,
    shape::words::words,
    threadblock::smem::{SwizzleMode, WAVEFRONT_BYTES},
};

/// Maximum rank of a tensor for TMA.
pub const MOST_RANK: usize = 5;

/// Size of a line of shared memory in bytes: one word of each bank.
pub const LINE_BYTES: u32 = WAVEFRONT_BYTES;

words! {
    /// Granularity at which the L2 cache fills the requests of a copy from global memory.
    pub enum L2PromotionKind {
        /// No promotion: the sectors of 32 bytes that the copy reads.
        None = "none",
        /// 64 bytes.
        Bytes64 = "64",
        /// 128 bytes.
        Bytes128 = "128",
        /// 256 bytes.
        Bytes256 = "256",
    }
}

impl L2PromotionKind {
    /// 128 bytes. With 256 bytes, the speed fell by a fifth at pitches of a multiple of 32 bytes
    /// plus 16, and other pitches gained nothing.
    pub(crate) const DEFAULT: Self = Self::Bytes128;
}

/// A tensor in global memory, and the box that TMA copies. Elements beyond the tensor are read as
/// zeros and not written.
///
/// Element (i0, i1, ..) is at offset `i0 * element bytes + i1 * strides_bytes[0] + i2 *
/// strides_bytes[1] + ..` from the address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TensorMapDesc {
    /// Element type. For [`ElementKind::Tf32`], TMA rounds binary32 elements; it copies all other
    /// types unchanged.
    pub element: ElementKind,
    /// Number of dimensions in use.
    pub rank: u32,
    /// Extents in elements, contiguous dimension first; 1 beyond the rank.
    pub dims: [u64; MOST_RANK],
    /// Distance in bytes between neighbors along dimensions 1, 2, ...; 0 beyond the rank.
    pub strides_bytes: [u64; MOST_RANK - 1],
    /// Extents of a box in elements; 1 beyond the rank.
    pub box_dims: [u32; MOST_RANK],
    /// Swizzle of a box in shared memory.
    pub swizzle: SwizzleMode,
    /// Granularity of the fills of the L2 cache.
    pub l2_promotion: L2PromotionKind,
}

impl TensorMapDesc {
    /// Returns the size of a box row in bytes: its extent along dimension 0.
    pub const fn inner_box_bytes(&self) -> u64 {
        self.element.matrix_bytes(self.box_dims[0] as u64)
    }

    /// Returns the number of rows of a box: the product of its extents along all dimensions but the
    /// first.
    pub const fn box_rows(&self) -> u64 {
        let (mut rows, mut dimension) = (1u64, 1);
        while dimension < MOST_RANK && dimension < self.rank as usize {
            rows = rows.saturating_mul(self.box_dims[dimension] as u64);
            dimension += 1;
        }
        rows
    }

    /// Returns the size of a box in bytes. The mbarrier expects this number for every copy, because
    /// zeros outside the tensor count.
    pub const fn box_bytes(&self) -> u64 {
        self.box_rows().saturating_mul(self.inner_box_bytes())
    }

    /// Returns the number of bytes from the address to the end of the last element.
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
}
