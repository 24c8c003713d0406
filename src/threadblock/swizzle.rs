//! Rasterization order of the tiles of C.
//!
//! Blocks start in the order of their indices. The order of tiles therefore determines which tiles
//! of A and B share the L2 cache. [`Identity(T)`](SwizzleKind::Identity) walks down the columns of
//! tiles, in groups of `T` columns. [`Horizontal`](SwizzleKind::Horizontal) walks along the rows,
//! and [`Grouped(T)`](SwizzleKind::Grouped) along the rows in groups of `T` rows.
//! [`Hilbert`](SwizzleKind::Hilbert) walks space-filling curves, so tiles that are close in time
//! are close along both axes. The last group is as narrow as the remainder, so no block idles.
//!
//! ```text
//!    Identity(1)           Identity(2)          Horizontal          Grouped(2)          Hilbert
//!    0  3  6               0  1  6               0  1  2              0  2  4              0  3  4
//!    1  4  7               2  3  7               3  4  5              1  3  5              1  2  5
//!    2  5  8               4  5  8               6  7  8              6  7  8              6  7  8
//! ```
//!
//! Twin: `kernels/threadblock/swizzle.cuh`.

use crate::{
    layout::{
        algebra::Composed,
        index_map::{Coord, IndexMap, affine},
    },
    nest::words::Words,
    threadblock::SwizzleId,
};
use core::fmt;

/// Rasterization order of tiles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum SwizzleKind {
    /// Down the columns of tiles, in groups of this many columns.
    Identity(u32),
    /// Along the rows of tiles.
    Horizontal,
    /// Along the rows of tiles, in groups of this many rows.
    Grouped(u32),
    /// Hilbert curves in squares, which are ordered row by row. Tiles outside the squares come
    /// last, row by row.
    Hilbert,
    /// A user's [`ThreadblockSwizzle`](crate::threadblock::ThreadblockSwizzle).
    User(SwizzleId),
}

impl Words for SwizzleKind {
    const FORM: &'static str = "N|horizontal|grouped:N|hilbert|swizzle_HASH";

    fn read(text: &str) -> Result<Self, String> {
        let rows = text.strip_prefix("grouped:").and_then(|rows| rows.parse().ok());
        if let Some(id) = SwizzleId::from_words(text) {
            return Ok(Self::User(id));
        }
        match (text, text.parse(), rows) {
            ("horizontal", ..) => Ok(Self::Horizontal),
            ("hilbert", ..) => Ok(Self::Hilbert),
            (_, Ok(group_size), _) => Ok(Self::Identity(group_size)),
            (_, _, Some(rows)) => Ok(Self::Grouped(rows)),
            _ => {
                Err("the value must be a group size in columns of tiles, horizontal, grouped:N with groups of N rows, hilbert, or the identifier of a registered order"
                    .to_owned())
            }
        }
    }

    fn spell(&self) -> String {
        match self {
            Self::Identity(group_size) => group_size.to_string(),
            Self::Horizontal => "horizontal".to_owned(),
            Self::Grouped(rows) => format!("grouped:{rows}"),
            Self::Hilbert => "hilbert".to_owned(),
            Self::User(id) => id.to_string(),
        }
    }
}

/// Maximum side of a Hilbert square in tiles. With 16, the 132 blocks of an H200 are about half a
/// square.
#[doc(hidden)]
pub const HILBERT_SIDE: u32 = 16;

impl SwizzleKind {
    /// Returns the name and the number in the generated header. The number is the group size or the
    /// side of a Hilbert square.
    pub const fn spelled(self) -> (&'static str, u32) {
        match self {
            Self::Identity(tile) => ("Identity", tile),
            Self::Horizontal => ("Grouped", 1),
            Self::Grouped(tile) => ("Grouped", tile),
            Self::Hilbert => ("Hilbert", HILBERT_SIDE),
            Self::User(_) => ("User", 0),
        }
    }

    /// Returns the group size if the order has one.
    pub(crate) const fn group_size(self) -> Option<u32> {
        match self {
            Self::Identity(tile) | Self::Grouped(tile) => Some(tile),
            Self::Horizontal | Self::Hilbert | Self::User(_) => None,
        }
    }

    /// Returns the user's order.
    pub(crate) const fn user(self) -> Option<SwizzleId> {
        match self {
            Self::User(id) => Some(id),
            _ => None,
        }
    }
}

impl fmt::Display for SwizzleKind {
    /// Writes the order as in a configuration name: the group size in columns, `0` for rows, `r4`
    /// for groups of four rows, `h`, or the identifier of a user's order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity(tile) => write!(f, "{tile}"),
            Self::Horizontal => f.write_str("0"),
            Self::Grouped(tile) => write!(f, "r{tile}"),
            Self::Hilbert => f.write_str("h"),
            Self::User(id) => id.fmt(f),
        }
    }
}

