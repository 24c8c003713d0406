//! Maps of MMAs in which a thread holds its own accumulators: the rows and columns of a thread, and
//! its k.
//!
//! On CUDA cores, the lanes of a warp form a grid, `lanes.m` x `lanes.n` = 32. The grid makes a
//! thread's tile as square as possible, because a thread reads `tm + tn` elements for `tm * tn`
//! products. The bits of the lane index alternate between M and N. Lanes (i, i^1) therefore read
//! the same B and lanes (i, i^2) the same A, so a 16-byte access needs two wavefronts instead of
//! four. A thread's elements form runs of `interleave` neighbors, and the runs of all lanes
//! alternate:
//!
//! ```text
//! mn = (i / interleave) * lanes * interleave + lane * interleave + i mod interleave
//! ```
//!
//! Twin: `kernels/warp/thread_maps.cuh`. Source: PTX ISA, "ld.shared"; the phases of wide accesses
//! are measured.

use crate::{
    arch::WARP,
    layout::{
        algebra::Composed,
        index_map::{Coord, IndexMap, affine},
    },
    numeric::ElementKind,
    shape::{OperandKind, at_least_one},
    warp::{InterleaveKind, OperandExtents, ThreadTiles},
};

/// Map from (thread, fragment element) to M of A's tile, or N of B's.
#[derive(Clone, Copy, Debug)]
pub struct FragmentMap {
    tiles: ThreadTiles,
    operand: OperandKind,
}

impl FragmentMap {
    /// Returns the map of one operand.
    #[inline]
    pub const fn new(tiles: ThreadTiles, operand: OperandKind) -> Self {
        Self { tiles, operand }
    }

    /// Returns the index along M or N of the block's tile of element `i` of `thread`'s fragment.
    pub const fn mn(&self, thread: u32, i: u32) -> u32 {
        let tiles = &self.tiles;
        let (warp_m, warp_n, _) = tiles.warp_place(thread / WARP);
        let (lane_m, lane_n) = tiles.lanes.place(thread % WARP);
        let (warp, lane) = match self.operand {
            OperandKind::A => (warp_m, lane_m),
            OperandKind::B => (warp_n, lane_n),
        };
        let OperandExtents { warp: extent, lanes, .. } = tiles.extents(self.operand);
        let run = tiles.interleave[self.operand.index()];
        warp * extent + i / run * (lanes * run) + lane * run + i % run
    }
}

impl IndexMap for FragmentMap {
    fn domain(&self) -> Coord {
        Coord { row: self.tiles.threads(), column: self.tiles.thread()[self.operand.index()] }
    }

    fn codomain(&self) -> u32 {
        match self.operand {
            OperandKind::A => self.tiles.block.m,
            OperandKind::B => self.tiles.block.n,
        }
    }

    fn at(&self, point: Coord) -> Option<u32> {
        Some(self.mn(point.row, point.column))
    }

    fn layout(&self) -> Option<Composed> {
        let mut threads =
            self.tiles.modes(if matches!(self.operand, OperandKind::A) { [1, 0] } else { [0, 1] });
        threads.push((self.tiles.warps().k, 0));
        affine(self.domain(), &threads, &self.tiles.fragment_modes(self.operand, 1))
    }
}

/// Map from (thread, k-block) to K of the block's tile. Each warp slice has its own share of K.
#[derive(Clone, Copy, Debug)]
pub struct DepthMap(pub ThreadTiles);

impl IndexMap for DepthMap {
    fn domain(&self) -> Coord {
        Coord { row: self.0.threads(), column: self.0.warp.k }
    }

    fn codomain(&self) -> u32 {
        self.0.block.k
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let (_, _, warp_slice) = self.0.warp_place(point.row / WARP);
        Some(warp_slice * self.0.warp.k + point.column)
    }

    fn layout(&self) -> Option<Composed> {
        let warp_slices = (self.0.warps().k, self.0.warp.k);
        affine(
            self.domain(),
            &[(self.0.threads_per_warp_slice(), 0), warp_slices],
            &[(self.0.warp.k, 1)],
        )
    }
}

/// Map from (thread, k-block) to the first k of the k-block in the block's tile. Each warp slice
/// has its own share of K.
#[derive(Clone, Copy, Debug)]
pub struct StepMap {
    /// Tiles of the block, its warps, and its threads.
    pub tiles: ThreadTiles,
    /// K extent of a k-block.
    pub step: u32,
}

impl IndexMap for StepMap {
    fn domain(&self) -> Coord {
        Coord { row: self.tiles.threads(), column: self.tiles.warp.k / at_least_one(self.step) }
    }

    fn codomain(&self) -> u32 {
        self.tiles.block.k
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let (_, _, warp_slice) = self.tiles.warp_place(point.row / WARP);
        Some(warp_slice * self.tiles.warp.k + point.column * self.step)
    }

    fn layout(&self) -> Option<Composed> {
        let warp_slices = (self.tiles.warps().k, self.tiles.warp.k);
        affine(
            self.domain(),
            &[(self.tiles.threads_per_warp_slice(), 0), warp_slices],
            &[(self.domain().column, self.step)],
        )
    }
}

/// Returns the length of a lane's run of neighbors for `thread_mn` elements: the chosen length, or
/// the largest power of two below it that divides `thread_mn`.
pub const fn interleave(chosen: InterleaveKind, element: ElementKind, thread_mn: u32) -> u32 {
    let mut width = match chosen {
        InterleaveKind::Vector => element.elements_in(16),
        InterleaveKind::Elements(elements) => elements,
    };
    while width > 1 && !thread_mn.is_multiple_of(width) {
        width /= 2;
    }
    width
}
