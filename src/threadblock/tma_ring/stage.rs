//! MMA of a consumer, and the operand tiles of a stage.

use crate::{
    numeric::ElementKind,
    operand::OperandKind,
    smem::Along,
    threadblock::SwizzleMode,
    warp::{
        simt::maps::ThreadTiles,
        wgmma::{FragmentLoad, MmaWarpgroup, OperandA, OperandTile},
    },
};

/// MMA of the consumers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConsumerMma {
    /// Tensor cores with both operands in shared memory. The tiles are the block's tiles.
    Warpgroup(MmaWarpgroup),
    /// Tensor cores with A in registers: the MMA, and the loads that move A to registers.
    Registers(MmaWarpgroup, FragmentLoad),
    /// CUDA cores: the tiles of the block, its warps, and its threads.
    Threads(ThreadTiles),
}

/// Tile of an operand in one stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StageTile {
    /// Tile that matrix descriptors address. For an A operand in registers, it is the M-major tile
    /// that the warpgroup loads.
    Warpgroup(OperandTile),
    /// Tile that threads read: MN-major, without a swizzle.
    Threads {
        /// Extent along M or N.
        mn: u32,
        /// Extent along K.
        k: u32,
        /// Extent of a warp's part along M or N. The part lies in one box.
        warp_mn: u32,
    },
}

impl ConsumerMma {
    /// Returns the tile of an operand.
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
    /// Returns the contiguous index.
    pub const fn along(&self) -> Along {
        match self {
            Self::Warpgroup(tile) => tile.along(),
            Self::Threads { .. } => Along::Mn,
        }
    }

    /// Returns the extent along M or N.
    pub const fn mn(&self) -> u32 {
        match self {
            Self::Warpgroup(tile) => tile.mn(),
            Self::Threads { mn, .. } => *mn,
        }
    }

    /// Returns the extent along K.
    pub const fn k(&self) -> u32 {
        match self {
            Self::Warpgroup(tile) => tile.k(),
            Self::Threads { k, .. } => *k,
        }
    }

    /// Returns the size of one row of A, or column of B, in bytes.
    pub const fn row_bytes(&self) -> u32 {
        match self {
            Self::Warpgroup(tile) => tile.bytes() / tile.mn(),
            Self::Threads { k, .. } => ElementKind::F32.bytes_of(*k),
        }
    }

    /// Returns the size of the tile in bytes.
    pub const fn bytes(&self) -> u32 {
        self.mn() * self.row_bytes()
    }

    /// Returns the number of which a box's rows of A, or columns of B, are a multiple.
    pub const fn multiple(&self) -> u32 {
        match self {
            Self::Warpgroup(tile) => tile.multiple(),
            Self::Threads { warp_mn, .. } => *warp_mn,
        }
    }

    /// Returns the fixed number of rows of A, or columns of B, per box. `None` if the limit of TMA
    /// alone bounds the box.
    pub const fn boxed(&self) -> Option<u32> {
        match self {
            // A box is as wide as the swizzle.
            Self::Warpgroup(tile) if tile.along().is(Along::Mn) => Some(tile.multiple()),
            _ => None,
        }
    }

    /// Returns the swizzle that TMA applies.
    pub const fn swizzle(&self) -> SwizzleMode {
        match self {
            Self::Warpgroup(_) => SwizzleMode::Bytes128,
            Self::Threads { .. } => SwizzleMode::None,
        }
    }
}
