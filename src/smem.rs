//! Where an element of an operand's tile lies in shared memory.
//!
//! A tile of A is M x K, one of B is N x K; `mn` stands for either. Rows of the longer pitch run
//! along K or along MN:
//!
//! ```text
//! along MN:   offset = k  * (tile_mn + padding) + (mn ^ swizzle(k))
//! along K:    offset = mn * (tile_k  + padding) + (k  ^ swizzle(mn))
//!
//! swizzle(row) = ((row >> shift) mod 2^bits) << base         bits of the row move chunks of 2^base elements
//! ```
//!
//! A transposing store of a K-contiguous operand puts down `together` k's of each mn. A phase of it
//! has 128 bytes, or the warp's 32 elements where those are fewer: an equal piece of each k, of
//! neighbouring mn's. The pieces fall into banks of their own when rows are an odd number of pieces
//! apart. With pieces of at least 16 bytes, so that vectors stay aligned:
//!
//! ```text
//! piece = max(least, min(128, 32 element_bytes) / together)      pitch = the least odd multiple of a piece that holds a row
//! ```
//!
//! so a row of 128 `f32` is 16 bytes longer where eight k's come together, and one of `f64` 32
//! bytes, where four do. Sixteen k's of 16 bits fall into banks of their own with pieces of 8
//! bytes: `least` is 16, and 8 for them where accumulators are `f16`, whose fragments then load 8
//! bytes at a time.
//!
//! ```
//! # use falchion::{internals::index::{IndexMap, at}, threadblock::{Along, SmemTile}};
//! let tile = SmemTile { along: Along::Mn, mn: 128, k: 8, padding: 4, bits: 0, base: 0, shift: 0 };
//! assert_eq!(tile.at(at(3, 2)), Some(2 * 132 + 3));
//! ```
//!
//! Twin: `kernels/smem.cuh`.

mod swizzle_mode;

pub use swizzle_mode::{CHUNK_BYTES, SwizzleMode};

use crate::{
    arch::WARP,
    index::{Coord, IndexMap, affine},
    layout::algebra::{Composed, Swizzle},
    numeric::ElementKind,
    shape::at_least_one,
};

/// Which index of an operand's tile runs through consecutive addresses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum Along {
    /// M for A, N for B.
    Mn,
    /// K.
    K,
}

/// Bytes of a wavefront of shared memory: a word of four bytes of each of its 32 banks.
pub const WAVEFRONT_BYTES: u32 = 128;

/// Bytes of the widest access.
pub(crate) const WIDEST_ACCESS: u32 = 16;

impl Along {
    /// Whether both are the same; `==` for `const fn`s.
    pub const fn is(self, other: Self) -> bool {
        self as u8 == other as u8
    }
}

/// The choice of a layout, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase", deny_unknown_fields)
)]
pub enum SmemLayout {
    /// Along MN; when the operand is K-major in global memory, padded so that its stores are free
    /// of bank conflicts.
    Auto,
    /// Rows longer than the tile.
    Padded {
        /// The contiguous index.
        along: Along,
        /// Elements between rows.
        padding: u32,
    },
    /// Chunks of `2^base` elements permuted by `bits` bits of the row, from bit `shift` on.
    Swizzled {
        /// The contiguous index.
        along: Along,
        /// Bits that move.
        bits: u32,
        /// Elements of a chunk, as a power of two.
        base: u32,
        /// First bit of the row that moves them.
        shift: u32,
    },
}

impl SmemLayout {
    /// The contiguous index.
    pub const fn along(self) -> Along {
        match self {
            Self::Auto => Along::Mn,
            Self::Padded { along, .. } | Self::Swizzled { along, .. } => along,
        }
    }
}

/// The choice of a layout, as a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layout of shared memory",
    note = "write SmemAuto, SmemPadded<ALONG_K, PADDING> or SmemSwizzled<ALONG_K, BITS, BASE, SHIFT>"
)]
pub trait SmemChoice: 'static {
    /// The same choice, as a value.
    const LAYOUT: SmemLayout;
}

