//! Which block computes what: the units of work of a call, and which of them each block takes.
//!
//! A [`Unit`] is a tile of the D of one product of a batch, and a range of its k-tiles. Clusters
//! take rectangles of as many tiles as they have blocks, product by product, those of each in the
//! order of the swizzle; within one, block `rank` has the tile
//!
//! ```text
//! row = rectangle.row * cluster.m + rank mod cluster.m        column = rectangle.column * cluster.n + rank / cluster.m
//! ```
//!
//! Which rectangles a cluster takes is the [kind](WorkKind) of work, which is compiled; how many
//! there are is the call's. One law holds for each kind: over all blocks, every k-tile of every
//! tile of each D is in one unit. Tiles beyond D, where it is no whole number of rectangles, are
//! read as zeros and not written.
//!
//! Under split-K the k-tiles of a tile of D are cut into as many parts as `split_k` says, each a
//! unit: all rectangles' first parts, then all their second ones. Parts differ by one k-tile at
//! most, the first ones are the longer ones, and the cuts depend on K and the description alone.
//! Each part's partial accumulators go to a slot of the workspace. The last block to arrive of
//! [`PARTS_AT_ONCE`](super::PARTS_AT_ONCE) neighbours adds their slots in ascending k, the last one
//! of as many such groups adds the groups' sums, and the one that adds the last group of a tile
//! runs the epilogue: who adds is left to chance, and the order is not. Nobody waits.
//!
//! A second kernel may add them in their place, in the same order: see
//! [`reduction`](crate::epilogue::reduction).
//!
//! The parts of a tile may also be those of the blocks of one cluster, at the same time: then they
//! move from block to block, and the workspace is not touched.
//!
//! Which k-tiles a part has says [`parts_of_k`](super::parts_of_k); the k-tiles of a whole wave and
//! what is left of it may be divided otherwise, see [`stream_k`](super::stream_k).
//!
//! Twin: `kernels/threadblock/work.cuh`.

use super::{
    SwizzleKind, TileOrder,
    parts_of_k::{part_of_k, tickets_of},
    stream_k::{StreamedPart, Streams},
};
use crate::{
    arch::MOST_BLOCKS,
    index::{Coord, IndexMap, affine, at},
    layout::algebra::Composed,
    operand::Axis,
    refusal::Refusal,
    shape::{Mn, Mnk, at_least_one},
    words::words,
};

words! {
    /// How units are divided among the clusters of a grid.
    pub enum WorkKind {
        /// A cluster for each rectangle of tiles: as many clusters as there are rectangles.
        DataParallel = "data-parallel",
        /// As many clusters as the device holds at once; cluster `c` of `clusters` takes the
        /// rectangles `c`, `c + clusters`, `c + 2 clusters`, ...
        Persistent = "persistent",
        /// The same, and the blocks of a cluster have a part of K each of the tile that is its
        /// rectangle: block `rank` has part `rank`.
        SplitKCluster = "split-k-cluster",
        /// As many clusters; first the [streamed](super::stream_k) k-tiles of some rectangles, a
        /// span for each cluster, then the other rectangles as persistent clusters take them.
        StreamK = "stream-k",
    }
}

impl WorkKind {
    /// The name in C++.
    pub(crate) const fn cuda(self) -> &'static str {
        match self {
            Self::DataParallel => "threadblock::WorkKind::DataParallel",
            Self::Persistent => "threadblock::WorkKind::Persistent",
            Self::SplitKCluster => "threadblock::WorkKind::SplitKCluster",
            Self::StreamK => "threadblock::WorkKind::StreamK",
        }
    }
}

/// What a block computes at a time: products of the k-tiles `k_begin .. k_begin + k_count`, for one
/// tile of a D.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Unit {
    /// The product's number in its batch.
    pub product: u32,
    /// Row of the tile.
    pub row: u32,
    /// Column of the tile.
    pub column: u32,
    /// Which part of the k-tiles.
    pub part: u32,
    /// Into how many parts they are cut.
    pub parts: u32,
    /// The first k-tile.
    pub k_begin: u32,
    /// How many there are.
    pub k_count: u32,
}

