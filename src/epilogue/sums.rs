//! Sums of rows and of columns, in an order that the kernel fixes.
//!
//! The lines of an axis are cut into tiles of equal extent, and a tile has one or more parts.
//! Within a part, each chain adds some of its lines, one after another: those of one lane of a
//! warp. Lanes then add their chains in pairs, so four chains give `(c0 + c1) + (c2 + c3)`. If a
//! thread cannot keep all chains of a part, lanes join the chains of some lines at a time, and the
//! part adds these joined chains, one after another. The first kernel writes the sum of each part
//! to the workspace. A second kernel adds the parts of a line: thread `i` of 8 adds the parts `i`,
//! `i + 8`, .., and the threads add their sums in pairs. Lines outside of D are left out.
//!
//! ```text
//! row_sum of wgmma    a part has the columns of a consumer's tile, and 4 chains
//! col_sum of wgmma    a part has the rows of one warp in a consumer's tile: 8 chains of 2 in each
//!                     64 rows, which lanes join after each 64 rows or after the last of them
//! other MMAs          a part is a warp tile, and a chain is a lane along the axis
//! ```
//!
//! A sum of squares adds with fused multiply-add, one rounding per element.
//!
//! Twin: `kernels/epilogue/sums.cuh`.

use super::EpilogueDesc;
use crate::{
    nest::GemmDesc,
    numeric::ElementKind,
    shape::{Axis, EpilogueOperand, Mnk, OperandKind, at_least_one},
    warp::{
        OperandExtents, ThreadTiles,
        thread_maps::FragmentMap,
        warpgroup::{FragmentRows, ROWS, WARP_ROWS},
    },
};

/// Threads that add the parts of one line, and lines of a block of the kernel that adds parts.
const CHAINS: usize = 8;
const LINES: u32 = 32;

/// Threads per block of the kernel that adds parts.
pub(crate) const SUM_THREADS: u32 = CHAINS as u32 * LINES;

/// The constants in C++.
pub(super) const SUM_FACTS: [(&str, u32); 2] =
    [("kSumChains", CHAINS as u32), ("kSumLines", LINES)];

/// Columns of an octet, which four lanes of a warpgroup share.
const OCTET: u32 = 8;

impl EpilogueDesc {
    /// Returns the number of a sum among the sums that the tree writes, in the order of
    /// [`EpilogueOperand::SUMS`]. `None` for another operand.
    pub(super) fn sum_number(&self, operand: EpilogueOperand) -> Option<usize> {
        let mut written = EpilogueOperand::SUMS.into_iter().filter(|sum| self.writes(*sum));
        written.position(|sum| sum == operand)
    }

    /// Returns the first sum whose additions run along an axis of D: sums of rows along N.
    pub(crate) fn sum_along(&self, axis: Axis) -> Option<EpilogueOperand> {
        let side = match axis {
            Axis::M => OperandKind::B,
            Axis::N => OperandKind::A,
            Axis::K => return None,
        };
        self.written().find(|operand| operand.is_sum() && operand.side() == Some(side))
    }
}

/// Order of the additions in a sum along one axis of D.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SumOrder {
    /// Lines per tile.
    pub tile: u32,
    /// The parts of a tile. Each part adds its joined chains in this order.
    pub parts: Vec<Vec<JoinedChains>>,
}

/// Chains that lanes join in pairs: the lines of each chain, relative to the tile, in the order of
/// their additions. Their number is a power of two.
pub type JoinedChains = Vec<Vec<u32>>;

impl SumOrder {
    /// Returns the order of a kernel in its own frame: along M for A, along N for B.
    pub fn new(desc: &GemmDesc, along: OperandKind) -> Self {
        let mma = desc.tiled_mma();
        match mma.thread_tiles() {
            Some(tiles) => Self::for_threads(tiles, along),
            None => {
                let (Mnk { m, n, .. }, rows) = (desc.warp(), mma.fragment_rows());
                match along {
                    OperandKind::A => {
                        Self::down_warpgroups(rows, m, if desc.keeps_columns() { m } else { ROWS })
                    }
                    OperandKind::B => Self::across_warpgroups(n),
                }
            }
        }
    }

    /// Returns the order of threads that hold their own accumulators.
    fn for_threads(tiles: &ThreadTiles, along: OperandKind) -> Self {
        let OperandExtents { warp, lanes, .. } = tiles.extents(along);
        let lane_of = |place: u32| {
            (0..32).find(|&lane| match along {
                OperandKind::A => tiles.lanes.place(lane) == (place, 0),
                OperandKind::B => tiles.lanes.place(lane) == (0, place),
            })
        };
        let map = FragmentMap::new(*tiles, along);
        let each = warp / at_least_one(lanes);
        let chain = |place: u32| {
            let lane = lane_of(place).unwrap_or(0);
            (0..each).map(|i| map.mn(lane, i)).collect()
        };
        Self { tile: warp, parts: vec![vec![(0..lanes).map(chain).collect()]] }
    }

