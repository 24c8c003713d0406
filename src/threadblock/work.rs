//! Distribution of work: the work units of a call, and their assignment to blocks.
//!
//! A [`Unit`] is one tile of D of one GEMM of a batch, and a range of k-tiles. A rectangle is a
//! group of tiles with the shape of a cluster. Clusters compute rectangles, GEMM by GEMM, in the
//! order of the swizzle. Within a rectangle, block `rank` computes the tile
//!
//! ```text
//! row = rectangle.row * cluster.m + rank mod cluster.m        column = rectangle.column * cluster.n + rank / cluster.m
//! ```
//!
//! The [kind](WorkKind) of work assigns rectangles to clusters. It is compiled in; the number of
//! rectangles is a run-time value. One law holds for each kind: exactly one unit contains each
//! k-tile of each tile of each D. If rectangles do not divide D evenly, tiles beyond D are read as
//! zeros and not written.
//!
//! Under split-K, the k-tiles of a tile of D are cut into `split_k` slices, and each slice is a
//! unit. The first slices of all rectangles come first, then all second slices. Slice lengths
//! differ by at most one k-tile, and the longer slices come first. The cuts depend only on K and
//! the description. The partial accumulators of each slice are stored to a workspace slot. The last
//! block to arrive out of [`SLICES_AT_ONCE`](super::SLICES_AT_ONCE) neighbors adds their slots in
//! ascending k. The same happens to the sums of such groups, level by level. The block that
//! completes a tile runs the epilogue. Which block reduces is nondeterministic; the order of
//! additions is fixed. No block spins.
//!
//! A second kernel can perform the reduction instead, in the same order: see
//! [`reduction`](crate::epilogue::reduction).
//!
//! The blocks of one cluster can also compute the slices of a tile at the same time. Partial
//! accumulators then move from block to block, and the workspace is not used.
//!
//! [`split_k`](super::split_k) defines the k-tiles of a slice. Stream-K divides the last
//! waves differently; see [`stream_k`](super::stream_k).
//!
//! Twin: `kernels/threadblock/work.cuh`.

use super::{
    SwizzleKind, TileOrder,
    split_k::{k_slice, tickets_of},
    stream_k::{StreamedSlice, Streams},
};
use crate::{
    arch::MOST_BLOCKS,
    layout::{
        algebra::Composed,
        index_map::{Coord, IndexMap, affine, at},
    },
    refusal::Refusal,
    shape::{Axis, Mn, Mnk, at_least_one, words::words},
};

words! {
    /// Assignment of work units to the clusters of a grid.
    pub enum WorkKind {
        /// One cluster per rectangle.
        DataParallel = "data-parallel",
        /// As many clusters as fit on the device at once. Cluster `c` of `clusters` computes the
        /// rectangles `c`, `c + clusters`, `c + 2 clusters`, ...
        Persistent = "persistent",
        /// Persistent clusters whose blocks compute the split-K slices of one tile: block `rank`
        /// computes slice `rank`. The rectangle is a single tile.
        SplitKCluster = "split-k-cluster",
        /// Persistent clusters that first compute the streamed k-tiles of some rectangles, one span
        /// per cluster. They then compute the other rectangles like `Persistent`.
        StreamK = "stream-k",
    }
}

impl WorkKind {
    /// Returns the name in C++.
    pub(crate) const fn cuda(self) -> &'static str {
        match self {
            Self::DataParallel => "threadblock::WorkKind::DataParallel",
            Self::Persistent => "threadblock::WorkKind::Persistent",
            Self::SplitKCluster => "threadblock::WorkKind::SplitKCluster",
            Self::StreamK => "threadblock::WorkKind::StreamK",
        }
    }
}

/// Work unit of a block: the k-tiles `k_begin .. k_begin + k_count` of one tile of D.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Unit {
    /// Index of the GEMM in its batch.
    pub product: u32,
    /// Row of the tile.
    pub row: u32,
    /// Column of the tile.
    pub column: u32,
    /// Index of the split-K slice.
    pub slice: u32,
    /// Number of split-K slices.
    pub slices: u32,
    /// First k-tile.
    pub k_begin: u32,
    /// Number of k-tiles.
    pub k_count: u32,
}

/// Work units of one call, and the sequence of units of each block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// Assignment of units to clusters.
    pub kind: WorkKind,
    /// Rasterization order of rectangles.
    pub order: SwizzleKind,
    /// Tiles per rectangle, which are the blocks of a cluster unless those compute slices of one
    /// tile.
    pub cluster: Mn,
    /// Rectangles per D along M.
    pub rows: u32,
    /// Rectangles per D along N.
    pub columns: u32,
    /// Number of GEMMs in the batch.
    pub batch: u32,
    /// Number of k-tiles per tile of D.
    pub tiles_k: u32,
    /// Number of split-K slices; 1 without split-K.
    pub split_k: u32,
    /// Clusters of the grid.
    pub clusters: u32,
}

