//! What an instruction is told of an operand in shared memory: 64 bits.
//!
//! ```text
//! bits   0-13  start address / 16           bits 49-51  base offset
//! bits  16-29  leading byte offset / 16     bits 62-63  swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
//! bits  32-45  stride byte offset / 16      the others  0
//! ```
//!
//! What the two distances mean depends on the operand: see [`bytes_read`](super::bytes_read). The
//! base offset is 0 where the pattern of the swizzle, eight rows, begins at a multiple of its size,
//! and every [`OperandTile`](super::OperandTile) begins so.
//!
//! Source: PTX ISA, "Matrix Descriptor Format" of `wgmma`.

use crate::{
    refusal::{
        Field, Refusal, hold,
        rules::{multiple, within},
    },
    smem::{CHUNK_BYTES, SwizzleMode},
};
use core::fmt;

/// Addresses, and distances, are below this: 14 bits of units of 16 bytes.
pub(super) const REACH_BYTES: u32 = 1 << 18;

/// Rows of a core matrix, and of a swizzle's pattern.
pub const CORE_ROWS: u32 = 8;

/// The descriptor's number of a swizzle.
const fn code(swizzle: SwizzleMode) -> u64 {
    match swizzle {
        SwizzleMode::None => 0,
        SwizzleMode::Bytes128 => 1,
        SwizzleMode::Bytes64 => 2,
        SwizzleMode::Bytes32 => 3,
    }
}

/// A matrix descriptor: start and distances as the instruction takes them, in bytes. Its base
/// offset is 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MatrixDescriptor {
    start: u32,
    leading: u32,
    stride: u32,
    swizzle: SwizzleMode,
}

impl MatrixDescriptor {
    /// The descriptor of an operand at the shared address `start`, its `leading` and `stride` byte
    /// offsets, all in bytes.
    ///
    /// ```
    /// use falchion::warp::mma_warpgroup::{MatrixDescriptor, SwizzleMode};
    /// let descriptor = MatrixDescriptor::new(0x400, 16, 1024, SwizzleMode::Bytes128)?;
    /// assert_eq!(descriptor.encode(), 0x4000_0040_0001_0040);
    /// assert_eq!(MatrixDescriptor::decode(0x4000_0040_0001_0040), descriptor);
    /// assert_eq!(descriptor.to_string(), "start 0x400, leading 16 bytes, stride 1024 bytes, 128-byte swizzled");
    /// let refused = MatrixDescriptor::new(0x40c, 16, 1024, SwizzleMode::Bytes128).unwrap_err();
    /// assert_eq!(refused.to_string(), "bytes of a matrix descriptor = 1036 is not a multiple of 16; try 1040");
    /// # Ok::<(), falchion::Refusal>(())
    /// ```
    ///
    /// # Errors
    /// Bytes that are not a multiple of 16, or 2^18 and more.
    pub const fn new(
        start: u32,
        leading: u32,
        stride: u32,
        swizzle: SwizzleMode,
    ) -> Result<Self, Refusal> {
        let (fields, most) = ([start, leading, stride], (REACH_BYTES - CHUNK_BYTES) as u64);
        let mut i = 0;
        while i < fields.len() {
            hold!(within(Field::DescriptorBytes, fields[i] as u64, 0, most));
            hold!(multiple(Field::DescriptorBytes, fields[i] as u64, CHUNK_BYTES as u64, most));
            i += 1;
        }
        Ok(Self { start, leading, stride, swizzle })
    }

    /// The same, `bytes` further on.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub const fn advanced(self, bytes: u32) -> Result<Self, Refusal> {
        Self::new(self.start.saturating_add(bytes), self.leading, self.stride, self.swizzle)
    }

    /// The 64 bits.
    pub const fn encode(&self) -> u64 {
        (self.start / CHUNK_BYTES) as u64
            | ((self.leading / CHUNK_BYTES) as u64) << 16
            | ((self.stride / CHUNK_BYTES) as u64) << 32
            | code(self.swizzle) << 62
    }

    /// What 64 bits say; those without a meaning are passed over.
    pub const fn decode(bits: u64) -> Self {
        const fn bytes(bits: u64) -> u32 {
            (bits & 0x3fff) as u32 * CHUNK_BYTES
        }
        let swizzle = match bits >> 62 {
            0 => SwizzleMode::None,
            1 => SwizzleMode::Bytes128,
            2 => SwizzleMode::Bytes64,
            _ => SwizzleMode::Bytes32,
        };
        Self { start: bytes(bits), leading: bytes(bits >> 16), stride: bytes(bits >> 32), swizzle }
    }

    /// The shared address of the operand, bytes.
    pub const fn start(&self) -> u32 {
        self.start
    }

    /// The leading byte offset.
    pub const fn leading(&self) -> u32 {
        self.leading
    }

    /// The stride byte offset.
    pub const fn stride(&self) -> u32 {
        self.stride
    }

    /// The swizzle.
    pub const fn swizzle(&self) -> SwizzleMode {
        self.swizzle
    }
}

impl fmt::Display for MatrixDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start, leading, stride, swizzle } = self;
        write!(f, "start {start:#x}, leading {leading} bytes, stride {stride} bytes, {swizzle}")
    }
}
