//! Stream-K: the k-tiles of some tiles form one sequence, which is divided evenly among the
//! clusters.
//!
//! Full waves of tiles keep every SM busy and are not split. The remaining tiles, together with one
//! full wave, use stream-K: their k-tiles form one sequence, which is divided into one span per
//! cluster. Spans differ by at most one k-tile, and the longer ones come first. A span is a
//! sequence of work units: the end of a tile that the previous cluster began, whole tiles, and the
//! beginning of a tile that the next cluster continues. A cluster computes its span before its
//! tiles of the full waves.
//!
//! Neighboring clusters compute the slices of a tile. Their partial accumulators use the workspace
//! slots `tile + cluster`, so the slots of a tile are contiguous, and no two slices share a slot.
//! The last cluster to arrive adds them in ascending k ([`SLICES_AT_ONCE`](super::SLICES_AT_ONCE)).
//! The cuts of a sum depend only on K, the number of tiles, and the number of clusters.
//!
//! Source: Osama, Merrill, Cecka, Garland, Owens, "Stream-K: work-centric parallel decomposition
//! for dense matrix-matrix multiplication on the GPU", 2023.
//!
//! Twin: `kernels/threadblock/stream_k.cuh`.

use super::k_slice;
use crate::{
    layout::index_map::{Coord, IndexMap, at},
    shape::at_least_one,
};

/// Maximum number of SMs whose clusters stream, which is the number of SMs of an H200. It bounds
/// the workspace size before the device is known.
pub const MOST_STREAMS: u32 = 132;

/// Stream-K part of the work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Streams {
    /// Number of streamed rectangles, which come first. A rectangle is a cluster-shaped group of
    /// tiles.
    pub tiles: u32,
    /// Number of k-tiles per tile.
    pub tiles_k: u32,
    /// Number of clusters.
    pub clusters: u32,
}

/// Work unit of a span: a slice of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamedSlice {
    /// Index of the tile.
    pub tile: u32,
    /// Index of the slice in its tile.
    pub slice: u32,
    /// Number of slices of the tile.
    pub slices: u32,
    /// First k-tile.
    pub k_begin: u32,
    /// Number of k-tiles.
    pub k_count: u32,
}

impl Streams {
    /// Returns the stream-K part of `tiles` tiles: the remainder after full waves, and one full
    /// wave. Nothing is streamed if K is empty or the number of k-tiles exceeds `i32::MAX`.
    pub const fn new(tiles: u32, tiles_k: u32, clusters: u32) -> Self {
        let clusters = at_least_one(clusters);
        let (whole, rest) = (tiles / clusters, tiles % clusters);
        let streamed = match (whole, rest) {
            (_, 0) => 0,
            (0, rest) => rest,
            (_, rest) => rest + clusters,
        };
        let counts = tiles_k > 0 && streamed as u64 * tiles_k as u64 <= i32::MAX as u64;
        Self { tiles: if counts { streamed } else { 0 }, tiles_k, clusters }
    }

    /// Returns the maximum number of streamed tiles out of `tiles`, for any number of clusters up
    /// to `clusters`.
    pub(crate) const fn most(tiles: u64, clusters: u32) -> u64 {
        let most = 2 * at_least_one(clusters) as u64 - 1;
        if tiles < most { tiles } else { most }
    }

    /// Returns the number of streamed k-tiles.
    const fn all(&self) -> u32 {
        self.tiles * self.tiles_k
    }

    /// Returns the k-tiles per span, and the number of spans that have one more.
    pub(crate) const fn spans(&self) -> [u32; 2] {
        [self.all() / self.clusters, self.all() % self.clusters]
    }

    /// Returns the first k-tile of a cluster's span, and the k-tile behind its last.
    const fn span(&self, cluster: u32) -> [u32; 2] {
        let (begin, count) = k_slice(self.all(), self.clusters, cluster);
        [begin, begin + count]
    }

    /// Returns the cluster whose span contains a k-tile.
    const fn cluster_of(&self, k_tile: u32) -> u32 {
        let [each, longer] = self.spans();
        let of_longer = longer * (each + 1);
        if k_tile < of_longer {
            k_tile / (each + 1)
        } else {
            longer + (k_tile - of_longer) / at_least_one(each)
        }
    }

    /// Returns the number of work units in a cluster's span.
    pub const fn count(&self, cluster: u32) -> u32 {
        let [begin, end] = self.span(cluster);
        if begin == end { 0 } else { (end - 1) / self.tiles_k - begin / self.tiles_k + 1 }
    }

    /// Returns work unit `i` of a cluster's span; `i` is less than [`count`](Self::count).
    pub const fn slice(&self, cluster: u32, i: u32) -> StreamedSlice {
        let ([begin, end], tiles_k) = (self.span(cluster), self.tiles_k);
        let tile = begin / tiles_k + i;
        let (first, behind) = (tile * tiles_k, (tile + 1) * tiles_k);
        let k_begin = begin.saturating_sub(first);
        let k_end = if end < behind { end - first } else { tiles_k };
        let (one, last) = (self.cluster_of(first), self.cluster_of(behind - 1));
        StreamedSlice {
            tile,
            slice: cluster - one,
            slices: last - one + 1,
            k_begin,
            k_count: k_end - k_begin,
        }
    }
}

/// Map from (fact, cluster * units + unit) to a fact of a work unit: its tile, slice, slices, first
/// k-tile, and number of k-tiles.
#[derive(Clone, Copy, Debug)]
pub struct StreamedSlices {
    /// Stream-K part of the work.
    pub streams: Streams,
    /// Maximum number of work units per cluster.
    pub units: u32,
}

impl IndexMap for StreamedSlices {
    fn domain(&self) -> Coord {
        at(5, self.streams.clusters * self.units)
    }

    fn codomain(&self) -> u32 {
        u32::MAX
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let (cluster, i) = (point.column / self.units, point.column % self.units);
        if i >= self.streams.count(cluster) {
            return None;
        }
        let StreamedSlice { tile, slice, slices, k_begin, k_count } =
            self.streams.slice(cluster, i);
        [tile, slice, slices, k_begin, k_count].get(point.row as usize).copied()
    }
}
