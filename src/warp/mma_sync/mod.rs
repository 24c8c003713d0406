//! Warp-level MMA with `mma.sync`: the instructions, their fragments, and the fragment loads.
//!
//! A warp multiplies `m` x `k` of A by `k` x `n` of B. Let `g = lane / 4` and `t = lane mod 4`. A
//! word has `p` elements: 4 bytes, or one f64. Element `j` of a lane's word `w` is
//!
//! ```text
//! A:  row g + 8 (w mod m/8)      k = p t + j + 4 p (w / (m/8))
//! B:  column g                   k = p t + j + 4 p w
//! D:  row g + 8 (i / 2)          column 2 t + i mod 2           of accumulator i
//! ```
//!
//! | A, B | m x n x k | accumulators | from |
//! |---|---|---|---|
//! | f64 | 8x8x4 | f64 | sm80 |
//! | f64 | 16x8x4, 16x8x8, 16x8x16 | f64 | sm90 |
//! | f16 | 16x8x8 | f32, f16 | sm75 |
//! | f16 | 16x8x16 | f32, f16 | sm80 |
//! | bf16 | 16x8x8, 16x8x16 | f32 | sm80 |
//! | tf32 | 16x8x4, 16x8x8 | f32 | sm80 |
//! | s8, u8 | 8x8x16 | s32 | sm75 |
//! | s8, u8 | 16x8x16, 16x8x32 | s32 | sm80 |
//! | e4m3, e5m2, each with each | 16x8x32 | f32 | sm89 |
//! | f32, in terms of tf32 | 16x8x4, 16x8x8 | f32 | sm80 |
//! | f32, as bf16 | 16x8x8, 16x8x16 | f32 | sm80 |
//!
//! The last two rows have a built-in transform between the fragment and the instruction. A user's
//! [`Transform`](crate::numeric::Transform) computes f16, bf16, or tf32 at the same place:
//!
//! ```text
//! shared memory -> fragment a[..] -> TermsA::take -> term[..]      once per k-block, all rows
//!               -> fragment b[..] -> TermsB::take -> term[..]      once per column of instructions
//!                                    mma.sync of each product of terms
//! ```
//!
//! If the result is narrower than the element, words whose k differ by four become one word.
//!
//! Twin: `kernels/warp/mma_sync.cuh`. Source: PTX ISA, "Matrix Fragments for mma" of each
//! shape. `tests/gpu/same_bits.rs` compares the results on an H200.

mod check;
mod complete;
mod components;
mod cost;
mod cuda;
pub(crate) mod defaults;
pub(crate) mod explain;
mod fragments;
mod loads;
mod registers;
mod spell;
mod table;
pub(crate) mod tma_ring;

pub use loads::{MATRICES, MatrixLoads, WordLoad};

use crate::{
    arch::WARP,
    layout::{
        algebra::Composed,
        index_map::{Coord, IndexMap, affine},
    },
    nest::knob_struct,
    numeric::{ElementKind, EmulationKind, Multiplied, emulation::RegisterTerms},
    shape::{Frame, Mnk, OperandKind, at_least_one},
    warp::{LaneArrangement, SaturateKind, ThreadTiles},
};

knob_struct! {
    /// Knobs of `mma.sync`.
    pub struct MmaSyncKnobs {
        /// Warp tile in elements, with its share of the depth.
        pub warp: Mnk = Mnk::ZERO,
        /// Shape of one instruction.
        pub instruction: Mnk = Mnk::ZERO,
        /// Saturation of integer sums.
        pub saturate: SaturateKind = SaturateKind::Off,
    }
}

/// Lanes that hold one row of A, or one column of B.
const QUAD: u32 = 4;

/// Rows of A, or columns of B, that the lanes of a warp hold with one word each.
const EIGHT: u32 = 8;

/// Arrangement of the lanes over the accumulators: eight rows of four.
pub const LANES: LaneArrangement = LaneArrangement { m: EIGHT, n: QUAD, quads: true };

/// Neighboring accumulators of a lane along M, and along N.
pub const INTERLEAVE: [u32; 2] = [1, 2];

/// One `mma.sync` instruction: a row of the table above.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WarpInstruction {
    inputs: [ElementKind; 2],
    accumulator: ElementKind,
    shape: Mnk,
    sm: u32,
    math: MathOperator,
}