/// Function from (work, cluster, rank, i) to unit `i` of a block. It is [`Work::unit`] unless a
/// test replaces it.
pub type Units = std::sync::Arc<dyn Fn(&Work, u32, u32, u32) -> Option<Unit> + Send + Sync>;

impl Work {
    /// Returns the work for a batch of m x n outputs in tiles of `tile`, with `tiles_k` k-tiles
    /// each in `split_k` slices. `resident` is the number of clusters that run at once.
    ///
    /// # Errors
    /// [`Refusal`] if there are more units than blocks allowed in a grid.
    pub fn new(
        (kind, order, split_k): (WorkKind, SwizzleKind, u32),
        (tile, cluster): (Mnk, Mn),
        ((m, n), batch, tiles_k): ((usize, usize), usize, u32),
        resident: u32,
    ) -> Result<Self, Refusal> {
        let across = |extent: usize, tile: u32, blocks: u32| {
            extent.div_ceil(tile as usize).div_ceil(blocks as usize) as u64
        };
        let (rows, columns) = (across(m, tile.m, cluster.m), across(n, tile.n, cluster.n));
        let units = rows
            .saturating_mul(columns)
            .saturating_mul(batch as u64)
            .saturating_mul(u64::from(split_k));
        let (tiles, most) = (units, u64::from(MOST_BLOCKS));
        if tiles > most {
            return Err(Refusal::too_many_tiles(tiles, most, batch as u64));
        }
        let clusters = match kind {
            WorkKind::DataParallel => tiles as u32,
            WorkKind::Persistent => resident.min(tiles as u32),
            WorkKind::SplitKCluster => resident.min(tiles as u32 / at_least_one(split_k)),
            // Each cluster has at least one k-tile.
            WorkKind::StreamK => {
                let k_tiles = tiles.saturating_mul(u64::from(at_least_one(tiles_k)));
                resident.min(k_tiles.min(most) as u32)
            }
        };
        // If one factor is 0, the others are unbounded.
        let [rows, columns, batch] =
            [rows, columns, batch as u64].map(|many| many.min(most) as u32);
        Ok(Self { kind, order, cluster, rows, columns, batch, tiles_k, split_k, clusters })
    }

    /// Returns the number of blocks per cluster.
    pub const fn blocks(&self) -> u32 {
        match self.kind {
            WorkKind::SplitKCluster => self.split_k,
            _ => self.cluster.count(),
        }
    }

    /// Returns the number of rectangles of all outputs.
    pub const fn rectangles(&self) -> u32 {
        self.rows.saturating_mul(self.columns).saturating_mul(self.batch)
    }

    /// Returns the number of units per block if the grid had a single cluster.
    const fn units(&self) -> u32 {
        self.rectangles().saturating_mul(self.split_k)
    }

    /// Returns the number of units that each block of a cluster computes.
    pub const fn count(&self, cluster: u32) -> u32 {
        match self.kind {
            WorkKind::DataParallel => (cluster < self.units()) as u32,
            WorkKind::Persistent => {
                self.units().saturating_sub(cluster).div_ceil(at_least_one(self.clusters))
            }
            WorkKind::SplitKCluster => {
                self.rectangles().saturating_sub(cluster).div_ceil(at_least_one(self.clusters))
            }
            WorkKind::StreamK => {
                let streams = self.streams();
                let whole = self.rectangles().saturating_sub(streams.tiles).saturating_sub(cluster);
                streams.count(cluster) + whole.div_ceil(at_least_one(self.clusters))
            }
        }
    }

    /// Returns the stream-K part of the work, which is empty unless the kind is
    /// [`WorkKind::StreamK`].
    pub const fn streams(&self) -> Streams {
        let tiles = if matches!(self.kind, WorkKind::StreamK) { self.rectangles() } else { 0 };
        Streams::new(tiles, self.tiles_k, self.clusters)
    }

    /// Returns unit `i` of block `rank` of a cluster, or `None` after the last.
    pub fn unit(&self, cluster: u32, rank: u32, i: u32) -> Option<Unit> {
        if self.kind == WorkKind::StreamK {
            return self.streamed(cluster, rank, i);
        }
        let number = self.number(cluster, i)?;
        let (slice, number, rank) = match self.kind {
            WorkKind::SplitKCluster => (rank, number, 0),
            _ => (number.checked_div(self.rectangles())?, number % self.rectangles(), rank),
        };
        if slice >= self.split_k {
            return None;
        }
        let (product, row, column) = self.tile_of(number, rank)?;
        let (k_begin, k_count) = k_slice(self.tiles_k, self.split_k, slice);
        Some(Unit { product, row, column, slice, slices: self.split_k, k_begin, k_count })
    }

