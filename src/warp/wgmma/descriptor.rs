//! Matrix descriptor of `wgmma`: 64 bits that describe an operand in shared memory.
//!
//! ```text
//! bits   0-13  start address / 16           bits 49-51  base offset
//! bits  16-29  leading byte offset / 16     bits 62-63  swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
//! bits  32-45  stride byte offset / 16      the others  0
//! ```
//!
//! The meaning of the leading and stride byte offsets depends on the operand: see
//! [`bytes_read`](crate::warp::wgmma::bytes_read). The base offset is 0 if the eight-row pattern of
//! the swizzle begins at a multiple of its size. Every
//! [`OperandTile`](crate::warp::wgmma::OperandTile) begins at such a multiple.
//!
//! Source: PTX ISA, "Matrix Descriptor Format" of `wgmma`.

use crate::{
    refusal::{
        Field, Refusal, hold,
        rules::{multiple, within},
    },
    threadblock::smem::{CHUNK_BYTES, SwizzleMode},
};
use core::fmt;

/// Exclusive upper bound of addresses and offsets in bytes: 14 bits of 16-byte units.
pub(crate) const REACH_BYTES: u32 = 1 << 18;

/// Rows of a core matrix, and of a swizzle pattern.
pub const CORE_ROWS: u32 = 8;

/// Returns the encoding of a swizzle in the descriptor.
const fn code(swizzle: SwizzleMode) -> u64 {
    match swizzle {
        SwizzleMode::None => 0,
        SwizzleMode::Bytes128 => 1,
        SwizzleMode::Bytes64 => 2,
        SwizzleMode::Bytes32 => 3,
    }
}

/// Matrix descriptor with its start address and byte offsets. The base offset is 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MatrixDescriptor {
    start: u32,
    leading: u32,
    stride: u32,
    swizzle: SwizzleMode,
}

impl MatrixDescriptor {
    /// Returns the descriptor of an operand at the shared-memory address `start`, with its
    /// `leading` and `stride` byte offsets.
    ///
    /// ```
    /// use falchion::warp::wgmma::{MatrixDescriptor, SwizzleMode};
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
    /// [`Refusal`] for values of 2^18 bytes and more. [`Refusal`] for values that are not multiples
    /// of 16 bytes.
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

    /// Returns the descriptor with a start address that is `bytes` bytes higher.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub const fn advanced(self, bytes: u32) -> Result<Self, Refusal> {
        Self::new(self.start.saturating_add(bytes), self.leading, self.stride, self.swizzle)
    }

    /// Returns the 64-bit encoding.
    pub const fn encode(&self) -> u64 {
        (self.start / CHUNK_BYTES) as u64
            | ((self.leading / CHUNK_BYTES) as u64) << 16
            | ((self.stride / CHUNK_BYTES) as u64) << 32
            | code(self.swizzle) << 62
    }

    /// Returns the descriptor that 64 bits encode. Reserved bits and the base offset are ignored.
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

    /// Returns the shared-memory address of the operand in bytes.
    pub const fn start(&self) -> u32 {
        self.start
    }

    /// Returns the leading byte offset.
    pub const fn leading(&self) -> u32 {
        self.leading
    }

    /// Returns the stride byte offset.
    pub const fn stride(&self) -> u32 {
        self.stride
    }

    /// Returns the swizzle.
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
