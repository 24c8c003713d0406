//! What a consumer multiplies with, and what lies in a stage for it.

use crate::{
    numeric::ElementKind,
    operand::OperandKind,
    smem::Along,
    threadblock::SwizzleMode,
    warp::{
        mma_simt::ThreadTiles,
        mma_warpgroup::{FragmentLoad, MmaWarpgroup, OperandA, OperandTile},
    },
};

/// What consumers multiply with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConsumerMma {
    /// Tensor cores: what a warpgroup does with a stage. Its tiles are the block's.
    Warpgroup(MmaWarpgroup),
    /// Tensor cores, with A in registers: what a warpgroup does with a stage, and how A comes
    /// there.
    Registers(MmaWarpgroup, FragmentLoad),
    /// CUDA cores: what threads do with a stage.
    Threads(ThreadTiles),
}

/// An operand's tile of one stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StageTile {
    /// As matrix descriptors reach it, or, of an A in registers, as a warpgroup brings it there:
    /// along M.
    Warpgroup(OperandTile),
    /// As threads read it: along MN, without a swizzle.
    Threads {
        /// Extent along M or N.
        mn: u32,
        /// Extent along K.
        k: u32,
        /// Extent of a warp's part, which lies in one box.
        warp_mn: u32,
    },
}

impl ConsumerMma {
    /// An operand's tile.
    pub const fn tile(&self, operand: OperandKind) -> StageTile {
        match (self, operand) {
            (Self::Warpgroup(mma), OperandKind::A) => match mma.a() {
                OperandA::Shared(tile) => StageTile::Warpgroup(tile),
                OperandA::Registers(_) => StageTile::Warpgroup(mma.b()),
            },
            (Self::Registers(_, load), OperandKind::A) => StageTile::Warpgroup(load.tile),
            (Self::Warpgroup(mma) | Self::Registers(mma, _), OperandKind::B) => {
                StageTile::Warpgroup(mma.b())
            }
            (Self::Threads(tiles), _) => {
                let (mn, warp_mn) = match operand {
                    OperandKind::A => (tiles.block.m, tiles.warp.m),
                    OperandKind::B => (tiles.block.n, tiles.warp.n),
                };
                StageTile::Threads { mn, k: tiles.block.k, warp_mn }
            }
        }
    }
}

impl StageTile {
    /// The contiguous index.
    pub const fn along(&self) -> Along {
        match self {
            Self::Warpgroup(tile) => tile.along(),
            Self::Threads { .. } => Along::Mn,
        }
    }

    /// Extent along M or N.
    pub const fn mn(&self) -> u32 {
        match self {
            Self::Warpgroup(tile) => tile.mn(),
            Self::Threads { mn, .. } => *mn,
        }
    }

    /// Extent along K.
    pub const fn k(&self) -> u32 {
        match self {
            Self::Warpgroup(tile) => tile.k(),
            Self::Threads { k, .. } => *k,
        }
    }

    /// Bytes of one row of A, or column of B, in all.
    pub const fn row_bytes(&self) -> u32 {
        match self {
            Self::Warpgroup(tile) => tile.bytes() / tile.mn(),
            Self::Threads { k, .. } => ElementKind::F32.bytes_of(*k),
        }
    }

    /// Its size.
    pub const fn bytes(&self) -> u32 {
        self.mn() * self.row_bytes()
    }

    /// What a box's rows of A, or columns of B, are a multiple of.
    pub const fn multiple(&self) -> u32 {
        match self {
            Self::Warpgroup(tile) => tile.multiple(),
            Self::Threads { warp_mn, .. } => *warp_mn,
        }
    }

    /// The rows of A, or columns of B, that each box has; `None` where it may have as many as TMA
    /// moves at once.
    pub const fn boxed(&self) -> Option<u32> {
        match self {
            // A box is as wide as the swizzle.
            Self::Warpgroup(tile) if tile.along().is(Along::Mn) => Some(tile.multiple()),
            _ => None,
        }
    }

    /// How TMA lays it.
    pub const fn swizzle(&self) -> SwizzleMode {
        match self {
            Self::Warpgroup(_) => SwizzleMode::Bytes128,
            Self::Threads { .. } => SwizzleMode::None,
        }
    }
}