/// Operation that an instruction performs on products and accumulators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MathOperator {
    /// Multiply-add; integers wrap.
    MultiplyAdd,
    /// Multiply-add with saturation to the range of a 32-bit integer. The sum itself is exact.
    MultiplyAddSaturate,
    /// Sum of products of what transforms compute from fragments of A and B: the terms of f32
    /// numbers, or the results of a user's transform. The order of products of terms follows the
    /// user's A and B, which the frame maps to the kernel's.
    Transformed([Multiplied; 2], Frame),
}

impl MathOperator {
    /// Returns the operation for an emulation of both operands in a frame, or a plain multiply-add
    /// without emulation.
    pub const fn for_emulation(emulation: EmulationKind, frame: Frame) -> Self {
        Self::for_operands([Multiplied::from_emulation(emulation); 2], frame)
    }

    /// Returns the operation for what is multiplied of A and of B.
    pub const fn for_operands(multiplied: [Multiplied; 2], frame: Frame) -> Self {
        match multiplied {
            [Multiplied::Stored, Multiplied::Stored] => Self::MultiplyAdd,
            multiplied => Self::Transformed(multiplied, frame),
        }
    }

    /// Returns what is multiplied of A and of B.
    pub const fn multiplied(self) -> [Multiplied; 2] {
        match self {
            Self::Transformed(multiplied, _) => multiplied,
            Self::MultiplyAdd | Self::MultiplyAddSaturate => [Multiplied::Stored; 2],
        }
    }

    /// Returns the emulation of f32.
    pub const fn emulation(self) -> EmulationKind {
        Multiplied::emulation_of(self.multiplied())
    }

    /// Returns whether a transform computes what the instruction reads of an operand.
    pub(crate) const fn transforms(self) -> bool {
        matches!(self, Self::Transformed(..))
    }
}

impl WarpInstruction {
    /// Returns M, N, and K of the instruction.
    pub const fn shape(&self) -> Mnk {
        self.shape
    }

    /// Returns the minimum compute capability: 10 * major + minor.
    pub const fn sm(&self) -> u32 {
        self.sm
    }

    /// Returns the element type of an operand.
    pub const fn input(&self, operand: OperandKind) -> ElementKind {
        self.inputs[operand.index()]
    }

    /// Returns the operation.
    pub const fn math(&self) -> MathOperator {
        self.math
    }

    /// Returns what is multiplied of an operand.
    pub const fn multiplied(&self, operand: OperandKind) -> Multiplied {
        self.math.multiplied()[operand.index()]
    }

    /// Returns the math type of an operand: its element type, the type of its terms, or the type
    /// that its transform computes.
    pub const fn factor(&self, operand: OperandKind) -> ElementKind {
        self.multiplied(operand).element(self.input(operand))
    }

    /// Returns the transforms of fragments.
    pub const fn terms(&self) -> RegisterTerms {
        let frame = match self.math {
            MathOperator::Transformed(_, frame) => frame,
            _ => Frame::USER,
        };
        RegisterTerms { multiplied: self.math.multiplied(), frame, k: self.shape.k }
    }

    /// Returns whether integer sums saturate.
    pub const fn saturates(&self) -> bool {
        matches!(self.math, MathOperator::MultiplyAddSaturate)
    }

    /// Returns the accumulator type.
    pub const fn accumulator(&self) -> ElementKind {
        self.accumulator
    }

    /// Returns the rows of A, or columns of B.
    pub const fn extent(&self, operand: OperandKind) -> u32 {
        match operand {
            OperandKind::A => self.shape.m,
            OperandKind::B => self.shape.n,
        }
    }

    /// Returns the elements per word of 4 bytes; 1 for f64.
    pub const fn per_word(&self) -> u32 {
        let bits = self.inputs[0].bits();
        if bits > 32 { 1 } else { 32 / bits }
    }

    /// Returns the words of an operand per lane.
    pub const fn words(&self, operand: OperandKind) -> u32 {
        self.extent(operand) * self.shape.k / WARP / self.per_word()
    }

    /// Returns the words of an operand that the instruction reads. If its math type is narrower
    /// than its elements, several fragment words become one.
    pub const fn taken_words(&self, operand: OperandKind) -> u32 {
        self.words(operand) * self.factor(operand).bits() / self.input(operand).bits()
    }

