//! K in parts: which k-tiles each has, and how many of them are added at a time.
//!
//! Twin: `kernels/threadblock/parts_of_k.cuh`.

use crate::{
    index::{Coord, IndexMap, at},
    numeric::MOST_PARTS,
    shape::at_least_one,
};

/// The first k-tile of a part, of `tiles_k` in so many parts, and how many it has.
pub const fn part_of_k(tiles_k: u32, parts: u32, part: u32) -> (u32, u32) {
    let (each, longer) = (tiles_k / at_least_one(parts), tiles_k % at_least_one(parts));
    (part * each + if part < longer { part } else { longer }, each + (part < longer) as u32)
}

/// (0, part) to the first k-tile of a part, and (1, part) to how many it has, of `tiles_k` in so
/// many parts.
#[derive(Clone, Copy, Debug)]
pub struct PartsOfK {
    /// K-tiles.
    pub tiles_k: u32,
    /// Parts.
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

/// Parts of K whose partial accumulators one block adds at a time.
pub const PARTS_AT_ONCE: u32 = 8;

// Three levels, which `sum_of_parts` of the twin has, are enough for all there may be.
const _: () = assert!(MOST_PARTS <= PARTS_AT_ONCE.pow(3));

/// The most tiles that a kernel of narrower accesses has for one of the kernel in whose place it
/// is.
pub(crate) const MOST_TILES_OF_ONE: u32 = 4;

/// Tickets of a tile whose K is in so many parts: one for each group of [`PARTS_AT_ONCE`], one for
/// each group of such groups, and so on.
pub const fn tickets_of(mut parts: u32) -> u32 {
    let mut tickets = 0;
    while parts > 1 {
        parts = parts.div_ceil(PARTS_AT_ONCE);
        tickets += parts;
    }
    tickets
}

/// Parts of K of one tile, which the blocks of a cluster have, each one: all others send theirs to
/// the first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PartsOfCluster {
    /// Blocks of the cluster.
    pub blocks: u32,
    /// Bytes of a consumer's partial accumulators.
    pub bytes: u32,
}
