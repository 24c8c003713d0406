//! Fragment loads from shared memory: `ldmatrix`, or single elements.
//!
//! `ldmatrix` moves up to four matrices of eight rows, 16 bytes per row. Lane `8 r + i` provides
//! the address of row `i` of matrix `r`. Lane `4 i + c` receives bytes `4 c ..` of row `i`, one
//! 4-byte word per matrix. The transposed form, for 16-bit elements, delivers elements `i` of rows
//! `2 c` and `2 c + 1`. `ldmatrix` therefore supports K-major operands of up to 32 bits, and
//! MN-major operands of 16 bits. The fragment map determines the row address of each lane: the row
//! that the receiving lanes hold.
//!
//! Source: PTX ISA, "Warp-level matrix load instruction: ldmatrix".
//!
//! Twin: `kernels/warp/mma_sync/loads.cuh`.

use crate::{
    arch::WARP,
    layout::index_map::{Coord, IndexMap},
    numeric::ElementKind,
    threadblock::smem::{Along, SmemLayout},
    warp::mma_sync::{EIGHT, FragmentMap, QUAD, WarpInstruction},
};

/// Maximum number of matrices per instruction.
pub const MATRICES: u32 = 4;

/// Size of a matrix row in bytes.
const ROW_BYTES: u32 = 16;

/// Kind of fragment load. It depends only on the element type and the contiguous index of the
/// operand, not on the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WordLoad {
    /// `ldmatrix`, for a K-major operand.
    Matrices,
    /// `ldmatrix.trans`, for a 16-bit MN-major operand.
    Transposed,
    /// One access per element.
    Elements,
}

impl WordLoad {
    /// Returns the kind of load for an operand.
    pub const fn for_element(element: ElementKind, along: Along) -> Self {
        match (along, element.bits()) {
            (Along::K, 8 | 16 | 32) => Self::Matrices,
            (Along::Mn, 16) => Self::Transposed,
            _ => Self::Elements,
        }
    }

    /// Returns the shared-memory layout under which these loads have no bank conflicts, for tile
    /// rows of `row` elements. A swizzle XORs the chunk index with bits of the row, so the rows of
    /// one phase use different banks. The number of bits follows from the chunks within 128 bytes,
    /// or within the largest power of two that divides a row:
    ///
    /// ```text
    /// ldmatrix            eight rows of 16 bytes               chunks of 16 bytes, bits of the row from 0 on
    /// words of 4, 8 bytes eight neighbours of four rows        chunks of 32 bytes, bits of the row from 0 on
    /// bytes               eight neighbours of every fourth row chunks of 16 bytes, bits of the row from 2 on
    /// ```
    pub const fn layout(self, element: ElementKind, along: Along, row: u32) -> SmemLayout {
        let (chunk, rows, first) = match (self, element.bits()) {
            (Self::Matrices | Self::Transposed, _) => (ROW_BYTES, EIGHT, 0),
            (Self::Elements, 8) => (ROW_BYTES, QUAD, 2),
            (Self::Elements, _) => (32, QUAD, 0),
        };
        let bytes = element.bytes_of(row);
        let zeros = bytes.trailing_zeros();
        let chunks = (1 << if zeros < 7 { zeros } else { 7 }) / chunk;
        let chunks = if chunks < rows { chunks } else { rows };
        if chunks <= 1 {
            return SmemLayout::Padded { along, padding: 0 };
        }
        let bits = chunks.trailing_zeros();
        // Rows within the same 128 bytes already use different banks.
        let shift = first + rows.trailing_zeros() - bits;
        SmemLayout::Swizzled {
            along,
            bits,
            base: element.elements_in(chunk).trailing_zeros(),
            shift,
        }
    }
}

/// Map from (thread, load) to the row address that a lane provides, as `mn * instruction K + k`,
/// for one operand of one k-block. Lanes without a row in the last load are left out.
#[derive(Clone, Copy, Debug)]
pub struct MatrixLoads {
    fragment: FragmentMap,
    transposed: bool,
}

impl MatrixLoads {
    /// Returns the loads of a fragment, or `None` if its elements are loaded one by one.
    pub const fn new(fragment: FragmentMap, load: WordLoad) -> Option<Self> {
        match load {
            WordLoad::Elements => None,
            _ => Some(Self { fragment, transposed: matches!(load, WordLoad::Transposed) }),
        }
    }

    /// Returns the number of loads per lane.
    pub const fn loads(&self) -> u32 {
        self.fragment.words().div_ceil(MATRICES)
    }

    /// Returns the (mn, k) at which the row of a lane begins.
    pub const fn row(&self, thread: u32, load: u32) -> Option<(u32, u32)> {
        let (warp, lane) = (thread / WARP * WARP, thread % WARP);
        let (word, row) = (load * MATRICES + lane / EIGHT, lane % EIGHT);
        if word >= self.fragment.words() {
            return None;
        }
        // The first of the lanes that receive the row.
        Some(if self.transposed {
            self.fragment.coordinate(warp + row / 2, (word, row % 2))
        } else {
            self.fragment.coordinate(warp + row * QUAD, (word, 0))
        })
    }

    /// Returns the lane that provides the row of element `j` of a thread's word `w`, and the
    /// element's index in that row.
    pub const fn source(&self, thread: u32, (w, j): (u32, u32)) -> (u32, u32) {
        let (warp, lane) = (thread / WARP * WARP, thread % WARP);
        let first = warp + w % MATRICES * EIGHT;
        let per_word = self.fragment.instruction.per_word();
        if self.transposed {
            (first + lane % QUAD * per_word + j, lane / QUAD)
        } else {
            (first + lane / QUAD, lane % QUAD * per_word + j)
        }
    }

    /// Returns the elements per row.
    pub const fn row_elements(&self) -> u32 {
        self.instruction().input(self.fragment.operand).elements_in(ROW_BYTES)
    }

    /// Returns whether rows are contiguous along MN.
    pub const fn transposed(&self) -> bool {
        self.transposed
    }

    const fn instruction(&self) -> &WarpInstruction {
        &self.fragment.instruction
    }
}

impl IndexMap for MatrixLoads {
    fn domain(&self) -> Coord {
        Coord { row: self.fragment.domain().row, column: self.loads() }
    }

    fn codomain(&self) -> u32 {
        self.fragment.codomain()
    }

    fn at(&self, point: Coord) -> Option<u32> {
        self.row(point.row, point.column).map(|(mn, k)| mn * self.instruction().shape().k + k)
    }
}