/// [`SmemLayout::Auto`].
#[derive(Clone, Copy, Debug)]
pub struct SmemAuto;

/// [`SmemLayout::Padded`], along K or along MN.
#[derive(Clone, Copy, Debug)]
pub struct SmemPadded<const ALONG_K: bool, const PADDING: u32>;

/// [`SmemLayout::Swizzled`], along K or along MN.
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

/// One operand's tile in shared memory: the map (mn, k) to an offset in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[doc(hidden)]
pub struct SmemTile {
    /// The contiguous index.
    pub along: Along,
    /// Extent along M or N.
    pub mn: u32,
    /// Extent along K.
    pub k: u32,
    /// Elements between rows.
    pub padding: u32,
    /// Bits of the row that move chunks.
    pub bits: u32,
    /// Elements of a chunk, as a power of two.
    pub base: u32,
    /// First of those bits.
    pub shift: u32,
}

impl SmemTile {
    /// A choice made for a tile of `mn` x `k` elements. `turned` is how many k's a warp's store
    /// puts down together, and the least bytes of a piece; `None` where stores do not turn.
    pub const fn of(
        choice: SmemLayout,
        mn: u32,
        k: u32,
        element: ElementKind,
        turned: Option<(u32, u32)>,
    ) -> Self {
        let plain = Self { along: choice.along(), mn, k, padding: 0, bits: 0, base: 0, shift: 0 };
        match (choice, turned) {
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

    /// Extent of the contiguous index.
    pub const fn row(&self) -> u32 {
        match self.along {
            Along::Mn => self.mn,
            Along::K => self.k,
        }
    }

    /// What the kernels' twin is made of.
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

    /// Elements from one row to the next.
    pub const fn pitch(&self) -> u32 {
        self.row().saturating_add(self.padding)
    }

    /// Elements of one stage.
    pub const fn elements(&self) -> u32 {
        let rows = match self.along {
            Along::Mn => self.k,
            Along::K => self.mn,
        };
        self.pitch().saturating_mul(rows)
    }

    /// The largest power of two, up to `limit`, such that vectors of so many elements along the
    /// contiguous index lie whole and aligned.
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

    /// Where element (`mn`, `k`) lies, in elements.
    pub const fn offset(&self, mn: u32, k: u32) -> u32 {
        let (row, column) = match self.along {
            Along::Mn => (k, mn),
            Along::K => (mn, k),
        };
        row * self.pitch()
            + (column ^ (((row >> self.shift) & ((1 << self.bits) - 1)) << self.base))
    }

    /// The layout of a tile of `mn` x `k` elements in such boxes, those along K one behind the
    /// other, and then those along MN.
    ///
    /// Bits of the row are bits of an offset, which CuTe's swizzle takes them from, where the pitch
    /// is a power of two, chunks stay within it, and each box begins where the swizzle does.
    /// Elsewhere a swizzled tile has no layout.
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

/// The padding, in elements, that spreads a transposing store over all banks: see the head of this
/// file.
const fn spread(mn: u32, element: ElementKind, (together, least): (u32, u32)) -> u32 {
    let (lanes_bytes, row) = (element.bytes_of(WARP), element.bytes_of(mn));
    let delivered = if lanes_bytes < WAVEFRONT_BYTES { lanes_bytes } else { WAVEFRONT_BYTES };
    let share = delivered / at_least_one(together);
    let piece = if share < least { least } else { share };
    let odd = row.div_ceil(piece) | 1;
    element.elements_in(odd.saturating_mul(piece).saturating_sub(row))
}

/// A tile that comes in boxes along MN, one behind the other: the map (mn, k) to an offset in
/// elements.
///
/// ```text
/// offset = mn / box_mn * (elements of a box) + (offset of (mn mod box_mn, k) in a box)
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[doc(hidden)]
pub struct BoxedTile {
    /// One box.
    pub one: SmemTile,
    /// Extent of all along M or N.
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