    /// Returns the order of a warpgroup along M. Its tile has `m` rows, and its lanes join their
    /// chains after each `joined` rows.
    fn down_warpgroups(rows: FragmentRows, m: u32, joined: u32) -> Self {
        let chain = |first: u32, lane: u32| -> Vec<u32> {
            (first..first + joined)
                .step_by(ROWS as usize)
                .flat_map(|first| [0, 1].map(|lower| first + rows.row(4 * lane, lower)))
                .collect()
        };
        let part = |part: u32| {
            (part * WARP_ROWS..m)
                .step_by(at_least_one(joined) as usize)
                .map(|first| (0..WARP_ROWS / 2).map(|lane| chain(first, lane)).collect())
                .collect()
        };
        Self { tile: m, parts: (0..ROWS / WARP_ROWS).map(part).collect() }
    }

    /// Returns the order of a warpgroup along N, whose tile has `n` columns.
    fn across_warpgroups(n: u32) -> Self {
        let chain = |lane: u32| -> Vec<u32> {
            let pair = |octet: u32| [0, 1].map(|i| octet * OCTET + 2 * lane + i);
            (0..n / OCTET).flat_map(pair).collect()
        };
        Self { tile: n, parts: vec![vec![(0..OCTET / 2).map(chain).collect()]] }
    }

    /// Returns the number of parts of an axis.
    pub fn parts(&self, extent: usize) -> usize {
        extent.div_ceil(at_least_one(self.tile) as usize) * self.parts.len()
    }

    /// Adds the values of a line across the axis. `value` is the value at a place, and `add` adds
    /// it to a sum.
    pub fn sum<E: Copy + Default + core::ops::Add<Output = E>>(
        &self,
        extent: usize,
        value: impl Fn(usize) -> E,
        add: impl Fn(E, E) -> E,
    ) -> E {
        let mut totals = [E::default(); CHAINS];
        for number in 0..self.parts(extent) {
            let (tile, part) = (number / self.parts.len(), &self.parts[number % self.parts.len()]);
            let first = tile * self.tile as usize;
            let chain = |chain: &Vec<u32>| {
                let places = chain.iter().map(|line| first + *line as usize);
                let inside = places.filter(|place| *place < extent);
                inside.fold(E::default(), |sum, place| add(sum, value(place)))
            };
            let joined =
                |chains: &JoinedChains| in_pairs(&mut chains.iter().map(chain).collect::<Vec<_>>());
            let of_part = part.iter().map(joined).fold(E::default(), |sum, joined| sum + joined);
            let total = &mut totals[number % CHAINS];
            *total = *total + of_part;
        }
        in_pairs(&mut totals)
    }
}

/// Adds neighbors, then sums of neighbors, until one is left. The number of values is a power of
/// two.
fn in_pairs<E: Copy + core::ops::Add<Output = E>>(values: &mut [E]) -> E {
    let mut apart = 1;
    while apart < values.len() {
        for i in (0..values.len() - apart).step_by(2 * apart) {
            values[i] = values[i] + values[i + apart];
        }
        apart *= 2;
    }
    values[0]
}

/// The parts of one sum in the workspace: for each GEMM, part, and line, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SumParts {
    /// The sum.
    pub operand: EpilogueOperand,
    /// Lines of one GEMM that have a sum.
    pub lines: u64,
    /// Parts per line.
    pub parts: u64,
    /// GEMMs with sums of their own.
    pub products: u64,
}

impl SumParts {
    /// Returns the sums of an epilogue, for `products` m x n outputs in the kernel's frame.
    pub fn for_outputs(
        desc: &GemmDesc,
        (m, n): (usize, usize),
        products: usize,
    ) -> impl Iterator<Item = Self> {
        let written = |operand: &EpilogueOperand| desc.epilogue.writes(*operand);
        EpilogueOperand::SUMS.into_iter().filter(written).map(move |operand| {
            let (along, lines, extent) = match operand.side() {
                Some(OperandKind::A) => (OperandKind::B, m, n),
                _ => (OperandKind::A, n, m),
            };
            let parts = SumOrder::new(desc, along).parts(extent);
            Self { operand, lines: lines as u64, parts: parts as u64, products: products as u64 }
        })
    }

    /// Returns the blocks of the second kernel that add the parts.
    pub const fn blocks(&self) -> u64 {
        self.lines.saturating_mul(self.products).div_ceil(LINES as u64)
    }

    /// Returns the number of values of all parts.
    pub const fn values(&self) -> u64 {
        self.lines.saturating_mul(self.parts).saturating_mul(self.products)
    }

    /// Returns the size of the parts in bytes.
    pub const fn bytes(&self, element: ElementKind) -> u64 {
        element.matrix_bytes(self.values())
    }
}
