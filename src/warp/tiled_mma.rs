//! The MMA of a CTA, in values of its components.

use crate::{
    layout::index_map::{IndexMap, Map, Tabled},
    numeric::{Instruction, emulation::RegisterTerms},
    shape::OperandKind,
    threadblock::{MmaBase, mma::program::Program},
    warp::{
        MmaSyncKnobs, SimtKnobs, ThreadTiles,
        mma_sync::WarpInstruction,
        thread_maps::FragmentMap,
        warpgroup::FragmentRows,
        wgmma::{FragmentLoad, MmaWarpgroup},
    },
};
use std::sync::Arc;

/// The MMA of a CTA, in values of its components.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TiledMma {
    /// CUDA cores: the tiles of the block, its warps, and its threads.
    Simt(ThreadTiles),
    /// `mma.sync`: the tiles, and the instruction of a warp.
    MmaSync(ThreadTiles, WarpInstruction),
    /// `wgmma`: the MMA of a stage, and the loads that move A to registers, if it comes from there.
    Wgmma(MmaWarpgroup, Option<FragmentLoad>),
    /// No MMA of a CTA without a producer. `check` refuses the description, so facts are arbitrary.
    Unsupported,
}

impl TiledMma {
    /// Returns the tiles of threads, or `None` for `wgmma`.
    pub const fn thread_tiles(&self) -> Option<&ThreadTiles> {
        match self {
            Self::Simt(tiles) | Self::MmaSync(tiles, _) => Some(tiles),
            Self::Wgmma(..) | Self::Unsupported => None,
        }
    }

    /// Returns the assignment of an instruction's rows to a thread's accumulators.
    pub(crate) const fn fragment_rows(&self) -> FragmentRows {
        match self {
            Self::Wgmma(_, Some(load)) => load.rows,
            _ => FragmentRows::Ordinary,
        }
    }
}

/// The MMA of a CTA without a producer. No such CTA multiplies with `wgmma`.
impl TiledMma {
    /// Returns the registers that a thread needs without spills.
    pub(crate) const fn registers(&self, base: &MmaBase) -> u32 {
        match self {
            Self::Simt(_) => SimtKnobs::registers(base),
            Self::MmaSync(..) => MmaSyncKnobs::registers(base),
            Self::Wgmma(..) | Self::Unsupported => 0,
        }
    }

    /// Returns the K extent of a k-block: the instruction's K, or 1 on CUDA cores.
    pub const fn step(&self) -> u32 {
        match self {
            Self::MmaSync(_, instruction) => instruction.shape().k,
            Self::Simt(_) | Self::Wgmma(..) | Self::Unsupported => 1,
        }
    }

    /// Returns whether an instruction of the whole warp reads fragments.
    pub const fn is_warp_wide(&self) -> bool {
        match self {
            Self::MmaSync(..) => true,
            Self::Simt(_) | Self::Wgmma(..) | Self::Unsupported => false,
        }
    }

    /// Returns whether integer sums saturate instead of wrapping.
    pub const fn saturates(&self) -> bool {
        match self {
            Self::MmaSync(_, instruction) => instruction.saturates(),
            Self::Simt(_) | Self::Wgmma(..) | Self::Unsupported => false,
        }
    }

    /// Returns the number of elements of an operand that a thread holds per k-block.
    pub(crate) const fn fragment_elements(&self, base: &MmaBase, operand: OperandKind) -> u32 {
        match self {
            Self::MmaSync(_, instruction) => {
                MmaSyncKnobs::fragment_elements(base, instruction, operand)
            }
            Self::Simt(_) | Self::Wgmma(..) | Self::Unsupported => {
                base.operand(operand).thread_mn()
            }
        }
    }

    /// Returns the elements per shared-memory access of a fragment load, and whether these elements
    /// are contiguous along K.
    pub const fn fragment_access(&self, base: &MmaBase, operand: OperandKind) -> (u32, bool) {
        match self {
            Self::MmaSync(..) => MmaSyncKnobs::fragment_access(base, operand),
            Self::Simt(_) | Self::Wgmma(..) | Self::Unsupported => {
                (base.operand(operand).fragment_access(), false)
            }
        }
    }

    /// Returns the number of fragments of B that a thread holds.
    pub(crate) const fn fragments_of_b(&self, base: &MmaBase) -> u32 {
        match self {
            Self::MmaSync(_, instruction) => MmaSyncKnobs::fragments_of_b(base, instruction),
            Self::Simt(_) | Self::Wgmma(..) | Self::Unsupported => 2,
        }
    }

    /// Returns the map of an operand's fragments as a table.
    pub(crate) fn fragment_map(&self, base: &MmaBase, operand: OperandKind) -> Map {
        match self {
            Self::MmaSync(_, instruction) => MmaSyncKnobs::fragment_map(base, instruction, operand),
            Self::Simt(_) | Self::Wgmma(..) | Self::Unsupported => {
                tabled(&FragmentMap::new(base.tiles, operand))
            }
        }
    }

    /// Returns the map of the rows that `ldmatrix` reads of an operand as a table. `None` if
    /// threads load their fragments without `ldmatrix`.
    pub(crate) fn row_map(&self, base: &MmaBase, operand: OperandKind) -> Option<Map> {
        match self {
            Self::MmaSync(..) => MmaSyncKnobs::row_map(base, operand),
            Self::Simt(_) | Self::Wgmma(..) | Self::Unsupported => None,
        }
    }

    /// Returns the arithmetic of the tensor-core instruction and the terms into which it decomposes
    /// fragments. `None` if every accumulator is a chain of fused multiply-adds.
    pub(crate) fn arithmetic(&self, program: &Program) -> Option<(Instruction, RegisterTerms)> {
        match self {
            Self::MmaSync(_, instruction) => MmaSyncKnobs::arithmetic(program, instruction),
            Self::Simt(_) | Self::Wgmma(..) | Self::Unsupported => None,
        }
    }
}

/// Returns a map as a table. The executor evaluates each point many times.
pub(crate) fn tabled(map: &dyn IndexMap) -> Map {
    Arc::new(Tabled::new(map))
}
