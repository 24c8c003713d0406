//! Range of K of a group, for grouped GEMM along K.
//!
//! A kernel may read vectors along K. The k-tiles of a group then begin at the largest multiple of
//! a step up to the first k of the group:
//!
//! ```text
//! begin    first                                   limit
//!   |-------|--------------|---------------|--------|------|
//!   | zeros |      k-tile 0|       k-tile 1|        | zeros|   k-tile 2
//! ```
//!
//! Elements of the first and of the last k-tile outside the group belong to other groups. They
//! count as zeros in A *and* in B, because the product of 0 and NaN is NaN. Main loops whose
//! threads copy do not copy these elements, and their step is 1. TMA copies whole boxes, so the
//! consumers of a ring write the zeros to shared memory.
//!
//! Twin: `kernels/threadblock/group_range.cuh`.

use crate::{
    layout::index_map::{Coord, IndexMap, at},
    shape::at_least_one,
};
use core::ops::Range;

/// Range of K of a group: `first .. limit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupRange {
    /// First k.
    pub first: u32,
    /// End of the group.
    pub limit: u32,
    /// Tiles begin at multiples of this many k.
    pub step: u32,
    /// K extent of a tile.
    pub tile_k: u32,
}

impl GroupRange {
    /// Returns the range of group `group`. Offsets that descend or exceed `k` are clamped, so a
    /// range may be empty or shorter, but never lies outside of K.
    pub fn new(
        offset: impl Fn(u32) -> u32,
        group: u32,
        (step, tile_k): (u32, u32),
        k: u32,
    ) -> Self {
        let first = offset(group).min(k);
        Self { first, limit: offset(group + 1).min(k).max(first), step, tile_k }
    }

    /// Returns the k at which the k-tiles begin.
    pub const fn begin(&self) -> u32 {
        self.first - self.first % at_least_one(self.step)
    }

    /// Returns the number of k-tiles. An empty group has none.
    pub const fn tiles(&self) -> u32 {
        if self.first == self.limit {
            return 0;
        }
        (self.limit - self.begin()).div_ceil(at_least_one(self.tile_k))
    }

    /// Returns the part of a k-tile that lies in the group, relative to the tile.
    pub fn inside(&self, tile: u32) -> Range<u32> {
        let from = if tile == 0 { self.first - self.begin() } else { 0 };
        from..self.tile_k.min(self.limit - self.begin() - tile * self.tile_k)
    }
}

/// Map from (row, group) to a number of the range of a group, for `groups` groups. Row 0 is the k
/// at which its k-tiles begin, and row 1 is their number. Rows 2 and 3 are the parts of the first
/// and of the last k-tile in the group. Group `i` has `i * i` thirds of a k-tile, and K ends within
/// the last group.
#[derive(Clone, Copy, Debug)]
pub struct GroupRanges {
    /// Number of groups.
    pub groups: u32,
    /// Tiles begin at multiples of this many k.
    pub step: u32,
    /// K extent of a tile.
    pub tile_k: u32,
}

impl IndexMap for GroupRanges {
    fn domain(&self) -> Coord {
        at(4, self.groups)
    }

    fn codomain(&self) -> u32 {
        u32::MAX
    }

    fn at(&self, Coord { row, column }: Coord) -> Option<u32> {
        let offset =
            |i: u32| i * i.saturating_sub(1) * (2 * i).saturating_sub(1) / 18 * self.tile_k + i;
        let shape = (self.step, self.tile_k);
        let range = GroupRange::new(offset, column, shape, offset(self.groups) - 1);
        let inside = |tile| {
            let Range { start, end } = range.inside(tile);
            (start << 16) + end
        };
        match row {
            0 => Some(range.begin()),
            1 => Some(range.tiles()),
            _ if range.tiles() == 0 => None,
            2 => Some(inside(0)),
            _ => Some(inside(range.tiles() - 1)),
        }
    }
}
