//! Promotion: what becomes of a tensor core's own sums of fp8, which keep 13 bits of fraction.

use super::knobs::GemmDesc;
use crate::{
    numeric::{ElementKind, Instruction},
    refusal::{Field, Refusal, Word},
};

/// How often sums of fp8 are promoted to f32.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum PromotionKind {
    /// The tensor core's own sum is kept to the end, which cuBLASLt calls fast accumulation.
    Never,
    /// The sum of each stage, 128 products, is added to one in f32 and begun anew.
    Stage,
}

impl PromotionKind {
    /// Every one.
    pub const ALL: [Self; 2] = [Self::Never, Self::Stage];

    /// The name, as the command line spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Stage => "stage",
        }
    }
}

impl GemmDesc {
    /// Whether sums are promoted.
    pub const fn promotes(&self) -> bool {
        matches!(self.promotion, PromotionKind::Stage)
    }

    /// How the tensor cores of this kernel add, promotion included; `None` where [`Instruction::of`] has no row.
    pub const fn matrix_instruction(&self) -> Option<Instruction> {
        match Instruction::of(self.multiplied().combined(), self.arch) {
            Some(instruction) if self.promotes() => Some(instruction.promoted_every(self.threadblock.k)),
            instruction => instruction,
        }
    }

    /// Whether there is something to promote: sums of fp8, or of parts of f32, in f32, by a main loop whose consumers have whole stages to themselves.
    pub(super) const fn check_promotion(&self) -> Result<(), Refusal> {
        let fp8 = self.a.is_fp8() && self.accumulator.is(ElementKind::F32);
        let sums = fp8 || self.split.splits();
        if self.promotes() && !(sums && self.mainloop.has_roles()) {
            let field = if self.mainloop.has_roles() { Field::PromotionOfOtherSums } else { Field::Promotion };
            return Err(Refusal::NoChoice {
                field,
                mainloop: Word(self.mainloop.name()),
                nearest: Word(PromotionKind::Never.name()),
            });
        }
        Ok(())
    }
}
