//! The product of a warpgroup on Hopper's tensor cores: four warps, one instruction, operands read
//! where they lie.
//!
//! ```text
//! for each 128 bytes of K                    a stage: OperandTile, what TMA wrote
//!     four wgmma.mma_async, 32 bytes of K    Instruction, told where to read by a MatrixDescriptor
//!         D (64 x N) += A (64 x K) B (K x N) FragmentMap, AccumulatorMap: who holds what
//! ```
//!
//! All of it is values: the table of instructions has what PTX has; a tile is a map under law, as
//! [`SmemTile`](crate::smem::SmemTile) is; a descriptor is a number whose meaning [`bytes_read`]
//! spells from PTX's definition, so that a test proves the two the same for every tile and step;
//! [`MmaWarpgroup::header`] writes the one asm statement of a stage. `wgmma.fence`, `commit_group`
//! and `wait_group` order, and belong to the schedule; around them `warp::keep` ties the
//! accumulators to their place.
//!
//! ```
//! use falchion::{numeric::ElementKind, threadblock::Along};
//! use falchion::warp::mma_warpgroup::{MmaWarpgroup, OperandA, OperandTile, SwizzleMode};
//! let tile = |mn| OperandTile::new(ElementKind::Bf16, Along::K, SwizzleMode::Bytes128, mn).expect("a tile");
//! let mma = MmaWarpgroup::new(OperandA::Shared(tile(128)), tile(256), ElementKind::F32, 256).expect("a stage");
//! assert_eq!(mma.instruction().registers(), 128);
//! assert_eq!(mma.header("Mma").matches("wgmma.mma_async").count(), 4);
//! ```
//!
//! Twin: `kernels/warp/mma_warpgroup.cuh`. Source: PTX ISA, "Asynchronous Warpgroup Level Matrix
//! Instructions".

mod descriptor;
mod fragment;
mod instruction;
mod model;
mod registers;
mod spell;
mod tile;

pub use crate::smem::{CHUNK_BYTES, SwizzleMode};
pub use descriptor::{CORE_ROWS, MatrixDescriptor};
pub use fragment::{AccumulatorMap, FRAGMENT_REGISTERS, FragmentMap, FragmentRows};
pub use instruction::{AOperand, Instruction, ROWS, STEP_BYTES, THREADS, is_input, reads_along_mn};
pub(crate) use instruction::{MOST_COLUMNS, columns_of};
pub use model::bytes_read;
pub use registers::FragmentLoad;
pub use tile::{OperandTile, STAGE_BYTES, STEPS};

use crate::numeric::ElementKind;

/// Where A of a stage is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OperandA {
    /// In a tile in shared memory.
    Shared(OperandTile),
    /// In registers, [`FRAGMENT_REGISTERS`] for each step.
    Registers(ElementKind),
}

/// What a warpgroup does with a stage: [`STEPS`] instructions, from 64 rows of A and N columns of
/// B, 128 bytes of K of each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MmaWarpgroup {
    a: OperandA,
    b: OperandTile,
    instruction: Instruction,
}

impl MmaWarpgroup {
    /// The product of `n` columns; `None` where [`Instruction::new`] has none, and of a tile of
    /// fewer than 64 rows of A or `n` columns of B.
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

    /// Where A is.
    pub const fn a(&self) -> OperandA {
        self.a
    }

    /// B's tile.
    pub const fn b(&self) -> OperandTile {
        self.b
    }

    /// The instruction of each step.
    pub const fn instruction(&self) -> Instruction {
        self.instruction
    }

    /// The map of its accumulators.
    pub const fn accumulators(&self) -> AccumulatorMap {
        AccumulatorMap::of(&self.instruction)
    }
}