    /// Returns the unit under [`WorkKind::StreamK`].
    fn streamed(&self, cluster: u32, rank: u32, i: u32) -> Option<Unit> {
        let streams = self.streams();
        let StreamedSlice { tile, slice, slices, k_begin, k_count } =
            match i.checked_sub(streams.count(cluster)) {
                None => streams.slice(cluster, i),
                Some(i) => {
                    let tile = i
                        .checked_mul(self.clusters)?
                        .checked_add(streams.tiles.checked_add(cluster)?)?;
                    StreamedSlice { tile, slice: 0, slices: 1, k_begin: 0, k_count: self.tiles_k }
                }
            };
        let (product, row, column) = self.tile_of(tile, rank)?;
        Some(Unit { product, row, column, slice, slices, k_begin, k_count })
    }

    /// Returns the index of a cluster's unit `i`. The index may exceed the number of units.
    fn number(&self, cluster: u32, i: u32) -> Option<u32> {
        match self.kind {
            WorkKind::DataParallel => (i == 0).then_some(cluster),
            WorkKind::Persistent | WorkKind::SplitKCluster | WorkKind::StreamK => {
                cluster.checked_add(i.checked_mul(self.clusters)?)
            }
        }
    }

    /// Returns the split-K parameters of a kernel: the number of slices, the k-tiles per slice, the
    /// number of slices with one more, and the tickets per tile. For stream-K: the number of
    /// streamed tiles, the k-tiles per span, the number of spans with one more, and the tickets per
    /// tile.
    pub(crate) const fn slices(&self) -> [u32; 4] {
        if matches!(self.kind, WorkKind::StreamK) {
            let [each, longer] = self.streams().spans();
            return [self.streams().tiles, each, longer, tickets_of(self.clusters)];
        }
        let (each, longer) =
            (self.tiles_k / at_least_one(self.split_k), self.tiles_k % at_least_one(self.split_k));
        [self.split_k, each, longer, tickets_of(self.split_k)]
    }

    /// Returns the rasterization order of rectangles.
    const fn tile_order(&self) -> TileOrder {
        TileOrder { kind: self.order, rows: self.rows, columns: self.columns }
    }

    /// Returns the GEMM, row, and column of block `rank`'s tile in rectangle `number`, or `None`
    /// after the last rectangle.
    fn tile_of(&self, number: u32, rank: u32) -> Option<(u32, u32, u32)> {
        let of_a_product = self.rows.saturating_mul(self.columns);
        let product = number.checked_div(of_a_product).filter(|&product| product < self.batch)?;
        let rectangle = self.tile_order().at(at(0, number % of_a_product))?;
        let (row, column) = (rectangle / self.columns, rectangle % self.columns);
        Some((
            product,
            row * self.cluster.m + rank % self.cluster.m,
            column * self.cluster.n + rank / self.cluster.m,
        ))
    }
}

/// Returns the lines of D that a rectangle covers along the ragged axis. A line is a row
/// (`Axis::M`) or a column (`Axis::N`) of D.
pub const fn lines_of_rectangle(axis: Axis, tile: Mnk, cluster: Mn) -> u32 {
    match axis {
        Axis::N => tile.n.saturating_mul(cluster.n),
        _ => tile.m.saturating_mul(cluster.m),
    }
}

/// Returns the line at which the tiles of a group begin: the largest multiple of `step` up to its
/// first line.
const fn begin_of_group(first: u32, step: u32) -> u32 {
    first - first % at_least_one(step)
}

/// Returns the maximum number of rectangles, each of `of_rectangle` lines, for `groups` groups with
/// `lines` lines in total. Tiles begin at multiples of `step`. Each nonempty group has a last
/// rectangle of at least one line.
pub(crate) const fn group_rectangles(
    lines: usize,
    groups: usize,
    of_rectangle: u32,
    step: u32,
) -> usize {
    let groups = if groups < lines { groups } else { lines };
    let before = groups.saturating_mul(at_least_one(step) as usize - 1);
    (lines - groups).saturating_add(before) / at_least_one(of_rectangle) as usize + groups
}

/// Work of a grouped GEMM with known group offsets. On a device, each block searches the offsets
/// itself.
#[derive(Clone, Copy, Debug)]
pub struct GroupedWork<'o> {
    /// Kind, order, cluster, number of clusters, and the extent in rectangles of the axis that is
    /// not ragged.
    pub work: Work,
    /// Ragged axis of D: M or N.
    pub axis: Axis,
    /// Lines per rectangle along the ragged axis.
    pub lines: u32,
    /// Tiles begin at multiples of this many lines. Lines before a group's first line belong to
    /// another group.
    pub step: u32,
    /// Number of lines of D along the ragged axis.
    pub extent: u32,
    /// First line of each group, followed by the end of the last group.
    pub offsets: &'o [u32],
}

