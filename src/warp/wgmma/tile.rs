//! Tile of an operand in shared memory as TMA writes it and `wgmma` reads it. Its K extent is 128
//! bytes.
//!
//! Let `S` be the bytes of a swizzle row. A tile is a sequence of boxes with rows of `S` bytes, and
//! one TMA copy writes one box with the swizzle of `S`:
//!
//! ```text
//! along K    128 / S boxes of mn rows         box {S bytes of K, mn}
//! along MN   mn / (S / element) boxes of k    box {S bytes of MN, k}
//!
//! byte within a box = row * S + (byte of the row xor 16 * (row * S / 128 mod S / 16))
//! ```
//!
//! A box is therefore an [`SmemTile`]. Eight rows of 16 bytes that an instruction reads together
//! use 32 different banks; without the swizzle, they would not.
//!
//! Sources: CUDA C++ Programming Guide, "Tensor Memory Access", swizzle modes; PTX ISA, "Shared
//! Memory Matrix Layout".

use crate::{
    layout::{
        algebra::Composed,
        index_map::{Coord, IndexMap},
    },
    numeric::ElementKind,
    threadblock::smem::{Along, CHUNK_BYTES, SmemTile, SwizzleMode},
    warp::{
        warpgroup::STAGE_BYTES,
        wgmma::{
            MatrixDescriptor,
            descriptor::{CORE_ROWS, REACH_BYTES},
            instruction::{STEP_BYTES, is_input, reads_along_mn},
        },
    },
};

/// Instructions along the K of a stage.
pub const STEPS: u32 = STAGE_BYTES / STEP_BYTES;

/// Tile of an operand: a map from (mn, k) to an offset in elements.
///
/// ```
/// use falchion::{internals::index::{IndexMap, at, laws}, numeric::ElementKind, threadblock::Along, warp::wgmma::{OperandTile, SwizzleMode}};
/// let tile = OperandTile::new(ElementKind::Bf16, Along::K, SwizzleMode::Bytes128, 128).expect("a tile");
/// assert_eq!((tile.k(), tile.bytes()), (64, 16384));
/// assert_eq!(tile.at(at(1, 0)), Some(64 + 8));
/// assert_eq!(laws::bijective(&tile), Ok(()));
/// let descriptor = tile.descriptor(0x400, 64).expect("a descriptor");
/// assert_eq!(descriptor.to_string(), "start 0x2400, leading 16 bytes, stride 1024 bytes, 128-byte swizzled");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OperandTile {
    input: ElementKind,
    along: Along,
    swizzle: SwizzleMode,
    mn: u32,
}

impl OperandTile {
    /// Returns the tile of `mn` rows of A, or columns of B, that descriptors can address. `None`
    /// for an MN-major operand of 8 or 32 bits, and if [`for_boxes`](Self::for_boxes) returns
    /// `None`.
    pub const fn new(
        input: ElementKind,
        along: Along,
        swizzle: SwizzleMode,
        mn: u32,
    ) -> Option<Self> {
        if along.is(Along::Mn) && !reads_along_mn(input) {
            None
        } else {
            Self::for_boxes(input, along, swizzle, mn)
        }
    }

    /// Returns A's tile of a stage that a warpgroup loads to registers: boxes of 128 bytes along M,
    /// one row per k. `None` if `m` is not a multiple of 128 bytes of elements, or exceeds 2048.
    pub const fn for_fragments(input: ElementKind, m: u32) -> Option<Self> {
        Self::for_boxes(input, Along::Mn, SwizzleMode::Bytes128, m)
    }

    /// Returns the tile of any type that TMA can write, even if descriptors cannot address it.
    /// `None` if `mn` is not a multiple of eight, or for an MN-major tile of a row's elements. Also
    /// `None` above 2048, the reach of a descriptor.
    const fn for_boxes(
        input: ElementKind,
        along: Along,
        swizzle: SwizzleMode,
        mn: u32,
    ) -> Option<Self> {
        let tile = Self { input, along, swizzle, mn };
        if is_input(input)
            && mn > 0
            && mn <= REACH_BYTES / STAGE_BYTES
            && mn.is_multiple_of(tile.multiple())
        {
            Some(tile)
        } else {
            None
        }
    }

    /// Returns the element type.
    pub const fn input(&self) -> ElementKind {
        self.input
    }

    /// Returns the contiguous index.
    pub const fn along(&self) -> Along {
        self.along
    }

    /// Returns the swizzle.
    pub const fn swizzle(&self) -> SwizzleMode {
        self.swizzle
    }