/// The units of one call, and which of them each block takes, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// How they are divided.
    pub kind: WorkKind,
    /// The order of rectangles.
    pub order: SwizzleKind,
    /// Tiles of a rectangle: blocks of a cluster, where those have no parts of one tile.
    pub cluster: Mn,
    /// Rectangles down a D.
    pub rows: u32,
    /// Rectangles across a D.
    pub columns: u32,
    /// Products of the batch.
    pub batch: u32,
    /// k-tiles of each tile of D.
    pub tiles_k: u32,
    /// Parts into which they are cut; 1 without split-K.
    pub split_k: u32,
    /// Clusters of the grid.
    pub clusters: u32,
}

/// Number (cluster, rank, i) of some work: the unit that a block takes as its number `i`,
/// [`Work::unit`] where nobody changed it.
pub type Units = std::sync::Arc<dyn Fn(&Work, u32, u32, u32) -> Option<Unit> + Send + Sync>;

impl Work {
    /// The work of a batch of Ds of `m` x `n` in tiles of `tile`'s M and N, each of so many k-tiles
    /// in `split_k` parts, where `resident` clusters run at once.
    ///
    /// # Errors
    /// [`Refusal::TooManyTiles`] for more units than a grid has blocks.
    pub fn of(
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
            return Err(Refusal::TooManyTiles { tiles, most, batch: batch as u64 });
        }
        let clusters = match kind {
            WorkKind::DataParallel => tiles as u32,
            WorkKind::Persistent => resident.min(tiles as u32),
            WorkKind::SplitKCluster => resident.min(tiles as u32 / at_least_one(split_k)),
            // Each cluster has a k-tile at least.
            WorkKind::StreamK => {
                let k_tiles = tiles.saturating_mul(u64::from(at_least_one(tiles_k)));
                resident.min(k_tiles.min(most) as u32)
            }
        };
        // One of them is 0 where others may be anything.
        let [rows, columns, batch] =
            [rows, columns, batch as u64].map(|many| many.min(most) as u32);
        Ok(Self { kind, order, cluster, rows, columns, batch, tiles_k, split_k, clusters })
    }

    /// Blocks of a cluster.
    pub const fn blocks(&self) -> u32 {
        match self.kind {
            WorkKind::SplitKCluster => self.split_k,
            _ => self.cluster.count(),
        }
    }

    /// Rectangles of all Ds.
    pub const fn rectangles(&self) -> u32 {
        self.rows.saturating_mul(self.columns).saturating_mul(self.batch)
    }

    /// Units of each block of a cluster, if there were one.
    const fn units(&self) -> u32 {
        self.rectangles().saturating_mul(self.split_k)
    }

    /// How many units each block of a cluster takes.
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

    /// What is streamed; nothing but under [`WorkKind::StreamK`].
    pub const fn streams(&self) -> Streams {
        let tiles = if matches!(self.kind, WorkKind::StreamK) { self.rectangles() } else { 0 };
        Streams::of(tiles, self.tiles_k, self.clusters)
    }

    /// The unit that block `rank` of a cluster takes as its number `i`; `None` after the last.
    pub fn unit(&self, cluster: u32, rank: u32, i: u32) -> Option<Unit> {
        if self.kind == WorkKind::StreamK {
            return self.streamed(cluster, rank, i);
        }
        let number = self.number(cluster, i)?;
        let (part, number, rank) = match self.kind {
            WorkKind::SplitKCluster => (rank, number, 0),
            _ => (number.checked_div(self.rectangles())?, number % self.rectangles(), rank),
        };
        if part >= self.split_k {
            return None;
        }
        let (product, row, column) = self.tile_of(number, rank)?;
        let (k_begin, k_count) = part_of_k(self.tiles_k, self.split_k, part);
        Some(Unit { product, row, column, part, parts: self.split_k, k_begin, k_count })
    }

    /// The same of a cluster that streams.
    fn streamed(&self, cluster: u32, rank: u32, i: u32) -> Option<Unit> {
        let streams = self.streams();
        let StreamedPart { tile, part, parts, k_begin, k_count } =
            match i.checked_sub(streams.count(cluster)) {
                None => streams.part(cluster, i),
                Some(i) => {
                    let tile = i
                        .checked_mul(self.clusters)?
                        .checked_add(streams.tiles.checked_add(cluster)?)?;
                    StreamedPart { tile, part: 0, parts: 1, k_begin: 0, k_count: self.tiles_k }
                }
            };
        let (product, row, column) = self.tile_of(tile, rank)?;
        Some(Unit { product, row, column, part, parts, k_begin, k_count })
    }

    /// The number of the unit that a cluster takes as its number `i`, which there may not be.
    fn number(&self, cluster: u32, i: u32) -> Option<u32> {
        match self.kind {
            WorkKind::DataParallel => (i == 0).then_some(cluster),
            WorkKind::Persistent | WorkKind::SplitKCluster | WorkKind::StreamK => {
                cluster.checked_add(i.checked_mul(self.clusters)?)
            }
        }
    }

    /// What a kernel is told of the parts of K: how many there are, k-tiles of each, how many have
    /// one more, and tickets of a tile. Of streams, how many tiles are streamed, and the same of
    /// spans.
    pub(crate) const fn parts(&self) -> [u32; 4] {
        if matches!(self.kind, WorkKind::StreamK) {
            let [each, longer] = self.streams().spans();
            return [self.streams().tiles, each, longer, tickets_of(self.clusters)];
        }
        let (each, longer) =
            (self.tiles_k / at_least_one(self.split_k), self.tiles_k % at_least_one(self.split_k));
        [self.split_k, each, longer, tickets_of(self.split_k)]
    }

    /// The order of rectangles.
    const fn tile_order(&self) -> TileOrder {
        TileOrder { kind: self.order, rows: self.rows, columns: self.columns }
    }

    /// The product, row and column of the tile of block `rank` in rectangle `number`; `None` after
    /// the last.
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

