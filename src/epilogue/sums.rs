//! Sums of rows and of columns, in an order that the kernel fixes.
//!
//! The lines of an axis are cut into parts of equal extent. Within a part, each chain adds some of
//! its lines, one after another: those of one lane of a warp. Lanes then add their chains in pairs,
//! so four chains give `(c0 + c1) + (c2 + c3)`. The first kernel writes the sum of each part to the
//! workspace, and a second kernel adds the parts in ascending order. Lines outside of D are left
//! out.
//!
//! ```text
//! row_sum of wgmma    a part has the columns of a warp tile, and 4 chains
//! col_sum of wgmma    a part has 16 rows, and 8 chains of 2 rows
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
    shape::{Axis, EpilogueOperand, OperandKind, at_least_one},
    warp::{
        ThreadTiles,
        thread_maps::FragmentMap,
        warpgroup::{FragmentRows, WARP_ROWS},
    },
};

/// Threads per block of the kernel that adds parts. Small blocks spread the lines of one GEMM over
/// all multiprocessors.
pub(crate) const SUM_THREADS: u32 = 64;

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
    /// Lines per part.
    pub part: u32,
    /// The lines of each chain within a part, in the order of their additions. The number of chains
    /// is a power of two.
    pub chains: Vec<Vec<u32>>,
}

impl SumOrder {
    /// Returns the order of a kernel in its own frame: along M for A, along N for B.
    pub fn new(desc: &GemmDesc, along: OperandKind) -> Self {
        let multiplied = desc.multiplied();
        let mma = match multiplied.components() {
            Some(components) => components.mma,
            None => desc.base().mma,
        };
        let Some(tiles) = mma.thread_tiles() else {
            return Self::for_warpgroups(mma.fragment_rows(), along, desc.warp().n);
        };
        Self::for_threads(tiles, along)
    }

    /// Returns the order of threads that hold their own accumulators.
    fn for_threads(tiles: &ThreadTiles, along: OperandKind) -> Self {
        let extents = tiles.extents(along);
        let lanes = extents.lanes;
        let lane_of = |place: u32| {
            (0..32).find(|&lane| match along {
                OperandKind::A => tiles.lanes.place(lane) == (place, 0),
                OperandKind::B => tiles.lanes.place(lane) == (0, place),
            })
        };
        let map = FragmentMap::new(*tiles, along);
        let line = |place: u32, i: u32| map.mn(lane_of(place).unwrap_or(0), i);
        let each = extents.warp / at_least_one(lanes);
        let chain = |place: u32| (0..each).map(|i| line(place, i)).collect();
        Self { part: extents.warp, chains: (0..lanes).map(chain).collect() }
    }

    /// Returns the order of a warpgroup whose tile has `columns` columns.
    fn for_warpgroups(rows: FragmentRows, along: OperandKind, columns: u32) -> Self {
        match along {
            OperandKind::A => {
                let chain = |place: u32| [0, 1].map(|lower| rows.row(4 * place, lower)).to_vec();
                Self { part: WARP_ROWS, chains: (0..WARP_ROWS / 2).map(chain).collect() }
            }
            OperandKind::B => {
                let pair = |first: u32| [first, first + 1];
                let chain = |place: u32| -> Vec<u32> {
                    (0..columns / OCTET).flat_map(|octet| pair(octet * OCTET + 2 * place)).collect()
                };
                Self { part: columns, chains: (0..OCTET / 2).map(chain).collect() }
            }
        }
    }

    /// Returns the number of parts of an axis.
    pub fn parts(&self, extent: usize) -> usize {
        extent.div_ceil(at_least_one(self.part) as usize)
    }

    /// Adds the values of a line across the axis. `value` is the value at a place, and `add` adds
    /// it to a sum.
    pub fn sum<E: Copy + Default + core::ops::Add<Output = E>>(
        &self,
        extent: usize,
        value: impl Fn(usize) -> E,
        add: impl Fn(E, E) -> E,
    ) -> E {
        let mut total = E::default();
        let mut sums = vec![E::default(); self.chains.len()];
        for part in 0..self.parts(extent) {
            let first = part * self.part as usize;
            for (sum, chain) in sums.iter_mut().zip(&self.chains) {
                let places = chain.iter().map(|line| first + *line as usize);
                *sum = places
                    .filter(|place| *place < extent)
                    .fold(E::default(), |sum, place| add(sum, value(place)));
            }
            let mut apart = 1;
            while apart < sums.len() {
                for i in (0..sums.len() - apart).step_by(2 * apart) {
                    sums[i] = sums[i] + sums[i + apart];
                }
                apart *= 2;
            }
            total = total + sums[0];
        }
        total
    }
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
        self.lines.saturating_mul(self.products).div_ceil(SUM_THREADS as u64)
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