/// Map from (0, block) to the index of a tile: `row of tiles * columns + column of tiles`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[doc(hidden)]
pub struct TileOrder {
    /// Rasterization order.
    pub kind: SwizzleKind,
    /// Number of tiles along M.
    pub rows: u32,
    /// Number of tiles along N.
    pub columns: u32,
}

impl TileOrder {
    /// Returns the (row, column) of a block's tile.
    pub fn tile(&self, block: u32) -> (u32, u32) {
        match self.kind {
            SwizzleKind::Horizontal => (block / self.columns, block % self.columns),
            SwizzleKind::Identity(group_size) => {
                grouped(block, group_size, self.rows, self.columns)
            }
            SwizzleKind::Grouped(group_size) => {
                let (along, across) = grouped(block, group_size, self.columns, self.rows);
                (across, along)
            }
            SwizzleKind::Hilbert => self.hilbert(block),
            SwizzleKind::User(id) => id.tile(block, (self.rows, self.columns)),
        }
    }

    /// Returns the order as CuTe modes (extent, stride) over block indices, given the strides of a
    /// tile step down and across. `None` for Hilbert curves, for users' orders, and if the last
    /// group is narrower than the others.
    pub(crate) fn modes(&self, [down, across]: [u32; 2]) -> Option<[(u32, u32); 3]> {
        let grouped = |group_size: u32, places, lines: u32, [place, line]: [u32; 2]| {
            let group_size = group_size.min(lines);
            let modes = [
                (group_size, line),
                (places, place),
                (lines.checked_div(group_size)?, group_size * line),
            ];
            lines.is_multiple_of(group_size).then_some(modes)
        };
        match self.kind {
            SwizzleKind::Horizontal => grouped(1, self.columns, self.rows, [across, down]),
            SwizzleKind::Identity(group_size) => {
                grouped(group_size, self.rows, self.columns, [down, across])
            }
            SwizzleKind::Grouped(group_size) => {
                grouped(group_size, self.columns, self.rows, [across, down])
            }
            SwizzleKind::Hilbert | SwizzleKind::User(_) => None,
        }
    }

    /// Returns the side of the squares: the largest power of two up to [`HILBERT_SIDE`] that fits
    /// both extents.
    const fn side(&self) -> u32 {
        let mut side = HILBERT_SIDE;
        while side > 1 && (side > self.rows || side > self.columns) {
            side /= 2;
        }
        side
    }

    const fn hilbert(&self, block: u32) -> (u32, u32) {
        let side = self.side();
        let (down, across) = (self.rows / side, self.columns / side);
        let squares = down * across * side * side;
        if block >= squares {
            // Tiles to the right of the squares come first, then the tiles below them.
            let (rest, width) = (block - squares, self.columns - across * side);
            let right = width * down * side;
            return if rest < right {
                (rest / width, across * side + rest % width)
            } else {
                (down * side + (rest - right) / self.columns, (rest - right) % self.columns)
            };
        }
        let (square, within) = (block / (side * side), block % (side * side));
        let (row, column) = on_curve(within, side);
        (square / across * side + row, square % across * side + column)
    }
}

/// Returns the place and the line of a block if lines are walked in groups of `group_size` lines
/// with `places` places each. All lines of a group are visited before the next place.
const fn grouped(block: u32, group_size: u32, places: u32, lines: u32) -> (u32, u32) {
    let group = block / (places * group_size);
    let left = lines - group * group_size;
    let width = if left < group_size { left } else { group_size };
    let within = block - group * places * group_size;
    (within / width, group * group_size + within % width)
}

/// Returns the (row, column) of a step of Hilbert's curve through a square. `side` is a power of
/// two.
///
/// Source: D. Hilbert, "Ueber die stetige Abbildung einer Linie auf ein Flaechenstueck" (1891): a
/// square consists of four squares, of which the first and the last are mirrored about a diagonal
/// each.
const fn on_curve(step: u32, side: u32) -> (u32, u32) {
    let (mut row, mut column, mut rest, mut s) = (0, 0, step, 1);
    while s < side {
        let (right, down) = (1 & (rest / 2), 1 & (rest ^ (rest / 2)));
        if down == 0 {
            if right == 1 {
                (row, column) = (s - 1 - row, s - 1 - column);
            }
            (row, column) = (column, row);
        }
        row += s * down;
        column += s * right;
        rest /= 4;
        s *= 2;
    }
    (row, column)
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

    fn layout(&self) -> Option<Composed> {
        affine(self.domain(), &[(1, 0)], &self.modes([self.columns, 1])?)
    }
}
