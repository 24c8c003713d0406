//! Which block computes which tile of C.
//!
//! Blocks start in the order of their numbers, so the order decides which tiles of A and B are in the L2 cache together.
//! [`IdentitySwizzle<T>`](IdentitySwizzle) walks down columns of tiles, `T` columns abreast; [`HorizontalSwizzle`] walks along
//! rows. The last group of columns is as wide as is left, so no block is idle.
//!
//! ```text
//! IdentitySwizzle<1>    IdentitySwizzle<2>    HorizontalSwizzle
//!    0  3  6               0  1  6               0  1  2
//!    1  4  7               2  3  7               3  4  5
//!    2  5  8               4  5  8               6  7  8
//! ```
//!
//! Twin: `kernels/threadblock/swizzle.cuh`.

use crate::index::{Coord, IndexMap};

/// The order of tiles, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum SwizzleKind {
    /// Down columns of tiles, so many columns abreast.
    Identity(u32),
    /// Along rows of tiles.
    Horizontal,
}

impl SwizzleKind {
    /// Columns abreast; 0 stands for the horizontal order in the generated header.
    pub const fn abreast(self) -> u32 {
        match self {
            Self::Identity(tile) => tile,
            Self::Horizontal => 0,
        }
    }
}

/// The order of tiles, as a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an order of tiles",
    note = "write IdentitySwizzle<T> or HorizontalSwizzle"
)]
pub trait Swizzle: 'static {
    /// The same order, as a value.
    const KIND: SwizzleKind;
}

/// Down columns of tiles, `TILE` columns abreast.
#[derive(Clone, Copy, Debug)]
pub struct IdentitySwizzle<const TILE: u32>;

/// Along rows of tiles.
#[derive(Clone, Copy, Debug)]
pub struct HorizontalSwizzle;

impl<const TILE: u32> Swizzle for IdentitySwizzle<TILE> {
    const KIND: SwizzleKind = SwizzleKind::Identity(TILE);
}

impl Swizzle for HorizontalSwizzle {
    const KIND: SwizzleKind = SwizzleKind::Horizontal;
}

/// The map (0, block) to the number of a tile: `row of tiles * columns + column of tiles`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TileOrder {
    /// The order.
    pub kind: SwizzleKind,
    /// Tiles down C.
    pub rows: u32,
    /// Tiles across C.
    pub columns: u32,
}

impl TileOrder {
    /// The tile (row, column) of a block.
    pub const fn tile(&self, block: u32) -> (u32, u32) {
        match self.kind {
            SwizzleKind::Horizontal => (block / self.columns, block % self.columns),
            SwizzleKind::Identity(abreast) => {
                let group = block / (self.rows * abreast);
                let left = self.columns - group * abreast;
                let width = if left < abreast { left } else { abreast };
                let within = block - group * self.rows * abreast;
                (within / width, group * abreast + within % width)
            }
        }
    }
}

impl IndexMap for TileOrder {
    fn domain(&self) -> Coord {
        Coord { row: 1, column: self.rows * self.columns }
    }

    fn codomain(&self) -> u32 {
        self.rows * self.columns
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let (row, column) = self.tile(point.column);
        Some(row * self.columns + column)
    }
}
