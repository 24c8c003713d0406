//! Warp-level MMA on CUDA cores: an outer product per k.
//!
//! The lanes of a warp form a grid, `lanes.m` x `lanes.n` = 32. The grid makes a thread's tile as
//! square as possible, because a thread reads `tm + tn` elements for `tm * tn` products. The bits
//! of the lane index alternate between M and N. Lanes (i, i^1) therefore read the same B and lanes
//! (i, i^2) the same A, so a 16-byte access needs two wavefronts instead of four. A thread's
//! elements form runs of `interleave` neighbors, and the runs of all lanes alternate:
//!
//! ```text
//! mn = (i / interleave) * lanes * interleave + lane * interleave + i mod interleave
//! ```
//!
//! Twin: `kernels/warp/simt.cuh`. Source: PTX ISA, "ld.shared"; the phases of wide accesses are
//! measured.

use crate::{
    arch::WARP,
    index::{Coord, IndexMap, affine},
    layout::algebra::Composed,
    numeric::ElementKind,
    operand::OperandKind,
    shape::{Mnk, at_least_one},
    warp::InterleaveKind,
};

/// Knobs of the MMA on CUDA cores.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SimtKnobs {
    /// Warp tile in elements, with its share of the depth.
    pub warp: Mnk,
    /// Tile of a thread in a TMA ring. Without a producer, it is `None`, and
    /// [`LaneArrangement::best`] determines the tile.
    pub thread: Option<Mnk>,
    /// Neighboring elements that a lane holds contiguously.
    pub interleave: InterleaveKind,
}

/// Grid of the lanes of a warp.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LaneArrangement {
    /// Lanes along M.
    pub m: u32,
    /// Lanes along N.
    pub n: u32,
    /// Whether lanes run along N first, as in `mma.sync`. Otherwise the bits of the lane index
    /// alternate.
    pub quads: bool,
}

impl LaneArrangement {
    /// Returns the arrangement with the smallest `tm + tn` for a warp tile. Ties go to more lanes
    /// along N, or along M for `f16` accumulators, so that each permuted register of A serves more
    /// products.
    pub const fn best(warp_m: u32, warp_n: u32, accumulator: ElementKind) -> Self {
        let mut best = Self { m: 1, n: WARP, quads: false };
        let mut least = u32::MAX;
        let mut m = 1;
        while m <= WARP {
            let n = WARP / m;
            let sum = (warp_m / m).saturating_add(warp_n / n);
            if warp_m.is_multiple_of(m)
                && warp_n.is_multiple_of(n)
                && (sum < least || sum == least && matches!(accumulator, ElementKind::F16))
            {
                least = sum;
                best = Self { m, n, quads: false };
            }
            m *= 2;
        }
        best
    }

    /// Returns the place (along M, along N) of a lane. Its bits alternate, M first, while both have
    /// bits left; with `quads`, N's bits come first.
    pub const fn place(&self, lane: u32) -> (u32, u32) {
        if self.quads {
            return (lane / self.n, lane % self.n);
        }
        let (bits_m, bits_n) = (self.m.trailing_zeros(), self.n.trailing_zeros());
        let (mut m, mut n, mut taken_m, mut taken_n, mut bit) = (0, 0, 0, 0, 0);
        while bit < bits_m + bits_n {
            let value = (lane >> bit) & 1;
            if taken_m < bits_m && (bit % 2 == 0 || taken_n == bits_n) {
                m |= value << taken_m;
                taken_m += 1;
            } else {
                n |= value << taken_n;
                taken_n += 1;
            }
            bit += 1;
        }
        (m, n)
    }

