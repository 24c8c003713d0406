//! Lanes of a warp that share rows or columns of D, and the parts of sums that they add.
//!
//! Twin: `kernels/epilogue/lanes.cuh`.

use super::sums::SumOrder;
use crate::{
    layout::index_map::{Coord, IndexMap, at},
    nest::GemmDesc,
    shape::{EpilogueOperand, OperandKind, at_least_one},
    warp::{TiledMma, warpgroup::ROWS},
};

/// Registers of a thread that accumulators and reductions of columns may take together. With 220,
/// NVRTC 13 spilled.
const MOST_REGISTERS: u32 = 200;

impl GemmDesc {
    /// Returns whether a warpgroup keeps reductions of columns from one 64 rows of its tile to the
    /// next, so that the lanes join them once.
    pub(crate) fn keeps_columns(&self) -> bool {
        let (columns, rows) = (self.warp().n, self.warp().m);
        let of_columns = |operand: &EpilogueOperand| {
            operand.is_reduction() && operand.side() == Some(OperandKind::B)
        };
        let kept = self.epilogue.written().filter(of_columns).count() as u32 * (columns / 4);
        rows > ROWS && rows / ROWS * (columns / 2) + kept <= MOST_REGISTERS
    }
}

impl TiledMma {
    /// Returns the C++ type that knows which lanes share lines of D.
    pub(crate) const fn lanes(&self) -> &'static str {
        match self {
            Self::Simt(_) => "warp::MmaSimt<Config>::Lanes",
            Self::MmaSync(..) => "warp::MmaTensorOp<Config>::Lanes",
            Self::Wgmma(..) => "epilogue::ConsumerLanes<Config>",
            Self::Unsupported => "epilogue::UnsharedLines",
        }
    }
}

/// Map from a line of D to its part of a sum, over two tiles.
pub(crate) struct PartMap(pub SumOrder);

impl PartMap {
    /// Returns the index of a line's part within its tile. `None` if no part has the line.
    fn part(&self, line: u32) -> Option<u32> {
        let mut parts = self.0.parts.iter();
        let part =
            parts.position(|part| part.iter().flatten().flatten().any(|one| *one == line))?;
        u32::try_from(part).ok()
    }
}

impl IndexMap for PartMap {
    fn domain(&self) -> Coord {
        at(1, 2 * self.0.tile)
    }

    fn codomain(&self) -> u32 {
        2 * self.0.parts.len() as u32
    }

    fn at(&self, Coord { column: line, .. }: Coord) -> Option<u32> {
        let (tile, parts) = (at_least_one(self.0.tile), self.0.parts.len() as u32);
        Some(line / tile * parts + self.part(line % tile)?)
    }
}
