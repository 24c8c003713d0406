//! The operands that an MMA multiplies: terms of emulated `f32`, or the operands in memory. And the
//! arithmetic of its instruction.

use crate::{
    layout::Order,
    nest::{GemmDesc, OperandDesc, PromotionKind},
    numeric::{Instruction, emulation::EmulationBlocks},
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

    /// Returns the arithmetic of the tensor-core instruction, including promotion. `None` if
    /// [`Instruction::for_types`] has no entry.
    pub const fn matrix_instruction(&self) -> Option<Instruction> {
        match Instruction::for_types(self.multiplied().types(), self.arch) {
            Some(instruction) if self.promotes() => {
                Some(instruction.promoted_every(self.threadblock().k))
            }
            instruction => instruction,
        }
    }
}
