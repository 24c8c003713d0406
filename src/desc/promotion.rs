//! Promotion: what becomes of a tensor core's own sums of fp8, which keep 13 bits of fraction.

use super::{gemm_desc::WarpSpecializedDesc, source_a::no_choice};
use crate::words::words;
use crate::{
    numeric::{ElementKind, Instruction},
    refusal::{Field, Refusal},
};

words! {
    /// How often sums of fp8 are promoted to f32.
    pub enum PromotionKind {
        /// The tensor core's own sum is kept to the end, which cuBLASLt calls fast accumulation.
        Never = "never",
        /// The sum of each stage, 128 products, is added to one in f32 and begun anew.
        Stage = "stage",
    }
}

impl WarpSpecializedDesc {
    /// Whether sums are promoted.
    pub const fn promotes(&self) -> bool {
        matches!(self.knobs.promotion, PromotionKind::Stage)
    }

    /// How the tensor cores of this kernel add, promotion included; `None` where [`Instruction::of`] has no row.
    pub const fn matrix_instruction(&self) -> Option<Instruction> {
        match Instruction::of(self.multiplied().class.combined(), self.class.arch) {
            Some(instruction) if self.promotes() => Some(instruction.promoted_every(self.knobs.threadblock.k)),
            instruction => instruction,
        }
    }

    /// Whether there is something to promote: sums of fp8, or of parts of f32, in f32.
    pub(crate) const fn check_promotion(&self) -> Result<(), Refusal> {
        let fp8 = self.class.a.element.is_fp8() && self.class.accumulator.is(ElementKind::F32);
        if self.promotes() && !(fp8 || self.knobs.emulation.splits()) {
            return no_choice(Field::PromotionOfOtherSums, PromotionKind::Never.name());
        }
        Ok(())
    }
}