    /// Returns the 32-bit fragment word that becomes element `j` of the instruction's word `w`, if
    /// the instruction packs two per word. Words whose k differ by four become neighbors. The
    /// instruction's order of k therefore changes, but alike for A and B.
    pub const fn paired(&self, operand: OperandKind, (w, j): (u32, u32)) -> u32 {
        let eights = self.extent(operand) / EIGHT;
        w % eights + (w / eights * 2 + j) * eights
    }

    /// Returns the (mn, k) of element `j` of a lane's word `w`.
    pub const fn coordinate(
        &self,
        operand: OperandKind,
        lane: u32,
        (w, j): (u32, u32),
    ) -> (u32, u32) {
        let (eights, per_word) = (self.extent(operand) / EIGHT, self.per_word());
        (
            lane / QUAD + w % eights * EIGHT,
            lane % QUAD * per_word + j + w / eights * QUAD * per_word,
        )
    }
}

/// Map of one operand, for one k-block of a block's tile, from (thread, element) to `mn *
/// instruction K + k`. The words of the first instruction tile along MN come first.
#[derive(Clone, Copy, Debug)]
pub struct FragmentMap {
    tiles: ThreadTiles,
    instruction: WarpInstruction,
    operand: OperandKind,
}

impl FragmentMap {
    /// Returns the map of one operand.
    pub const fn new(
        tiles: ThreadTiles,
        instruction: WarpInstruction,
        operand: OperandKind,
    ) -> Self {
        Self { tiles, instruction, operand }
    }

    /// Returns the extent of a warp tile.
    const fn warp_mn(&self) -> u32 {
        match self.operand {
            OperandKind::A => self.tiles.warp.m,
            OperandKind::B => self.tiles.warp.n,
        }
    }

    /// Returns the number of words per lane.
    pub const fn words(&self) -> u32 {
        (self.warp_mn() / self.instruction.extent(self.operand))
            .saturating_mul(self.instruction.words(self.operand))
    }

    /// Returns the number of elements per lane.
    pub const fn elements(&self) -> u32 {
        self.words().saturating_mul(self.instruction.per_word())
    }

    /// Returns the first row or column of a warp tile.
    const fn origin(&self, thread: u32) -> u32 {
        let (m, n, _) = self.tiles.warp_place(thread / WARP);
        match self.operand {
            OperandKind::A => m * self.tiles.warp.m,
            OperandKind::B => n * self.tiles.warp.n,
        }
    }

    /// Returns the row or column of the block's tile, and k of the k-block, of element `j` of a
    /// thread's word `w`.
    pub const fn coordinate(&self, thread: u32, (w, j): (u32, u32)) -> (u32, u32) {
        let words = self.instruction.words(self.operand);
        let (mn, k) = self.instruction.coordinate(self.operand, thread % WARP, (w % words, j));
        (self.origin(thread) + w / words * self.instruction.extent(self.operand) + mn, k)
    }
}

impl IndexMap for FragmentMap {
    fn domain(&self) -> Coord {
        Coord { row: self.tiles.threads(), column: self.elements() }
    }

    fn codomain(&self) -> u32 {
        let block = self.tiles.block;
        self.instruction.shape.k
            * if matches!(self.operand, OperandKind::A) { block.m } else { block.n }
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let per_word = self.instruction.per_word();
        let (mn, k) =
            self.coordinate(point.row, (point.column / per_word, point.column % per_word));
        Some(mn * self.instruction.shape.k + k)
    }

    fn layout(&self) -> Option<Composed> {
        let (shape, per_word, extent) = (
            self.instruction.shape,
            self.instruction.per_word(),
            self.instruction.extent(self.operand),
        );
        let (warps, eights) = (self.tiles.warps(), extent / EIGHT);
        let (along_m, along_n) = match self.operand {
            OperandKind::A => (self.tiles.warp.m * shape.k, 0),
            OperandKind::B => (0, self.tiles.warp.n * shape.k),
        };
        let threads = [
            (QUAD, per_word),
            (EIGHT, shape.k),
            (warps.m, along_m),
            (warps.n, along_n),
            (warps.k, 0),
        ];
        let words = self.instruction.words(self.operand) / at_least_one(eights);
        let tiles = (self.warp_mn() / extent, extent * shape.k);
        affine(
            self.domain(),
            &threads,
            &[(per_word, 1), (eights, EIGHT * shape.k), (words, QUAD * per_word), tiles],
        )
    }
}
