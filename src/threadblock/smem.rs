//! Shared-memory layout of an operand's tile.
//!
//! A tile of A is M x K, and a tile of B is N x K; `mn` stands for M or N. Rows are contiguous
//! along K or along MN:
//!
//! ```text
//! along MN:   offset = k  * (tile_mn + padding) + (mn ^ swizzle(k))
//! along K:    offset = mn * (tile_k  + padding) + (k  ^ swizzle(mn))
//!
//! swizzle(row) = ((row >> shift) mod 2^bits) << base         bits of the row move chunks of 2^base elements
//! ```
//!
//! If the operand is K-major in global memory, a transposing store writes `together` k's of each
//! mn. One phase of this store moves 128 bytes, or 32 elements if these have fewer bytes. It
//! consists of an equal piece of each k, from neighboring mn's. The pieces use different banks if
//! the row pitch is an odd number of pieces. Pieces have at least 16 bytes, so that vectors stay
//! aligned:
//!
//! ```text
//! piece = max(least, min(128, 32 element_bytes) / together)      pitch = the least odd multiple of a piece that holds a row
//! ```
//!
//! A row of 128 `f32` is therefore 16 bytes longer if a store writes eight k's together. A row of
//! 128 `f64` is 32 bytes longer if it writes four. Sixteen k's of 16-bit elements need pieces of 8
//! bytes to use different banks. `least` is 16. It is 8 for these elements with `f16` accumulators,
//! whose fragments then load 8 bytes at a time.
//!
//! ```
//! # use falchion::{internals::index::{IndexMap, at}, threadblock::{Along, SmemTile}};
//! let tile = SmemTile { along: Along::Mn, mn: 128, k: 8, padding: 4, bits: 0, base: 0, shift: 0 };
//! assert_eq!(tile.at(at(3, 2)), Some(2 * 132 + 3));
//! ```
//!
//! Twin: `kernels/threadblock/smem.cuh`.

mod swizzle_mode;

pub use swizzle_mode::{CHUNK_BYTES, SwizzleMode};

use crate::{
    arch::WARP,
    layout::{
        algebra::{Composed, Swizzle},
        index_map::{Coord, IndexMap, affine},
    },
    numeric::ElementKind,
    shape::at_least_one,
};

/// Contiguous index of an operand's tile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Along {
    /// M for A, N for B.
    Mn,
    /// K.
    K,
}

/// Size of a wavefront of shared memory in bytes: one 4-byte word from each of the 32 banks.
pub const WAVEFRONT_BYTES: u32 = 128;

/// Size of the widest access in bytes.
pub(crate) const WIDEST_ACCESS: u32 = 16;

impl Along {
    /// Returns whether both are equal, for use in `const fn`s.
    pub const fn is(self, other: Self) -> bool {
        self as u8 == other as u8
    }
}

/// Choice of a shared-memory layout, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SmemLayout {
    /// MN-major. If the operand is K-major in global memory, the rows are padded so that its stores
    /// have no bank conflicts.
    Auto,
    /// Rows with padding.
    Padded {
        /// Contiguous index.
        along: Along,
        /// Padding between rows in elements.
        padding: u32,
    },
    /// Chunks of `2^base` elements, permuted by `bits` bits of the row from bit `shift` on.
    Swizzled {
        /// Contiguous index.
        along: Along,
        /// Number of row bits that permute chunks.
        bits: u32,
        /// Binary logarithm of the elements per chunk.
        base: u32,
        /// Lowest row bit that permutes chunks.
        shift: u32,
    },
}

impl SmemLayout {
    /// Returns the contiguous index.
    pub const fn along(self) -> Along {
        match self {
            Self::Auto => Along::Mn,
            Self::Padded { along, .. } | Self::Swizzled { along, .. } => along,
        }
    }
}

/// Choice of a shared-memory layout, as a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layout of shared memory",
    note = "write SmemAuto, SmemPadded<ALONG_K, PADDING> or SmemSwizzled<ALONG_K, BITS, BASE, SHIFT>"
)]
pub trait SmemChoice: 'static {
    /// Choice as a value.
    const LAYOUT: SmemLayout;
}

/// Type of [`SmemLayout::Auto`].
#[derive(Clone, Copy, Debug)]
pub struct SmemAuto;

