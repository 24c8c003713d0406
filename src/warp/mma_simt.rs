//! The outer product of a warp on the CUDA cores.
//!
//! The lanes of a warp form a grid, `lanes.m` x `lanes.n` = 32, chosen so that a thread's tile is as square as it can be:
//! it reads `tm + tn` elements for `tm * tn` products. The bits of the lane number alternate between M and N, so lanes (i, i^1)
//! read the same B and lanes (i, i^2) the same A, and a 16-byte access takes two wavefronts instead of four. A thread's
//! elements lie in runs of `interleave` neighbours, a run of each lane after the other:
//!
//! ```text
//! mn = (i / interleave) * lanes * interleave + lane * interleave + i mod interleave
//! ```
//!
//! Twin: `kernels/warp/mma_simt.cuh`. Source: PTX ISA, "ld.shared"; the phases of wide accesses are measured.

use crate::{
    desc::{GemmDesc, OperandDesc},
    index::{Coord, IndexMap},
    operand::OperandKind,
    schedule::{Fault, Lane},
    shape::Mnk,
    threadblock::thread_map::WARP,
};

/// The grid of lanes of a warp.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LaneArrangement {
    /// Lanes along M.
    pub m: u32,
    /// Lanes along N.
    pub n: u32,
}

impl LaneArrangement {
    /// The arrangement for a warp's tile: the least `tm + tn`, and of two such the one with more lanes along N.
    pub const fn of(warp_m: u32, warp_n: u32) -> Self {
        let mut best = Self { m: 1, n: WARP };
        let mut least = u32::MAX;
        let mut m = 1;
        while m <= WARP {
            let n = WARP / m;
            let sum = (warp_m / m).saturating_add(warp_n / n);
            if warp_m.is_multiple_of(m) && warp_n.is_multiple_of(n) && sum < least {
                least = sum;
                best = Self { m, n };
            }
            m *= 2;
        }
        best
    }

    /// The place (along M, along N) of a lane: its bits alternate, M first, while both have bits left.
    pub const fn place(&self, lane: u32) -> (u32, u32) {
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
}

/// The place (along M, along N, along K) of a warp in its block: M runs fastest.
pub const fn warp_place(d: &GemmDesc, warp: u32) -> (u32, u32, u32) {
    place_among(d.warps(), warp)
}

const fn place_among(warps: Mnk, warp: u32) -> (u32, u32, u32) {
    (warp % warps.m, warp / warps.m % warps.n, warp / warps.m / warps.n)
}

/// The map (thread, fragment element) to M of A's tile, or N of B's.
#[derive(Clone, Copy, Debug)]
pub struct FragmentMap {
    operand: OperandKind,
    facts: OperandDesc,
    warps: Mnk,
    arrangement: LaneArrangement,
}

impl FragmentMap {
    /// The map of one operand.
    #[inline]
    pub const fn of(desc: GemmDesc, operand: OperandKind) -> Self {
        Self { operand, facts: desc.operand(operand), warps: desc.warps(), arrangement: desc.lanes() }
    }

    /// Where element `i` of `thread`'s fragment lies along M or N of the block's tile.
    pub const fn mn(&self, thread: u32, i: u32) -> u32 {
        let (warp_m, warp_n, _) = place_among(self.warps, thread / WARP);
        let (lane_m, lane_n) = self.arrangement.place(thread % WARP);
        let (warp, lane) = match self.operand {
            OperandKind::A => (warp_m, lane_m),
            OperandKind::B => (warp_n, lane_n),
        };
        let run = self.facts.interleave();
        warp * self.facts.warp_mn + i / run * (self.facts.lanes * run) + lane * run + i % run
    }
}

impl IndexMap for FragmentMap {
    fn domain(&self) -> Coord {
        Coord { row: self.warps.m * self.warps.n * self.warps.k * WARP, column: self.facts.thread_mn() }
    }

    fn codomain(&self) -> u32 {
        self.facts.smem.mn
    }

    fn at(&self, point: Coord) -> Option<u32> {
        Some(self.mn(point.row, point.column))
    }
}

/// The map (thread, k-group) to K of the block's tile: each slice of warps has its own share.
#[derive(Clone, Copy, Debug)]
pub struct DepthMap(pub GemmDesc);

impl IndexMap for DepthMap {
    fn domain(&self) -> Coord {
        Coord { row: self.0.threads(), column: self.0.warp.k }
    }

    fn codomain(&self) -> u32 {
        self.0.threadblock.k
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let (_, _, slice) = warp_place(&self.0, point.row / WARP);
        Some(slice * self.0.warp.k + point.column)
    }
}

/// Loads both fragments of a k-group from shared memory.
pub(crate) fn load(group: u32, lane: &mut dyn Lane) -> Result<(), Fault> {
    for operand in OperandKind::BOTH {
        for i in 0..lane.operand(operand).thread_mn() {
            lane.load(operand, group, i)?;
        }
    }
    Ok(())
}
