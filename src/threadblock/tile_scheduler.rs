//! Which tiles of D a block that stays computes, one after the other.
//!
//! A cluster takes rectangles of as many tiles as it has blocks, in the order of the swizzle: cluster `c` of `clusters` the
//! rectangles `c`, `c + clusters`, `c + 2 clusters`, ... Within one, block `rank` has the tile
//!
//! ```text
//! row = rectangle.row * cluster.m + rank mod cluster.m        column = rectangle.column * cluster.n + rank / cluster.m
//! ```
//!
//! Tiles beyond D, where it is no whole number of rectangles, are read as zeros and not written.
//!
//! Twin: `kernels/threadblock/tile_scheduler.cuh`.

use super::{SwizzleKind, TileOrder};
use crate::{
    index::{Coord, IndexMap, affine, at},
    layout::algebra::Composed,
    shape::Mn,
};

/// The tiles of a grid of clusters, in the order in which each block takes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TileScheduler {
    /// The order of rectangles.
    pub order: SwizzleKind,
    /// Blocks of a cluster.
    pub cluster: Mn,
    /// Rectangles down D.
    pub rows: u32,
    /// Rectangles across D.
    pub columns: u32,
    /// Clusters that stay.
    pub clusters: u32,
}

impl TileScheduler {
    /// That of a D of so many tiles.
    pub const fn new(order: SwizzleKind, cluster: Mn, (tiles_m, tiles_n): (u32, u32), clusters: u32) -> Self {
        Self { order, cluster, rows: tiles_m.div_ceil(cluster.m), columns: tiles_n.div_ceil(cluster.n), clusters }
    }

    /// How many rectangles a cluster takes.
    pub const fn count(&self, cluster: u32) -> u32 {
        (self.rows * self.columns).saturating_sub(cluster).div_ceil(self.clusters)
    }

    /// The (row, column) of the tile that block `rank` of a cluster takes as its number `i`; `None` after the last.
    pub fn tile(&self, cluster: u32, rank: u32, i: u32) -> Option<(u32, u32)> {
        let number = cluster.checked_add(i.checked_mul(self.clusters)?)?;
        self.tile_of(number, rank)
    }

    /// The order of rectangles.
    const fn rectangles(&self) -> TileOrder {
        TileOrder { kind: self.order, rows: self.rows, columns: self.columns }
    }

    /// The tile of block `rank` in rectangle `number`; `None` after the last.
    fn tile_of(&self, number: u32, rank: u32) -> Option<(u32, u32)> {
        if number >= self.rows * self.columns {
            return None;
        }
        let rectangle = self.rectangles().at(at(0, number))?;
        let (row, column) = (rectangle / self.columns, rectangle % self.columns);
        Some((row * self.cluster.m + rank % self.cluster.m, column * self.cluster.n + rank / self.cluster.m))
    }
}

/// (rank, rectangle) to the number of a tile, row after row.
#[derive(Clone, Copy, Debug)]
pub struct ClusterTiles(pub TileScheduler);

impl IndexMap for ClusterTiles {
    fn domain(&self) -> Coord {
        at(self.0.cluster.m * self.0.cluster.n, self.0.rows * self.0.columns)
    }

    fn codomain(&self) -> u32 {
        self.domain().row * self.domain().column
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let (row, column) = self.0.tile_of(point.column, point.row)?;
        Some(row * self.0.columns * self.0.cluster.n + column)
    }

    fn layout(&self) -> Option<Composed> {
        let Mn { m, n } = self.0.cluster;
        let row = self.0.columns * n;
        affine(self.domain(), &[(m, row), (n, 1)], &self.0.rectangles().modes([m * row, n])?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_tile_is_taken_once() {
        for order in [SwizzleKind::Identity(2), SwizzleKind::Horizontal, SwizzleKind::Grouped(3), SwizzleKind::Hilbert] {
            for (m, n) in [(1, 1), (2, 1), (1, 2), (4, 1)] {
                for (tiles, clusters) in [((1, 1), 1), ((5, 7), 3), ((8, 9), 66), ((17, 6), 11)] {
                    let scheduler = TileScheduler::new(order, Mn { m, n }, tiles, clusters);
                    let mut taken = HashSet::new();
                    for cluster in 0..clusters {
                        for (rank, i) in (0..m * n).flat_map(|rank| (0..scheduler.count(cluster)).map(move |i| (rank, i))) {
                            let tile = scheduler.tile(cluster, rank, i).expect("counted");
                            assert!(taken.insert(tile), "{scheduler:?}: {tile:?} twice");
                        }
                        assert_eq!(scheduler.tile(cluster, 0, scheduler.count(cluster)), None);
                    }
                    assert_eq!(taken.len() as u32, scheduler.rows * m * scheduler.columns * n);
                    assert!((0..tiles.0).all(|row| (0..tiles.1).all(|column| taken.contains(&(row, column)))));
                }
            }
        }
    }
}
