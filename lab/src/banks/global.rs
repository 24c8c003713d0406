//! The sectors and lines of a warp's access to global memory.
//!
//! Global memory is fetched in sectors of 32 bytes, with four sectors per cache line. One request
//! of a warp fetches each sector once, for any number of lanes that read it. Source: CUDA C++ Best
//! Practices Guide, "Coalesced Access to Global Memory".

use super::WarpAccess;
use std::collections::BTreeSet;

/// Bytes of a sector, the smallest unit of a fetch.
pub const SECTOR_BYTES: u64 = falchion::threadblock::SECTOR_BYTES as u64;

/// Bytes of a cache line.
pub const LINE_BYTES: u64 = 128;

/// Returns the number of sectors of 32 bytes that an access touches: `|{ floor(address / 32) }|`.
/// The access of each lane is within one sector.
///
/// ```
/// use falchion_lab::banks::{Direction, WarpAccess, lines, sectors};
///
/// let row = WarpAccess::new(Direction::Load, 4, (0..32).map(|lane| Some(lane * 4)))?;
/// assert_eq!((sectors(&row), lines(&row)), (4, 1));
/// let column = WarpAccess::new(Direction::Load, 4, (0..32).map(|lane| Some(lane * 4096)))?;
/// assert_eq!((sectors(&column), lines(&column)), (32, 32));
/// # Ok::<(), falchion_lab::banks::NotAnAccess>(())
/// ```
pub fn sectors(access: &WarpAccess) -> u32 {
    pieces(access, SECTOR_BYTES)
}

/// Returns the number of lines of 128 bytes that an access touches.
pub fn lines(access: &WarpAccess) -> u32 {
    pieces(access, LINE_BYTES)
}

fn pieces(access: &WarpAccess, bytes: u64) -> u32 {
    access.lanes().iter().flatten().map(|address| address / bytes).collect::<BTreeSet<_>>().len()
        as u32
}
