//! What TMA is told of a tensor, as a value.
//!
//! A [`TensorMapDesc`] says how a tensor of up to five dimensions lies in global memory, which box
//! of it one copy moves, and in which order the box lies in shared memory. Dimension 0 is the
//! contiguous one. [`check`](TensorMapDesc::check) knows every rule of TMA; the driver packs a
//! description that checks, with an address, into a [`TensorMap`](crate::codegen::TensorMap) of 128
//! bytes. What a copy does is said, and computed on the host, in
//! [`tensor_copy`](super::tensor_copy).
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
//!     "the leading dimension of A = 500001 is not a multiple of 8 elements, which are the 16 bytes of which TMA's \
//!      strides are multiples; try 500008"
//! );
//! # Ok::<(), falchion::Refusal>(())
//! ```
//!
//! Source: the CUDA driver's documentation of `cuTensorMapEncodeTiled`.

pub(crate) mod check;
mod matrix;

pub use crate::smem::CHUNK_BYTES;
pub use check::{ADDRESS_ALIGNMENT, MOST_BOX, MOST_EXTENT, MOST_STRIDE_BYTES, STRIDE_ALIGNMENT};
pub use matrix::TensorMatrix;

use crate::{
    numeric::ElementKind,
    smem::{SwizzleMode, WAVEFRONT_BYTES},
};

/// The most dimensions a tensor has for TMA.
pub const MOST_RANK: usize = 5;

/// Bytes of a line of shared memory: a word of each bank.
pub const LINE_BYTES: u32 = WAVEFRONT_BYTES;

/// A tensor in global memory and a box of it, for TMA. Elements beyond the tensor are read as zeros
/// and not written.
///
/// Element (i0, i1, ..) lies `i0 * bytes + i1 * strides_bytes[0] + i2 * strides_bytes[1] + ..`
/// bytes behind the address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TensorMapDesc {
    /// The elements. [`ElementKind::Tf32`] asks TMA to round binary32 on its way; all others move
    /// as they are.
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
    pub swizzle: SwizzleMode,
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

    /// Bytes of a box, which is what a barrier has to expect of a copy wherever the box lies: zeros
    /// count.
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
}
