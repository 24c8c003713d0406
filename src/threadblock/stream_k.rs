//! Stream-K: the k-tiles of some tiles one after the other, in spans of as many for each cluster.
//!
//! Whole waves of tiles take the machine's time as they are. What is left, together with one whole
//! wave, is streamed: the k-tiles of those tiles, tile after tile, are cut into a span for each
//! cluster, of which some have one more than others, the first ones. A span is units: the end of a
//! tile that the cluster before began, tiles from their first to their last k-tile, and the begin
//! of a tile that the next cluster goes on with. A cluster computes its span first and then its
//! tiles of the whole waves.
//!
//! A tile's parts are those of neighbouring clusters, and their partial accumulators go to the
//! slots `tile + cluster`: the slots of a tile follow each other, and no two parts share one. Who
//! arrives last adds them, in ascending k ([`PARTS_AT_ONCE`](super::PARTS_AT_ONCE)). How a sum is
//! cut depends on K, the number of tiles and that of clusters alone.
//!
//! Source: Osama, Merrill, Cecka, Garland, Owens, "Stream-K: work-centric parallel decomposition
//! for dense matrix-matrix multiplication on the GPU", 2023.
//!
//! Twin: `kernels/threadblock/stream_k.cuh`.

use super::part_of_k;
use crate::{
    index::{Coord, IndexMap, at},
    shape::at_least_one,
};

/// The most multiprocessors whose clusters stream: an H200 has so many, and what a workspace holds
/// is counted before the device is known.
pub const MOST_STREAMS: u32 = 132;

/// The streamed part of some work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Streams {
    /// Rectangles of tiles that are streamed, the first ones.
    pub tiles: u32,
    /// k-tiles of each.
    pub tiles_k: u32,
    /// Clusters.
    pub clusters: u32,
}

/// A part of a tile: which one of how many, and its k-tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamedPart {
    /// The tile's number.
    pub tile: u32,
    /// The part's.
    pub part: u32,
    /// Parts of the tile.
    pub parts: u32,
    /// The first k-tile.
    pub k_begin: u32,
    /// How many there are.
    pub k_count: u32,
}

impl Streams {
    /// Those of so many tiles in all: what is left of whole waves, and one of those. Where K is
    /// empty, or there are more k-tiles than a word counts, none are streamed.
    pub const fn of(tiles: u32, tiles_k: u32, clusters: u32) -> Self {
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

    /// The most tiles that are streamed of so many, by any number of clusters up to this one.
    pub(crate) const fn most(tiles: u64, clusters: u32) -> u64 {
        let most = 2 * at_least_one(clusters) as u64 - 1;
        if tiles < most { tiles } else { most }
    }

    /// The k-tiles that are streamed.
    const fn all(&self) -> u32 {
        self.tiles * self.tiles_k
    }

    /// k-tiles of a span, and how many have one more.
    pub(crate) const fn spans(&self) -> [u32; 2] {
        [self.all() / self.clusters, self.all() % self.clusters]
    }

    /// The first k-tile of a cluster's span, and the one behind its last.
    const fn span(&self, cluster: u32) -> [u32; 2] {
        let (begin, count) = part_of_k(self.all(), self.clusters, cluster);
        [begin, begin + count]
    }

    /// The cluster in whose span a k-tile lies.
    const fn cluster_of(&self, k_tile: u32) -> u32 {
        let [each, longer] = self.spans();
        let of_longer = longer * (each + 1);
        if k_tile < of_longer {
            k_tile / (each + 1)
        } else {
            longer + (k_tile - of_longer) / at_least_one(each)
        }
    }

    /// Units of a cluster's span.
    pub const fn count(&self, cluster: u32) -> u32 {
        let [begin, end] = self.span(cluster);
        if begin == end { 0 } else { (end - 1) / self.tiles_k - begin / self.tiles_k + 1 }
    }

    /// Unit `i` of a cluster's span, which has so many.
    pub const fn part(&self, cluster: u32, i: u32) -> StreamedPart {
        let ([begin, end], tiles_k) = (self.span(cluster), self.tiles_k);
        let tile = begin / tiles_k + i;
        let (first, behind) = (tile * tiles_k, (tile + 1) * tiles_k);
        let k_begin = begin.saturating_sub(first);
        let k_end = if end < behind { end - first } else { tiles_k };
        let (one, last) = (self.cluster_of(first), self.cluster_of(behind - 1));
        StreamedPart {
            tile,
            part: cluster - one,
            parts: last - one + 1,
            k_begin,
            k_count: k_end - k_begin,
        }
    }
}

/// (fact, cluster and unit) to a fact of a unit, of which a cluster has at most so many: its tile,
/// part, parts, first k-tile, and how many.
#[derive(Clone, Copy, Debug)]
pub struct StreamedParts {
    /// The streams.
    pub streams: Streams,
    /// Units of a cluster, at most.
    pub units: u32,
}

impl IndexMap for StreamedParts {
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
        let StreamedPart { tile, part, parts, k_begin, k_count } = self.streams.part(cluster, i);
        [tile, part, parts, k_begin, k_count].get(point.row as usize).copied()
    }
}