    /// Returns the bits of a lane index as CuTe modes (extent, stride), given the strides along M
    /// and N. The modes alternate between M and N while both have bits left; with `quads`, N's come
    /// first.
    pub fn modes(&self, [m, n]: [u32; 2]) -> Vec<(u32, u32)> {
        if self.quads {
            return vec![(self.n, n), (self.m, m)];
        }
        let both = self.m.min(self.n);
        let alternating = (0..both.trailing_zeros()).flat_map(|bit| [(2, m << bit), (2, n << bit)]);
        alternating.chain([(self.m / both, m * both), (self.n / both, n * both)]).collect()
    }

    /// Returns the layout of 32 lanes, in which lanes along N are adjacent.
    pub fn layout(&self) -> Option<Composed> {
        affine(Coord { row: WARP, column: 1 }, &self.modes([self.n, 1]), &[(1, 0)])
    }
}

/// Tiles of a block whose threads multiply: the block's, its warps', and its threads'.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ThreadTiles {
    /// Tile of the block.
    pub block: Mnk,
    /// Tile of a warp, including its share of K.
    pub warp: Mnk,
    /// Arrangement of the lanes over the warp tile.
    pub lanes: LaneArrangement,
    /// Neighbors along M, and along N, that a lane holds before the next lane's elements begin.
    pub interleave: [u32; 2],
}

impl ThreadTiles {
    /// Returns the number of warps along M, N, and K. It is 0 along an axis on which the tiles do
    /// not nest.
    pub const fn warps(&self) -> Mnk {
        Mnk {
            m: self.block.m / at_least_one(self.warp.m),
            n: self.block.n / at_least_one(self.warp.n),
            k: self.block.k / at_least_one(self.warp.k),
        }
    }

    /// Returns the threads per block.
    pub const fn threads(&self) -> u32 {
        self.threads_per_warp_slice().saturating_mul(self.warps().k)
    }

    /// Returns the number of threads of one warp slice. With sliced K, the warps of a CTA have
    /// several warp slices, and each slice multiplies its own part of each k-tile.
    pub const fn threads_per_warp_slice(&self) -> u32 {
        let warps = self.warps();
        WARP.saturating_mul(warps.m).saturating_mul(warps.n)
    }

    /// Returns the thread tile along M and N.
    pub const fn thread(&self) -> [u32; 2] {
        [self.warp.m / at_least_one(self.lanes.m), self.warp.n / at_least_one(self.lanes.n)]
    }

    /// Returns the number of accumulators per thread.
    pub const fn accumulators(&self) -> u32 {
        let [m, n] = self.thread();
        m.saturating_mul(n)
    }

    /// Returns the place (along M, along N, along K) of a warp in its block. M runs fastest.
    pub const fn warp_place(&self, warp: u32) -> (u32, u32, u32) {
        let warps = self.warps();
        (warp % warps.m, warp / warps.m % warps.n, warp / warps.m / warps.n)
    }

    /// Returns the threads of a warp slice as CuTe modes (extent, stride) of the offset of their
    /// first accumulator, given the strides along M and N.
    pub(crate) fn modes(&self, [m, n]: [u32; 2]) -> Vec<(u32, u32)> {
        let ([run_m, run_n], warps) = (self.interleave, self.warps());
        let mut modes = self.lanes.modes([run_m * m, run_n * n]);
        modes.extend([(warps.m, self.warp.m * m), (warps.n, self.warp.n * n)]);
        modes
    }

    /// Returns the elements of a thread's fragment as CuTe modes of their offset from the first,
    /// given the stride of an element.
    pub(crate) const fn fragment_modes(
        &self,
        operand: OperandKind,
        stride: u32,
    ) -> [(u32, u32); 2] {
        let (side, lanes) = (operand.index(), [self.lanes.m, self.lanes.n]);
        let run = self.interleave[side];
        [(run, stride), (self.thread()[side] / run, lanes[side] * run * stride)]
    }
}

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
        let (warp, lane, extent, lanes) = match self.operand {
            OperandKind::A => (warp_m, lane_m, tiles.warp.m, tiles.lanes.m),
            OperandKind::B => (warp_n, lane_n, tiles.warp.n, tiles.lanes.n),
        };
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