/// Lines along the extent of D that groups share of a rectangle of so many such tiles.
pub const fn lines_of_rectangle(axis: Axis, tile: Mnk, cluster: Mn) -> u32 {
    match axis {
        Axis::N => tile.n.saturating_mul(cluster.n),
        _ => tile.m.saturating_mul(cluster.m),
    }
}

/// Where the tiles of a group begin: at its first line, or at the multiple of `step` before it.
const fn begin_of_group(first: u32, step: u32) -> u32 {
    first - first % at_least_one(step)
}

/// How many rectangles of so many lines each there are at most in groups of so many lines of D
/// together, whose tiles begin at multiples of `step`: each group but the empty ones has a last one
/// of one line at least.
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

/// The work of groups, whose offsets are known: what each block finds by itself on a device.
#[derive(Clone, Copy, Debug)]
pub struct GroupedWork<'o> {
    /// The kind, the order, the cluster and the number of clusters; the extent in rectangles on the
    /// side that groups do not share.
    pub work: Work,
    /// The extent of D that groups share, M or N.
    pub axis: Axis,
    /// Lines of a rectangle along it.
    pub lines: u32,
    /// Lines that tiles begin at multiples of: what lies before a group's first line is not the
    /// group's.
    pub step: u32,
    /// Lines of D along it.
    pub extent: u32,
    /// Where groups begin, and the last one ends.
    pub offsets: &'o [u32],
}

impl GroupedWork<'_> {
    /// The unit that block `rank` of a cluster takes as its number `i`, and the lines of its group:
    /// it begins `row`, or `column`, tiles behind the multiple of the step that is the first of
    /// them, or lies before it. `None` after the last.
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
                        part: 0,
                        parts: 1,
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

/// (rank, rectangle) to the place of a tile among those of so many groups, of which group `i` has
/// the lines of `i` half rectangles, and one; left out where there is none.
#[derive(Clone, Copy, Debug)]
pub struct GroupTiles {
    /// The work, its offsets aside.
    pub work: Work,
    /// The extent that groups share.
    pub axis: Axis,
    /// Lines of a rectangle along it.
    pub lines: u32,
    /// Lines that tiles begin at multiples of.
    pub step: u32,
    /// Groups.
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

/// (rank, rectangle) to the number of a tile, row after row, product after product; where a
/// cluster's blocks have parts of it, part after part of each.
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
        let (rank, part, parts) = match self.0.kind {
            WorkKind::SplitKCluster => (0, point.row, self.0.split_k),
            _ => (point.row, 0, 1),
        };
        let (product, row, column) = self.0.tile_of(point.column, rank)?;
        let Work { rows, columns, cluster: Mn { m, n }, .. } = self.0;
        Some(((product * rows * m + row) * columns * n + column) * parts + part)
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