/// Type of [`SmemLayout::Padded`], K-major or MN-major.
#[derive(Clone, Copy, Debug)]
pub struct SmemPadded<const ALONG_K: bool, const PADDING: u32>;

/// Type of [`SmemLayout::Swizzled`], K-major or MN-major.
#[derive(Clone, Copy, Debug)]
pub struct SmemSwizzled<const ALONG_K: bool, const BITS: u32, const BASE: u32, const SHIFT: u32>;

const fn along(k: bool) -> Along {
    if k { Along::K } else { Along::Mn }
}

impl SmemChoice for SmemAuto {
    const LAYOUT: SmemLayout = SmemLayout::Auto;
}

impl<const ALONG_K: bool, const PADDING: u32> SmemChoice for SmemPadded<ALONG_K, PADDING> {
    const LAYOUT: SmemLayout = SmemLayout::Padded { along: along(ALONG_K), padding: PADDING };
}

impl<const ALONG_K: bool, const BITS: u32, const BASE: u32, const SHIFT: u32> SmemChoice
    for SmemSwizzled<ALONG_K, BITS, BASE, SHIFT>
{
    const LAYOUT: SmemLayout =
        SmemLayout::Swizzled { along: along(ALONG_K), bits: BITS, base: BASE, shift: SHIFT };
}

/// Tile of one operand in shared memory: a map from (mn, k) to an offset in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[doc(hidden)]
pub struct SmemTile {
    /// Contiguous index.
    pub along: Along,
    /// Extent along M or N.
    pub mn: u32,
    /// Extent along K.
    pub k: u32,
    /// Padding between rows in elements.
    pub padding: u32,
    /// Number of row bits that permute chunks.
    pub bits: u32,
    /// Binary logarithm of the elements per chunk.
    pub base: u32,
    /// Lowest row bit that permutes chunks.
    pub shift: u32,
}

impl SmemTile {
    /// Returns the layout for a tile of `mn` x `k` elements. `transposed` holds the number of k's
    /// that a transposing store of a warp writes together, and the minimum bytes per piece; `None`
    /// if stores do not transpose.
    pub const fn new(
        choice: SmemLayout,
        mn: u32,
        k: u32,
        element: ElementKind,
        transposed: Option<(u32, u32)>,
    ) -> Self {
        let plain = Self { along: choice.along(), mn, k, padding: 0, bits: 0, base: 0, shift: 0 };
        match (choice, transposed) {
            (SmemLayout::Auto, None) => plain,
            (SmemLayout::Auto, Some(pieces)) => {
                Self { padding: spread(mn, element, pieces), ..plain }
            }
            (SmemLayout::Padded { padding, .. }, _) => Self { padding, ..plain },
            (SmemLayout::Swizzled { bits, base, shift, .. }, _) => {
                Self { bits, base, shift, ..plain }
            }
        }
    }

    /// Returns the extent of the contiguous index.
    pub const fn row(&self) -> u32 {
        match self.along {
            Along::Mn => self.mn,
            Along::K => self.k,
        }
    }

