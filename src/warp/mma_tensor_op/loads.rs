//! How fragments come from shared memory: by `ldmatrix`, or word by word.
//!
//! `ldmatrix` moves up to four matrices of eight rows of 16 bytes. Lane `8 r + i` says where row
//! `i` of matrix `r` begins, and lane `4 i + c` receives bytes `4 c` on of that row, one word of
//! each matrix; transposed, of 16 bits, elements `i` of rows `2 c` and `2 c + 1`. So it can bring
//! what a word of the fragment map is, where an operand lies along K in elements of up to 32 bits,
//! or along MN in elements of 16. Which row a lane says follows from the fragment map: the row from
//! which the lanes that receive it would load their words.
//!
//! Source: PTX ISA, "Warp-level matrix load instruction: ldmatrix".
//!
//! Twin: `kernels/warp/mma_tensor_op/loads.cuh`.

use super::{EIGHT, FragmentMap, QUAD, WarpInstruction};
use crate::{
    arch::WARP,
    index::{Coord, IndexMap},
    numeric::ElementKind,
    smem::{Along, SmemLayout},
};

/// Matrices that one instruction moves, at most.
pub const MATRICES: u32 = 4;

/// Bytes of a matrix's row.
const ROW_BYTES: u32 = 16;

/// How a fragment's words come from shared memory. What an operand is, and along which index it
/// lies, decides it, and no instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WordLoad {
    /// `ldmatrix`, of an operand along K.
    Matrices,
    /// `ldmatrix` transposed, of 16 bits along MN.
    Transposed,
    /// Each element by an access of its own.
    Elements,
}

impl WordLoad {
    /// That of an operand.
    pub const fn of(element: ElementKind, along: Along) -> Self {
        match (along, element.bits()) {
            (Along::K, 8 | 16 | 32) => Self::Matrices,
            (Along::Mn, 16) => Self::Transposed,
            _ => Self::Elements,
        }
    }

    /// The layout in shared memory under which accesses have no conflicts, of a tile whose rows
    /// have so many elements. Rows that one phase reads are apart by an XOR of as many bits as
    /// chunks that lie within 128 bytes, or what is the largest power of two in a row:
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
        // Rows that lie within 128 bytes are apart as they are.
        let shift = first + rows.trailing_zeros() - bits;
        SmemLayout::Swizzled {
            along,
            bits,
            base: element.elements_in(chunk).trailing_zeros(),
            shift,
        }
    }
}

/// The map (thread, load) of an operand of one k-block to where the row begins that a lane says, as
/// `mn * instruction K + k`; lanes without a row of the last load are left out.
#[derive(Clone, Copy, Debug)]
pub struct MatrixLoads {
    fragment: FragmentMap,
    transposed: bool,
}

impl MatrixLoads {
    /// Those of a fragment; `None` where its words come by loads of their own.
    pub const fn of(fragment: FragmentMap, load: WordLoad) -> Option<Self> {
        match load {
            WordLoad::Elements => None,
            _ => Some(Self { fragment, transposed: matches!(load, WordLoad::Transposed) }),
        }
    }

    /// Loads of a lane.
    pub const fn loads(&self) -> u32 {
        self.fragment.words().div_ceil(MATRICES)
    }

    /// Row or column, and k, at which a lane's row begins.
    pub const fn row(&self, thread: u32, load: u32) -> Option<(u32, u32)> {
        let (warp, lane) = (thread / WARP * WARP, thread % WARP);
        let (word, row) = (load * MATRICES + lane / EIGHT, lane % EIGHT);
        if word >= self.fragment.words() {
            return None;
        }
        // The first of the lanes that receive it.
        Some(if self.transposed {
            self.fragment.coordinate(warp + row / 2, (word, row % 2))
        } else {
            self.fragment.coordinate(warp + row * QUAD, (word, 0))
        })
    }

    /// Which lane's row element `j` of a thread's word `w` comes from, and its place in that row.
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

    /// Elements of a row.
    pub const fn row_elements(&self) -> u32 {
        self.instruction().input(self.fragment.operand).elements_in(ROW_BYTES)
    }

    /// Whether a row lies along MN.
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