    /// Returns the extent along M or N.
    pub const fn mn(&self) -> u32 {
        self.mn
    }

    /// Returns the extent along K: the number of elements in 128 bytes.
    pub const fn k(&self) -> u32 {
        self.input.elements_in(STAGE_BYTES)
    }

    /// Returns the size in bytes. A tile begins at a multiple of [`SwizzleMode::repeat_bytes`].
    pub const fn bytes(&self) -> u32 {
        self.mn * STAGE_BYTES
    }

    /// Returns the number of which a warpgroup's first row or column is a multiple: the rows of a
    /// core matrix, or the elements of a swizzle row.
    pub const fn multiple(&self) -> u32 {
        match self.along {
            Along::K => CORE_ROWS,
            Along::Mn => self.row(),
        }
    }

    /// Returns the layout of one box, whose rows have the bytes of a swizzle row.
    pub const fn tma_box(&self) -> SmemTile {
        let (row, bytes) = (self.row(), self.swizzle.row_bytes());
        let (mn, k) = match self.along {
            Along::K => (self.mn, row),
            Along::Mn => (row, self.k()),
        };
        SmemTile {
            along: self.along,
            mn,
            k,
            padding: 0,
            bits: (bytes / CHUNK_BYTES).trailing_zeros(),
            base: (CHUNK_BYTES / self.input.bytes_of(1)).trailing_zeros(),
            shift: (STAGE_BYTES / bytes).trailing_zeros(),
        }
    }

    /// Returns the elements per swizzle row.
    const fn row(&self) -> u32 {
        self.swizzle.row_bytes() / self.input.bytes_of(1)
    }

    /// Returns the offset of element (`mn`, `k`) in elements.
    const fn offset(&self, mn: u32, k: u32) -> u32 {
        let one = self.tma_box();
        (mn / one.mn * (self.k() / one.k) + k / one.k) * one.elements()
            + one.offset(mn % one.mn, k % one.k)
    }

    /// Returns the offset of element (`mn`, `k`) in bytes, or `None` beyond the tile.
    pub const fn byte_offset(&self, mn: u32, k: u32) -> Option<u32> {
        if mn < self.mn && k < self.k() {
            Some(self.offset(mn, k) * self.input.bytes_of(1))
        } else {
            None
        }
    }

    /// Returns the offset in bytes at which the instruction of a step starts; `step` is less than
    /// [`STEPS`].
    pub const fn step_bytes(&self, step: u32) -> Option<u32> {
        self.byte_offset(0, step.saturating_mul(self.input.elements_in(STEP_BYTES)))
    }

    /// Returns the descriptor of the first instruction, for a tile at the shared-memory address
    /// `start` and rows or columns from `mn` on. `None` if `start` or `mn` lies within a swizzle
    /// atom, `mn` exceeds the tile, or the address reaches 2^18.
    pub const fn descriptor(&self, start: u32, mn: u32) -> Option<MatrixDescriptor> {
        let atom = self.swizzle.repeat_bytes();
        if !start.is_multiple_of(atom) || mn >= self.mn || !mn.is_multiple_of(self.multiple()) {
            return None;
        }
        let boxed = self.tma_box().elements() * self.input.bytes_of(1);
        let (leading, stride) = match (self.along, self.swizzle) {
            (Along::K, SwizzleMode::None)
            | (Along::Mn, SwizzleMode::Bytes32 | SwizzleMode::Bytes64 | SwizzleMode::Bytes128) => {
                (boxed, atom)
            }
            (Along::Mn, SwizzleMode::None) => (atom, boxed),
            // The leading offset is not read; by convention it is one unit of 16 bytes.
            (Along::K, _) => (CHUNK_BYTES, atom),
        };
        let from = self.offset(mn, 0) * self.input.bytes_of(1);
        match MatrixDescriptor::new(start.saturating_add(from), leading, stride, self.swizzle) {
            Ok(descriptor) => Some(descriptor),
            Err(_) => None,
        }
    }
}

impl IndexMap for OperandTile {
    fn domain(&self) -> Coord {
        Coord { row: self.mn, column: self.k() }
    }

    fn codomain(&self) -> u32 {
        self.mn * self.k()
    }

    fn at(&self, point: Coord) -> Option<u32> {
        (point.row < self.mn && point.column < self.k())
            .then(|| self.offset(point.row, point.column))
    }

    fn layout(&self) -> Option<Composed> {
        self.tma_box().layout_of_boxes(self.mn, self.k())
    }
}
