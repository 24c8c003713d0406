//! What TMA takes, rule by rule.

use super::{CHUNK_BYTES, MOST_RANK, SwizzleMode, TensorMapDesc};
use crate::{
    arch::ArchKind,
    refusal::{
        Field, Refusal, hold,
        rules::{multiple, within},
    },
};

/// The address of a tensor is a multiple of so many bytes.
pub const ADDRESS_ALIGNMENT: u64 = 16;

/// So are its strides.
pub const STRIDE_ALIGNMENT: u64 = 16;

/// The largest stride: 2^40 is one too many, and strides are multiples of 16.
pub const MOST_STRIDE_BYTES: u64 = (1 << 40) - STRIDE_ALIGNMENT;

/// The largest extent of a tensor.
pub const MOST_EXTENT: u64 = 1 << 32;

/// The largest extent of a box.
pub const MOST_BOX: u64 = 256;

/// The most that a tensor reaches behind its address: addresses have 64 bits, and offsets a sign.
const MOST_REACH: u64 = i64::MAX as u64;

impl TensorMapDesc {
    /// Whether TMA takes the description.
    ///
    /// # Errors
    /// [`Refusal::OutOfRange`] and [`Refusal::NotMultiple`]: the rank is 1 to 5; extents are 1 to
    /// 2^32; strides are multiples of 16 bytes below 2^40; a box has 1 to 256 elements along each
    /// dimension, its rows are whole chunks of 16 bytes, or under a swizzle the whole span, and it
    /// fits into a block's shared memory.
    ///
    /// Of shorter rows under a swizzle TMA keeps the span: rows of 64 bytes under the swizzle of
    /// 128 lie 128 bytes apart, chunks move as if the row were whole, and what is beyond the row is
    /// not written. That was seen on an H200, of rows of 16 to 64 bytes under the swizzles of 64
    /// and 128. Kernels have no use for such holes, so there is no description of them.
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
        let (field, least, most) = match self.swizzle {
            SwizzleMode::None => {
                (Field::InnerBoxBytes, CHUNK_BYTES as u64, self.element.matrix_bytes(MOST_BOX))
            }
            SwizzleMode::Bytes32 => (Field::InnerBoxBytesSwizzled(32), 32, 32),
            SwizzleMode::Bytes64 => (Field::InnerBoxBytesSwizzled(64), 64, 64),
            SwizzleMode::Bytes128 => (Field::InnerBoxBytesSwizzled(128), 128, 128),
        };
        hold!(within(field, self.inner_box_bytes(), least, most));
        hold!(multiple(field, self.inner_box_bytes(), CHUNK_BYTES as u64, most));
        let shared = ArchKind::Sm90.machine().shared_bytes_per_block as u64;
        hold!(within(Field::BoxBytes, self.box_bytes(), CHUNK_BYTES as u64, shared));
        let reach = self.reach_bytes();
        let shown = if reach > u64::MAX as u128 { u64::MAX } else { reach as u64 };
        within(Field::TensorReach, shown, 1, MOST_REACH)
    }

    /// Whether a tensor of this description may lie at an address.
    ///
    /// # Errors
    /// Those of [`check`](Self::check); [`Refusal::NotMultiple`] for an address that is not a
    /// multiple of 16.
    pub const fn check_at(&self, address: u64) -> Result<(), Refusal> {
        hold!(self.check());
        // What reaches so far that its end has no address does not lie there either: the largest
        // aligned address is the nearest.
        let most = (u64::MAX - self.reach_bytes() as u64) / ADDRESS_ALIGNMENT * ADDRESS_ALIGNMENT;
        hold!(within(Field::TensorAddress, address, 0, most));
        multiple(Field::TensorAddress, address, ADDRESS_ALIGNMENT, most)
    }
}
