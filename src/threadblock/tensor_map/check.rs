//! Rules of TMA for tensor maps.

use super::{CHUNK_BYTES, MOST_RANK, SwizzleMode, TensorMapDesc};
use crate::{
    arch::ArchKind,
    refusal::{
        Because, Field, Refusal, hold,
        rules::{explained, multiple, within},
    },
};

/// Alignment of a tensor's address in bytes.
pub const ADDRESS_ALIGNMENT: u64 = 16;

/// Alignment of a tensor's strides in bytes.
pub const STRIDE_ALIGNMENT: u64 = 16;

/// Largest stride in bytes. Strides are multiples of 16 and less than 2^40.
pub const MOST_STRIDE_BYTES: u64 = (1 << 40) - STRIDE_ALIGNMENT;

/// Largest extent of a tensor in elements.
pub const MOST_EXTENT: u64 = 1 << 32;

/// Largest extent of a box in elements.
pub const MOST_BOX: u64 = 256;

/// Largest reach of a tensor in bytes: addresses have 64 bits, and offsets are signed.
const MOST_REACH: u64 = i64::MAX as u64;

impl TensorMapDesc {
    /// Checks that TMA supports the description.
    ///
    /// # Errors
    /// [`Refusal`] of the first invalid number. The rank is 1 to 5, and extents are 1 to 2^32.
    /// Strides are multiples of 16 bytes below 2^40. A box has 1 to 256 elements along each
    /// dimension and fits into a block's shared memory. Its rows are whole chunks of 16 bytes; with
    /// a swizzle, a row is exactly the swizzle span.
    ///
    /// TMA also accepts shorter rows with a swizzle, but the pitch stays the span. Rows of 64 bytes
    /// under the 128-byte swizzle lie 128 bytes apart, chunks move as if the row were whole, and
    /// bytes beyond the row are not written. This was observed on an H200 for rows of 16 to 64
    /// bytes under the 64-byte and 128-byte swizzles. Kernels have no use for such holes, so the
    /// check refuses them.
    pub const fn check(&self) -> Result<(), Refusal> {
        hold!(within(Field::TensorRank, self.rank as u64, 1, MOST_RANK as u64));
        let rank = self.rank as usize;
        let mut i = 0;
        while i < rank {
            hold!(within(Field::DimensionExtent(i as u8), self.dims[i], 1, MOST_EXTENT));
            hold!(within(Field::BoxExtent(i as u8), self.box_dims[i] as u64, 1, MOST_BOX));
            if i > 0 {
                let (field, stride) = (Field::DimensionStride(i as u8), self.strides_bytes[i - 1]);
                hold!(within(field, stride, 0, MOST_STRIDE_BYTES));
                hold!(multiple(field, stride, STRIDE_ALIGNMENT, MOST_STRIDE_BYTES));
            }
            i += 1;
        }
        let (because, least, most) = match self.swizzle {
            SwizzleMode::None => {
                (Because::None, CHUNK_BYTES as u64, self.element.matrix_bytes(MOST_BOX))
            }
            SwizzleMode::Bytes32 => (Because::Words("swizzle of 32 bytes"), 32, 32),
            SwizzleMode::Bytes64 => (Because::Words("swizzle of 64 bytes"), 64, 64),
            SwizzleMode::Bytes128 => (Because::Words("swizzle of 128 bytes"), 128, 128),
        };
        let (field, bytes) = (Field::InnerBoxBytes, self.inner_box_bytes());
        hold!(explained(within(field, bytes, least, most), because));
        hold!(multiple(field, bytes, CHUNK_BYTES as u64, most));
        let shared = ArchKind::Sm90.machine().shared_bytes_per_block as u64;
        hold!(within(Field::BoxBytes, self.box_bytes(), CHUNK_BYTES as u64, shared));
        let reach = self.reach_bytes();
        let shown = if reach > u64::MAX as u128 { u64::MAX } else { reach as u64 };
        within(Field::TensorReach, shown, 1, MOST_REACH)
    }

    /// Checks that a tensor of this description may begin at an address.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check). [`Refusal`] if the tensor's end has no address.
    /// [`Refusal`] for an address that is not a multiple of 16.
    pub const fn check_at(&self, address: u64) -> Result<(), Refusal> {
        hold!(self.check());
        // The end of the tensor must have an address. The largest aligned address that allows this
        // is the limit.
        let most = (u64::MAX - self.reach_bytes() as u64) / ADDRESS_ALIGNMENT * ADDRESS_ALIGNMENT;
        hold!(within(Field::TensorAddress, address, 0, most));
        multiple(Field::TensorAddress, address, ADDRESS_ALIGNMENT, most)
    }
}
