//! Split-K: the k-tiles of each slice, and the fan-in of the reduction.
//!
//! Twin: `kernels/threadblock/parts_of_k.cuh`.

use crate::{
    index::{Coord, IndexMap, at},
    numeric::MOST_PARTS,
    shape::at_least_one,
};

/// Returns the first k-tile of slice `part` and its number of k-tiles, for `tiles_k` k-tiles in
/// `parts` slices. The first slices have one k-tile more if `parts` does not divide `tiles_k`.
pub const fn part_of_k(tiles_k: u32, parts: u32, part: u32) -> (u32, u32) {
    let (each, longer) = (tiles_k / at_least_one(parts), tiles_k % at_least_one(parts));
    (part * each + if part < longer { part } else { longer }, each + (part < longer) as u32)
}

/// Map from (0, slice) to the slice's first k-tile, and from (1, slice) to its number of k-tiles.
#[derive(Clone, Copy, Debug)]
pub struct PartsOfK {
    /// Number of k-tiles.
    pub tiles_k: u32,
    /// Number of split-K slices.
    pub parts: u32,
}

impl IndexMap for PartsOfK {
    fn domain(&self) -> Coord {
        at(2, self.parts)
    }

    fn codomain(&self) -> u32 {
        self.tiles_k + 1
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let (begin, count) = part_of_k(self.tiles_k, self.parts, point.column);
        Some(if point.row == 0 { begin } else { count })
    }
}

/// Fan-in of the split-K reduction: one block adds the partial accumulators of this many slices at
/// once.
pub const PARTS_AT_ONCE: u32 = 8;

// The three levels of `sum_of_parts` in the twin suffice for the maximum number of slices.
const _: () = assert!(MOST_PARTS <= PARTS_AT_ONCE.pow(3));

/// Maximum number of tiles of a kernel with narrower accesses per tile of the kernel that it
/// replaces.
pub(crate) const MOST_TILES_OF_ONE: u32 = 4;

/// Returns the number of tickets per tile for `parts` slices. Each group of [`PARTS_AT_ONCE`]
/// slices has one ticket, and so has each group of such groups on every further level.
pub const fn tickets_of(mut parts: u32) -> u32 {
    let mut tickets = 0;
    while parts > 1 {
        parts = parts.div_ceil(PARTS_AT_ONCE);
        tickets += parts;
    }
    tickets
}

/// Split-K slices of one tile, one per block of a cluster. All other blocks send their partial
/// accumulators to the first block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PartsOfCluster {
    /// Blocks per cluster.
    pub blocks: u32,
    /// Size of a consumer's partial accumulators in bytes.
    pub bytes: u32,
}
