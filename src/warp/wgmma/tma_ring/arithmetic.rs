//! The arithmetic of warp-specialized kernels: emulation of `f32` on tensor cores, and promotion of
//! accumulators. The tensor cores multiply no `f32`, and their accumulators of fp8 keep 13 bits of
//! fraction.

use crate::{
    layout::Order,
    nest::{GemmDesc, OperandDesc, PromotionKind, emulation_of_others},
    numeric::{ElementKind, EmulationKind, Instruction, emulation::EmulationBlocks},
    refusal::{Because, Field, Refusal, rules::explained},
    threadblock::tma_ring::shapes::no_choice,
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

    /// Checks that `f32` on tensor cores is emulated, that no other type is, and that both operands
    /// have one emulation.
    pub(crate) const fn check_emulation(&self) -> Result<(), Refusal> {
        let [one, other] = [self.operands[0].multiplied, self.operands[1].multiplied];
        if one.emulation() as u8 != other.emulation() as u8 {
            let factors = [self.operands[0].factor(), self.operands[1].factor()];
            return Err(Refusal::unlike_operands(one, other, factors));
        }
        let (a, b) = (self.operands[0].stored, self.operands[1].stored);
        let is_f32 = a.is(ElementKind::F32) && b.is(ElementKind::F32);
        if self.emulation().in_registers() {
            return Err(emulation_of_others(self.emulation()));
        }
        match (self.emulation(), is_f32) {
            (EmulationKind::None, true) => Err(Refusal::NOT_EMULATED),
            (EmulationKind::None, false) | (_, true) => Ok(()),
            (emulation, false) => Err(Refusal::nothing_to_emulate(emulation, a, b)),
        }
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

    /// Checks that promotion applies: to f32 accumulators of fp8 or of emulated f32.
    pub(crate) const fn check_promotion(&self) -> Result<(), Refusal> {
        let fp8 = self.operands[0].stored.is_fp8() && self.output.accumulator.is(ElementKind::F32);
        if self.promotes() && !(fp8 || self.emulation().decomposes()) {
            let refused = no_choice(
                Field::Promotion,
                self.mma.promotion().name(),
                PromotionKind::Never.name(),
            );
            return explained(refused, Because::Words("accumulators of fp8 or emulated f32 only"));
        }
        Ok(())
    }
}