    /// Returns the facts that define the twin in the kernels.
    pub(crate) const fn facts(&self) -> [(&'static str, u32); 6] {
        let Self { mn, k, bits, base, shift, .. } = *self;
        let swizzle = [("kSwizzleBits", bits), ("kSwizzleBase", base), ("kSwizzleShift", shift)];
        [
            ("kTileMn", mn),
            ("kTileK", k),
            ("kPitch", self.pitch()),
            swizzle[0],
            swizzle[1],
            swizzle[2],
        ]
    }

    /// Returns the distance between rows in elements.
    pub const fn pitch(&self) -> u32 {
        self.row().saturating_add(self.padding)
    }

    /// Returns the number of elements per stage, including padding.
    pub const fn elements(&self) -> u32 {
        let rows = match self.along {
            Along::Mn => self.k,
            Along::K => self.mn,
        };
        self.pitch().saturating_mul(rows)
    }

    /// Returns the largest power of two up to `limit` such that vectors of this many elements along
    /// the contiguous index are contiguous and aligned.
    pub const fn vector(&self, limit: u32) -> u32 {
        let mut vector = limit;
        while vector > 1
            && !(self.pitch().is_multiple_of(vector)
                && (self.bits == 0 || self.base > 31 || vector <= 1 << self.base))
        {
            vector /= 2;
        }
        vector
    }

    /// Returns the offset of element (`mn`, `k`) in elements.
    pub const fn offset(&self, mn: u32, k: u32) -> u32 {
        let (row, column) = match self.along {
            Along::Mn => (k, mn),
            Along::K => (mn, k),
        };
        row * self.pitch()
            + (column ^ (((row >> self.shift) & ((1 << self.bits) - 1)) << self.base))
    }

    /// Returns the CuTe layout of a tile of `mn` x `k` elements that consists of such boxes,
    /// ordered along K first and then along MN.
    ///
    /// CuTe's swizzle reads bits of the offset. They equal bits of the row only if the pitch is a
    /// power of two, chunks do not cross it, and each box begins at a multiple of the swizzle's
    /// period. Otherwise, a swizzled tile has no layout.
    pub(crate) fn layout_of_boxes(&self, mn: u32, k: u32) -> Option<Composed> {
        let (mn_stride, k_stride) = match self.along {
            Along::Mn => (1, self.pitch()),
            Along::K => (self.pitch(), 1),
        };
        let (down, across, elements) =
            (mn.checked_div(self.mn)?, k.checked_div(self.k)?, self.elements());
        let rows = [(self.mn, mn_stride), (down, across.checked_mul(elements)?)];
        let layout =
            affine(Coord { row: mn, column: k }, &rows, &[(self.k, k_stride), (across, elements)])?;
        if self.bits == 0 {
            return Some(layout);
        }
        let pitch = self.pitch().trailing_zeros();
        let swizzle =
            Swizzle::new(self.bits, self.base, (pitch + self.shift).checked_sub(self.base)?)
                .ok()?;
        let whole = self.pitch().is_power_of_two() && self.base + self.bits <= pitch;
        let begins =
            down * across == 1 || elements.trailing_zeros() >= pitch + self.shift + self.bits;
        layout.swizzled(swizzle).ok().filter(|_| whole && begins)
    }
}

/// Returns the padding, in elements, that spreads a transposing store over all banks, as the module
/// documentation derives.
const fn spread(mn: u32, element: ElementKind, (together, least): (u32, u32)) -> u32 {
    let (lanes_bytes, row) = (element.bytes_of(WARP), element.bytes_of(mn));
    let delivered = if lanes_bytes < WAVEFRONT_BYTES { lanes_bytes } else { WAVEFRONT_BYTES };
    let share = delivered / at_least_one(together);
    let piece = if share < least { least } else { share };
    let odd = row.div_ceil(piece) | 1;
    element.elements_in(odd.saturating_mul(piece).saturating_sub(row))
}

/// Tile that is a sequence of boxes along MN: a map from (mn, k) to an offset in elements.
///
/// ```text
/// offset = mn / box_mn * (elements of a box) + (offset of (mn mod box_mn, k) in a box)
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[doc(hidden)]
pub struct BoxedTile {
    /// Layout of one box.
    pub one: SmemTile,
    /// Extent of the whole tile along M or N.
    pub mn: u32,
}

impl IndexMap for BoxedTile {
    fn domain(&self) -> Coord {
        Coord { row: self.mn, column: self.one.k }
    }

    fn codomain(&self) -> u32 {
        self.mn / at_least_one(self.one.mn) * self.one.elements()
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let extent = at_least_one(self.one.mn);
        Some(
            point.row / extent * self.one.elements()
                + self.one.offset(point.row % extent, point.column),
        )
    }

    fn layout(&self) -> Option<Composed> {
        self.one.layout_of_boxes(self.mn, self.one.k)
    }
}

impl IndexMap for SmemTile {
    fn domain(&self) -> Coord {
        Coord { row: self.mn, column: self.k }
    }

    fn codomain(&self) -> u32 {
        self.elements()
    }

    fn at(&self, point: Coord) -> Option<u32> {
        Some(self.offset(point.row, point.column))
    }

    fn layout(&self) -> Option<Composed> {
        self.layout_of_boxes(self.mn, self.k)
    }
}
