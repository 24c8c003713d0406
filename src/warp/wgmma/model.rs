//! Model of the bytes that `wgmma` reads through a descriptor: PTX's canonical layouts, on the
//! host.
//!
//! Let `S` be the bytes of a swizzle row, `c = S / 16` its chunks of 16 bytes, and LBO and SBO the
//! descriptor's leading and stride byte offsets. The offset
//!
//! ```text
//! along K    chunk j = 0, 1 of row mn         none      mn mod 8 chunks + mn / 8 * SBO + j * LBO
//!                                             swizzled  mn mod 8 rows   + mn / 8 * SBO + j chunks            LBO is not read
//! along MN   chunk j of eight mn's, row k     none      k mod 8 chunks  + k / 8 * LBO  + j * SBO
//!                                             swizzled  k mod 8 rows    + k / 8 * SBO  + j mod c chunks + j / c * LBO
//! ```
//!
//! is added to the start address. Then bits 7, 8, and 9 of the sum are XORed into bits 4, 5, and 6:
//! all three for rows of 128 bytes, 7 and 8 for 64, and 7 for 32. This module is independent of the
//! tiles; `tests/laws/wgmma/descriptors.rs` checks that both agree.
//!
//! Source: PTX ISA, "Strides" and "Canonical Layouts" of `wgmma`'s shared memory matrix layout.

use crate::{
    numeric::ElementKind,
    threadblock::smem::{Along, CHUNK_BYTES, SwizzleMode},
    warp::wgmma::{
        MatrixDescriptor,
        descriptor::CORE_ROWS,
        instruction::{MOST_COLUMNS, STEP_BYTES},
    },
};

/// Returns the shared-memory address of element (`mn`, `k`) of the operand that an instruction
/// reads through a descriptor. `None` beyond the 256 columns and the K of the largest instruction.
/// Also `None` for a nonzero base offset, whose effect no source documents and no kernel needs.
///
/// ```
/// use falchion::{numeric::ElementKind, threadblock::Along, warp::wgmma::{MatrixDescriptor, SwizzleMode, bytes_read}};
/// let descriptor = MatrixDescriptor::new(0, 16, 1024, SwizzleMode::Bytes128).expect("a descriptor").encode();
/// let at = |mn, k| bytes_read(descriptor, Along::K, ElementKind::Bf16, mn, k);
/// assert_eq!((at(0, 8), at(1, 0), at(9, 0)), (Some(16), Some(128 + 16), Some(1024 + 128 + 16)));
/// ```
pub const fn bytes_read(
    descriptor: u64,
    along: Along,
    input: ElementKind,
    mn: u32,
    k: u32,
) -> Option<u32> {
    let d = MatrixDescriptor::decode(descriptor);
    let base_offset = descriptor >> 49 & 7;
    if base_offset != 0 || mn >= MOST_COLUMNS || k >= input.elements_in(STEP_BYTES) {
        return None;
    }
    let (contiguous, row) = match along {
        Along::K => (k, mn),
        Along::Mn => (mn, k),
    };
    let byte = contiguous * input.bytes_of(1);
    let (chunk, rest) = (byte / CHUNK_BYTES, byte % CHUNK_BYTES);
    let (group, row) = (row / CORE_ROWS, row % CORE_ROWS);
    let row_bytes = d.swizzle().row_bytes();
    let chunks = row_bytes / CHUNK_BYTES;
    let (groups, beside) = match (along, d.swizzle()) {
        (Along::K, SwizzleMode::None) => (group * d.stride(), chunk * d.leading()),
        (Along::K, _) => (group * d.stride(), chunk * CHUNK_BYTES),
        (Along::Mn, SwizzleMode::None) => (group * d.leading(), chunk * d.stride()),
        (Along::Mn, _) => {
            (group * d.stride(), chunk % chunks * CHUNK_BYTES + chunk / chunks * d.leading())
        }
    };
    let linear = d.start() + row * row_bytes + groups + beside + rest;
    let moved = match d.swizzle() {
        SwizzleMode::None => 0,
        SwizzleMode::Bytes32 => 0b001,
        SwizzleMode::Bytes64 => 0b011,
        SwizzleMode::Bytes128 => 0b111,
    };
    Some(linear ^ (linear >> 7 & moved) << 4)
}
