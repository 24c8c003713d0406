//! The arithmetic of warp-specialized kernels: emulation of `f32` on tensor cores, and promotion of
//! accumulators. The tensor cores multiply no `f32`, and their accumulators of fp8 keep 13 bits of
//! fraction.

use super::a_operand::no_choice;
use crate::{
    arch::OpKind,
    desc::{OperandClass, PromotionKind, WarpSpecializedDesc},
    layout::Order,
    numeric::{ElementKind, EmulationKind, Instruction, emulation::EmulationBlocks},
    refusal::{Because, Field, Refusal, rules::explained},
};

impl WarpSpecializedDesc {
    /// Returns the description as its kernel reads the operands. If f32 is emulated, the operands
    /// are terms, which are K-major for any layout of the user's. No call has this description.
    #[must_use]
    pub const fn multiplied(&self) -> Self {
        let Some(term) = self.knobs.emulation.term_type() else { return *self };
        let mut multiplied = *self;
        multiplied.class.a = OperandClass { element: term, layout: Order::Row };
        multiplied.class.b = OperandClass { element: term, layout: Order::Col };
        multiplied
    }

    /// Returns the blocks of K that k-tiles read. Rows have `length` elements of the
    /// [`multiplied`](Self::multiplied) operands.
    pub const fn blocks(&self, length: usize) -> EmulationBlocks {
        EmulationBlocks::new((self.knobs.emulation, self.frame), length, self.knobs.threadblock.k)
    }

    /// Checks that `f32` on tensor cores is emulated, and that no other type is.
    pub(crate) const fn check_emulation(&self) -> Result<(), Refusal> {
        let (a, b) = (self.class.a.element, self.class.b.element);
        let is_f32 = a.is(ElementKind::F32) && b.is(ElementKind::F32);
        let on_tensor_cores = matches!(self.class.op, OpKind::TensorOp);
        if self.knobs.emulation.decomposes() && !on_tensor_cores {
            let (value, nearest) = (self.knobs.emulation.name(), EmulationKind::None.name());
            return Err(Refusal::needs_tensor_cores(Field::Emulation, value, nearest));
        }
        if self.knobs.emulation.in_registers() {
            return Err(Refusal::emulation_of_others(self.knobs.emulation));
        }
        match (self.knobs.emulation, is_f32) {
            (EmulationKind::None, true) if on_tensor_cores => Err(Refusal::NOT_EMULATED),
            (EmulationKind::None, _) | (_, true) => Ok(()),
            (emulation, false) => Err(Refusal::nothing_to_emulate(emulation, a, b)),
        }
    }

    /// Returns whether accumulators are promoted.
    pub const fn promotes(&self) -> bool {
        matches!(self.knobs.promotion, PromotionKind::Stage)
    }

    /// Returns the arithmetic of the tensor-core instruction, including promotion. `None` if
    /// [`Instruction::for_types`] has no entry.
    pub const fn matrix_instruction(&self) -> Option<Instruction> {
        match Instruction::for_types(self.multiplied().class.combined(), self.class.arch) {
            Some(instruction) if self.promotes() => {
                Some(instruction.promoted_every(self.knobs.threadblock.k))
            }
            instruction => instruction,
        }
    }

    /// Checks that promotion applies: to f32 accumulators of fp8 or of emulated f32.
    pub(crate) const fn check_promotion(&self) -> Result<(), Refusal> {
        let fp8 = self.class.a.element.is_fp8() && self.class.accumulator.is(ElementKind::F32);
        if self.promotes() && !(fp8 || self.knobs.emulation.decomposes()) {
            let refused = no_choice(
                Field::Promotion,
                self.knobs.promotion.name(),
                PromotionKind::Never.name(),
            );
            return explained(refused, Because::Words("accumulators of fp8 or emulated f32 only"));
        }
        Ok(())
    }
}