impl GroupedWork<'_> {
    /// Returns unit `i` of block `rank` of a cluster, and the first line and the end of its group.
    /// `row` or `column` counts tiles from the largest multiple of the step up to the group's first
    /// line. Returns `None` after the last unit.
    pub fn unit(&self, cluster: u32, rank: u32, i: u32) -> Option<(Unit, [u32; 2])> {
        let Work { rows, columns, tiles_k, .. } = self.work;
        let number = self.work.number(cluster, i)?;
        let down = matches!(self.axis, Axis::M);
        let across = if down { columns } else { rows };
        let (mut limit, mut before) = (self.offsets.first()?.min(&self.extent), 0);
        for (product, offset) in self.offsets.iter().skip(1).enumerate() {
            let first = limit;
            limit = offset.min(&self.extent).max(first);
            let along = if limit == first {
                0
            } else {
                (limit - begin_of_group(*first, self.step)).div_ceil(self.lines)
            };
            if number - before < along * across {
                let (rows, columns) = if down { (along, columns) } else { (rows, along) };
                let of_group = Work { rows, columns, batch: 1, ..self.work };
                let (_, row, column) = of_group.tile_of(number - before, rank)?;
                return Some((
                    Unit {
                        product: product as u32,
                        row,
                        column,
                        slice: 0,
                        slices: 1,
                        k_begin: 0,
                        k_count: tiles_k,
                    },
                    [*first, *limit],
                ));
            }
            before += along * across;
        }
        None
    }
}

/// Map from (rank, rectangle) to a number that encodes the unit and its group, for `count` groups.
/// Group `i` has the lines of `i` half rectangles, and one more. Points without a tile are left
/// out.
#[derive(Clone, Copy, Debug)]
pub struct GroupTiles {
    /// Work without offsets.
    pub work: Work,
    /// Ragged axis.
    pub axis: Axis,
    /// Lines per rectangle along the ragged axis.
    pub lines: u32,
    /// Tiles begin at multiples of this many lines.
    pub step: u32,
    /// Number of groups.
    pub count: u32,
}

impl GroupTiles {
    fn offset(&self, i: u32) -> u32 {
        i * i.saturating_sub(1) / 2 * self.lines / 2 + i
    }
}

impl IndexMap for GroupTiles {
    fn domain(&self) -> Coord {
        let Mn { m, n } = self.work.cluster;
        let across = if matches!(self.axis, Axis::M) { self.work.columns } else { self.work.rows };
        at(
            m * n,
            group_rectangles(
                self.offset(self.count) as usize,
                self.count as usize,
                self.lines,
                self.step,
            ) as u32
                * across,
        )
    }

    fn codomain(&self) -> u32 {
        u32::MAX
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let offsets: Vec<u32> = (0..=self.count).map(|i| self.offset(i)).collect();
        let Self { axis, lines, step, .. } = *self;
        let work = Work { kind: WorkKind::DataParallel, ..self.work };
        let grouped = GroupedWork {
            work,
            axis,
            lines,
            step,
            extent: self.offset(self.count),
            offsets: &offsets,
        };
        let (unit, [first, limit]) = grouped.unit(point.column, point.row, 0)?;
        let place = (unit.product << 12) + (unit.row << 6) + unit.column;
        Some((first << 16).wrapping_add(limit).wrapping_add(place))
    }
}

/// Map from (rank, rectangle) to the index of a tile, row by row and GEMM by GEMM. If the blocks of
/// a cluster compute slices of one tile, the index counts slices.
#[derive(Clone, Copy, Debug)]
pub struct ClusterTiles(pub Work);

impl IndexMap for ClusterTiles {
    fn domain(&self) -> Coord {
        at(self.0.blocks(), self.0.rectangles())
    }

    fn codomain(&self) -> u32 {
        self.domain().row * self.domain().column
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let (rank, slice, slices) = match self.0.kind {
            WorkKind::SplitKCluster => (0, point.row, self.0.split_k),
            _ => (point.row, 0, 1),
        };
        let (product, row, column) = self.0.tile_of(point.column, rank)?;
        let Work { rows, columns, cluster: Mn { m, n }, .. } = self.0;
        Some(((product * rows * m + row) * columns * n + column) * slices + slice)
    }

    fn layout(&self) -> Option<Composed> {
        let Work { rows, columns, batch, cluster: Mn { m, n }, .. } = self.0;
        if self.0.kind == WorkKind::SplitKCluster {
            return None;
        }
        let row = columns * n;
        let [one, two, three] = self.0.tile_order().modes([m * row, n])?;
        affine(self.domain(), &[(m, row), (n, 1)], &[one, two, three, (batch, rows * m * row)])
    }
}
