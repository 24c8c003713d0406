//! Operand tiles of a stage.

use crate::{
    numeric::ElementKind,
    shape::OperandKind,
    threadblock::{
        SwizzleMode, WarpSpecialized,
        smem::{Along, BoxedTile, SmemTile},
        tensor_map::CHUNK_BYTES,
    },
    warp::{MmaSyncKnobs, SimtKnobs, TiledMma, WgmmaKnobs, wgmma::OperandTile},
};

/// Tile of an operand in one stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StageTile {
    /// Tile that matrix descriptors address, or that the warpgroup loads to registers.
    Warpgroup(OperandTile),
    /// Tile that threads read.
    Threads {
        /// Type of the elements.
        element: ElementKind,
        /// Contiguous index.
        along: Along,
        /// Extent along M or N.
        mn: u32,
        /// Extent along K.
        k: u32,
        /// Extent along M or N of which a box is a multiple.
        multiple: u32,
        /// Swizzle that TMA applies.
        swizzle: SwizzleMode,
    },
}

impl StageTile {
    /// Tile without elements, of an unsupported MMA.
    const EMPTY: Self = Self::Threads {
        element: ElementKind::F32,
        along: Along::K,
        mn: 0,
        k: 0,
        multiple: 1,
        swizzle: SwizzleMode::None,
    };

    /// Returns the tile of an operand that an MMA reads.
    pub const fn read_by(mma: &TiledMma, operand: OperandKind) -> Self {
        match (mma, operand) {
            (TiledMma::Wgmma(mma, load), _) => WgmmaKnobs::stage_tile(mma, load, operand),
            (TiledMma::Simt(tiles), _) => SimtKnobs::stage_tile(tiles, operand),
            (TiledMma::MmaSync(tiles, instruction), _) => {
                MmaSyncKnobs::stage_tile(tiles, instruction, operand)
            }
            (TiledMma::Unsupported, _) => Self::EMPTY,
        }
    }

    /// Returns the contiguous index.
    pub const fn along(&self) -> Along {
        match self {
            Self::Warpgroup(tile) => tile.along(),
            Self::Threads { along, .. } => *along,
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
            Self::Threads { element, k, .. } => element.bytes_of(*k),
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
            Self::Threads { multiple, .. } => *multiple,
        }
    }

    /// Returns the fixed number of rows of A, or columns of B, per box. `None` if only
    /// the limit of TMA bounds the box.
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
            Self::Threads { swizzle, .. } => *swizzle,
        }
    }
}

impl WarpSpecialized {
    /// Returns the tile of an operand in one stage as threads read it: a sequence of TMA boxes.
    pub const fn boxed_tile(&self, operand: OperandKind) -> BoxedTile {
        let tile = self.tile(operand);
        // TMA moves chunks of 16 bytes by bits of the row. Only rows of the swizzle's width are
        // swizzled tiles of threads, so the lowest bits of the row move them.
        let (bits, base) = match tile {
            StageTile::Threads { element, swizzle, .. } if swizzle.bits() > 0 => {
                (swizzle.bits(), element.elements_in(CHUNK_BYTES).trailing_zeros())
            }
            _ => (0, 0),
        };
        let (along, mn, k) = (tile.along(), self.box_mn(operand), tile.k());
        let one = SmemTile { along, mn, k, padding: 0, bits, base, shift: 0 };
        BoxedTile { one, mn: tile.mn() }
    }
}
