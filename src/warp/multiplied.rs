//! The operands that an MMA multiplies, and the arithmetic of its instruction. The operands are
//! those in memory, their transposes, or the terms of emulated `f32`.

use crate::{
    arch::OpKind,
    layout::Order,
    nest::{GemmDesc, OperandDesc, PromotionKind},
    numeric::{Instruction, emulation::EmulationBlocks},
    shape::OperandKind,
    threadblock::smem::Along,
};

impl GemmDesc {
    /// Returns the description as its kernel reads the operands. If f32 is emulated, the operands
    /// are terms, which are K-major for any layout of the user's. No call has this description.
    #[must_use]
    pub const fn multiplied(&self) -> Self {
        let Some(term) = self.emulation().term_type() else { return *self };
        let mut multiplied = *self;
        let [a, b] = self.operands;
        multiplied.operands = [
            OperandDesc { stored: term, layout: Order::Row, ..a },
            OperandDesc { stored: term, layout: Order::Col, ..b },
        ];
        multiplied
    }

    /// Returns the blocks of K that k-tiles read. Rows have `length` elements of the
    /// [`multiplied`](Self::multiplied) operands.
    pub const fn blocks(&self, length: usize) -> EmulationBlocks {
        EmulationBlocks::new((self.emulation(), self.frame), length, self.threadblock().k)
    }

    /// Returns whether accumulators are promoted.
    pub const fn promotes(&self) -> bool {
        matches!(self.mma.promotion(), PromotionKind::Stage)
    }

    /// Returns the arithmetic of the tensor-core instruction, including promotion. `None` on CUDA
    /// cores, and if [`Instruction::for_types`] has no entry.
    pub const fn matrix_instruction(&self) -> Option<Instruction> {
        if matches!(self.mma.op(), OpKind::Simt) {
            return None;
        }
        match Instruction::for_types(self.multiplied().types(), self.arch) {
            Some(instruction) if self.promotes() => {
                Some(instruction.promoted_every(self.threadblock().k))
            }
            instruction => instruction,
        }
    }
}

/// The operands of a kernel with a TMA ring.
impl GemmDesc {
    /// Returns whether the kernel reads an operand's transpose, along an index that is not
    /// contiguous in global memory.
    pub const fn reads_transposed(&self, operand: OperandKind) -> bool {
        self.mma.along(self, operand).is(Along::K) != self.k_contiguous(operand)
    }

    /// Returns whether the kernel reads the output of a pass for any address of its operands.
    pub const fn reads_what_passes_make(&self) -> bool {
        let transposes =
            self.reads_transposed(OperandKind::A) || self.reads_transposed(OperandKind::B);
        transposes || self.emulation().decomposes()
    }

    /// Returns the number of operands that a call first transposes into its workspace.
    pub(crate) const fn transposed(&self) -> u32 {
        self.reads_transposed(OperandKind::A) as u32 + self.reads_transposed(OperandKind::B) as u32
    }
}
