//! Tiles of warps and threads, and the lanes of a warp, of MMAs in which a thread holds its own
//! accumulators: on CUDA cores and with `mma.sync`.
//!
//! Twin: `kernels/warp/thread_tiles.cuh`.

use crate::{
    arch::WARP,
    layout::{
        algebra::Composed,
        index_map::{Coord, affine},
    },
    numeric::ElementKind,
    shape::{Mnk, OperandKind, at_least_one},
};

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

/// Extents of one operand along its own axis, M of A or N of B.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperandExtents {
    /// Extent of the block's tile.
    pub block: u32,
    /// Extent of the warp tile.
    pub warp: u32,
    /// Lanes of a warp.
    pub lanes: u32,
}

impl ThreadTiles {
    /// Returns the extents of an operand.
    pub(crate) const fn extents(&self, operand: OperandKind) -> OperandExtents {
        let Self { block, warp, lanes, .. } = self;
        match operand {
            OperandKind::A => OperandExtents { block: block.m, warp: warp.m, lanes: lanes.m },
            OperandKind::B => OperandExtents { block: block.n, warp: warp.n, lanes: lanes.n },
        }
    }

    /// Returns the elements of D per store of a thread, if an access to memory can have `access`
    /// elements.
    pub const fn store_access(&self, access: u32) -> u32 {
        let run = self.interleave[1];
        if access < run { access } else { run }
    }

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

    /// Returns the columns of a warp tile before a lane's next run of neighbors begins.
    pub(crate) const fn run_of_lanes(&self) -> u32 {
        self.lanes.n * self.interleave[1]
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
