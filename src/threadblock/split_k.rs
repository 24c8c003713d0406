//! Split-K: the k-tiles of each slice, and the fan-in of the reduction.
//!
//! Twin: `kernels/threadblock/split_k.cuh`.

use crate::{
    layout::index_map::{Coord, IndexMap, at},
    numeric::MOST_SLICES,
    shape::at_least_one,
};

/// Returns the first k-tile of slice `slice` and its number of k-tiles, for `tiles_k` k-tiles in
/// `slices` slices. The first slices have one k-tile more if `slices` does not divide `tiles_k`.
pub const fn k_slice(tiles_k: u32, slices: u32, slice: u32) -> (u32, u32) {
    let (each, longer) = (tiles_k / at_least_one(slices), tiles_k % at_least_one(slices));
    (slice * each + if slice < longer { slice } else { longer }, each + (slice < longer) as u32)
}

/// Map from (0, slice) to the slice's first k-tile, and from (1, slice) to its number of k-tiles.
#[derive(Clone, Copy, Debug)]
pub struct KSlices {
    /// Number of k-tiles.
    pub tiles_k: u32,
    /// Number of split-K slices.
    pub slices: u32,
}

impl IndexMap for KSlices {
    fn domain(&self) -> Coord {
        at(2, self.slices)
    }

    fn codomain(&self) -> u32 {
        self.tiles_k + 1
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let (begin, count) = k_slice(self.tiles_k, self.slices, point.column);
        Some(if point.row == 0 { begin } else { count })
    }
}

/// Fan-in of the split-K reduction: one block adds the partial accumulators of this many slices at
/// once.
pub const SLICES_AT_ONCE: u32 = 8;

// The three levels of `sum_slices` in the twin suffice for the maximum number of slices.
const _: () = assert!(MOST_SLICES <= SLICES_AT_ONCE.pow(3));

/// Maximum number of tiles of a kernel with narrower accesses per tile of the kernel that it
/// replaces.
pub(crate) const MOST_TILES_OF_ONE: u32 = 4;

/// Returns the number of tickets per tile for `slices` slices. Each group of [`SLICES_AT_ONCE`]
/// slices has one ticket, and so has each group of such groups on every further level.
pub const fn tickets_of(mut slices: u32) -> u32 {
    let mut tickets = 0;
    while slices > 1 {
        slices = slices.div_ceil(SLICES_AT_ONCE);
        tickets += slices;
    }
    tickets
}

/// Split-K slices of one tile, one per block of a cluster. All other blocks send their partial
/// accumulators to the first block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ClusterSlices {
    /// Blocks per cluster.
    pub blocks: u32,
    /// Size of a consumer's partial accumulators in bytes.
    pub bytes: u32,
}
