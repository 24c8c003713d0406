//! What an access of a warp to global memory fetches.
//!
//! Global memory comes in sectors of 32 bytes, four to a line of the caches; a request of a warp
//! asks for each sector once, however many lanes read it. Source: CUDA C++ Best Practices Guide,
//! "Coalesced Access to Global Memory".

use super::WarpAccess;
use std::collections::BTreeSet;

/// Bytes of the smallest piece of global memory that is fetched.
pub const SECTOR_BYTES: u64 = falchion::threadblock::thread_map::SECTOR_BYTES as u64;

/// Bytes of a line of the caches.
pub const LINE_BYTES: u64 = 128;

/// The sectors of 32 bytes that an access touches: `|{ floor(address / 32) }|`. An access of a lane
/// lies within one.
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

/// The lines of 128 bytes that an access touches.
pub fn lines(access: &WarpAccess) -> u32 {
    pieces(access, LINE_BYTES)
}

fn pieces(access: &WarpAccess, bytes: u64) -> u32 {
    access.lanes().iter().flatten().map(|address| address / bytes).collect::<BTreeSet<_>>().len()
        as u32
}
