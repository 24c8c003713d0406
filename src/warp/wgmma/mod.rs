//! Warpgroup-level MMA on Hopper's tensor cores (`wgmma`): four warps execute one instruction, and
//! TMA-written tiles are its operands.
//!
//! ```text
//! for each 128 bytes of K                    a stage: OperandTile has the bytes that TMA wrote
//!     four wgmma.mma_async, 32 bytes of K    Instruction, with a MatrixDescriptor per operand
//!         D (64 x N) += A (64 x K) B (K x N) FragmentMap, AccumulatorMap: the elements of each thread
//! ```
//!
//! Every item is a value. The instruction table has the instructions of PTX. A tile is an index
//! map, like [`SmemTile`](crate::threadblock::SmemTile). [`bytes_read`] implements PTX's definition
//! of a descriptor, and a test proves that it agrees with every tile and step.
//! [`MmaWarpgroup::header`] writes the one asm statement of a stage. The schedule contains
//! `wgmma.fence`, `commit_group`, and `wait_group`. Around them, `warp::keep` keeps the
//! accumulators in their registers.
//!
//! ```
//! use falchion::{numeric::ElementKind, threadblock::Along};
//! use falchion::warp::wgmma::{MmaWarpgroup, OperandA, OperandTile, SwizzleMode};
//! let tile = |mn| OperandTile::new(ElementKind::Bf16, Along::K, SwizzleMode::Bytes128, mn).expect("a tile");
//! let mma = MmaWarpgroup::new(OperandA::Shared(tile(128)), tile(256), ElementKind::F32, 256).expect("a stage");
//! assert_eq!(mma.instruction().registers(), 128);
//! assert_eq!(mma.header("Mma").matches("wgmma.mma_async").count(), 4);
//! ```
//!
//! Twin: `kernels/warp/wgmma.cuh`. Source: PTX ISA, "Asynchronous Warpgroup Level Matrix
//! Instructions".

mod descriptor;
mod fragment;
mod instruction;
mod model;
mod registers;
mod spell;
mod tile;
pub(crate) mod tma_ring;

pub use crate::{
    threadblock::smem::{CHUNK_BYTES, SwizzleMode},
    warp::warpgroup::{FragmentRows, ROWS, STAGE_BYTES, THREADS},
};
pub use descriptor::{CORE_ROWS, MatrixDescriptor};
pub use fragment::{AccumulatorMap, FRAGMENT_REGISTERS, FragmentMap};
pub use instruction::{AOperand, Instruction, STEP_BYTES, is_input, reads_along_mn};
pub(crate) use instruction::{MOST_COLUMNS, columns_of};
pub use model::bytes_read;
pub use registers::FragmentLoad;
pub use tile::{OperandTile, STEPS};

use crate::{
    nest::{GemmDesc, knob_struct},
    numeric::ElementKind,
    shape::{Mnk, OperandKind},
    threadblock::smem::Along,
    warp::{AOperandKind, PromotionKind},
};

knob_struct! {
    /// Knobs of `wgmma`.
    pub struct WgmmaKnobs {
        /// Tile of a warpgroup in elements. Its depth equals the depth of a stage.
        pub warp: Mnk = Mnk::ZERO,
        /// Shape of one instruction.
        pub instruction: Mnk = Mnk::ZERO,
        /// Memory from which the instruction reads A.
        pub a_operand: AOperandKind = AOperandKind::Shared,
        /// Maximum number of groups in flight when a consumer moves to the next stage.
        pub pending: u32 = 1,
        /// Promotion of accumulators to f32.
        pub promotion: PromotionKind = PromotionKind::Never,
    }
}

/// Source of A of a stage.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OperandA {
    /// Tile in shared memory.
    Shared(OperandTile),
    /// Registers, [`FRAGMENT_REGISTERS`] for each step.
    Registers(ElementKind),
}

/// MMA of a warpgroup on one stage: [`STEPS`] instructions over 64 rows of A, N columns of B, and
/// 128 bytes of K.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MmaWarpgroup {
    a: OperandA,
    b: OperandTile,
    instruction: Instruction,
}

impl MmaWarpgroup {
    /// Returns the MMA of `n` columns. `None` if [`Instruction::new`] returns `None`, and if A's
    /// tile has fewer than 64 rows or B's tile fewer than `n` columns.
    pub const fn new(
        a: OperandA,
        b: OperandTile,
        accumulator: ElementKind,
        n: u32,
    ) -> Option<Self> {
        let (input, source, rows) = match a {
            OperandA::Shared(tile) => (tile.input(), AOperand::Shared(tile.along()), tile.mn()),
            OperandA::Registers(input) => (input, AOperand::Registers, ROWS),
        };
        match Instruction::new((input, b.input()), accumulator, n, source, b.along()) {
            Some(instruction) if rows >= ROWS && b.mn() >= n => Some(Self { a, b, instruction }),
            _ => None,
        }
    }

    /// Returns the source of A.
    pub const fn a(&self) -> OperandA {
        self.a
    }

    /// Returns B's tile.
    pub const fn b(&self) -> OperandTile {
        self.b
    }

    /// Returns the instruction of each step.
    pub const fn instruction(&self) -> Instruction {
        self.instruction
    }

    /// Returns the map of the accumulators.
    pub const fn accumulators(&self) -> AccumulatorMap {
        AccumulatorMap::new(&self.instruction)
    }
}

impl WgmmaKnobs {
    /// Returns the index along which a warpgroup reads an operand. It is the contiguous index in
    /// global memory if `wgmma` supports that for the element's width, and K otherwise.
    pub(crate) const fn along(d: &GemmDesc, operand: OperandKind) -> Along {
        let element = d.operand(operand).stored;
        let read = reads_along_mn(element)
            || is_input(element) && matches!(operand, OperandKind::A) && d.a_from_registers();
        if !d.k_contiguous(operand) && read { Along::Mn } else { Along::K }
    }

    /// Returns the depth of a stage, for operands as the kernel multiplies them.
    pub(crate) const fn depth(d: &GemmDesc) -> u32 {
        d.operands[0].stored.elements_in(STAGE_BYTES)
    }
}
