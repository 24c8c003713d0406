//! The rules of operands and accumulators: the source of A, emulation of `f32`, and promotion. The
//! tensor cores multiply no `f32`, and their accumulators of fp8 keep 13 bits of fraction.

use crate::{
    nest::{AOperandKind, GemmDesc, PromotionKind, emulation_of_others},
    numeric::{ElementKind, EmulationKind},
    refusal::{Because, Field, Refusal, rules::explained},
    shape::{Axis, Mn, OperandKind},
    threadblock::tma_ring::shapes::no_choice,
    warp::wgmma::{MOST_COLUMNS, reads_along_mn},
};

impl GemmDesc {
    /// Checks that A can come from registers if the knob requires it: elements of 8 or 32 bits,
    /// M-major, on Hopper's tensor cores.
    pub(crate) const fn check_a_operand(&self) -> Result<(), Refusal> {
        if matches!(self.mma.a_operand(), AOperandKind::Auto) {
            let (value, nearest) = (AOperandKind::Auto.name(), AOperandKind::Shared.name());
            return explained(
                no_choice(Field::AOperand, value, nearest),
                Because::Words("the resolver selects the source of A"),
            );
        }
        if !self.a_from_registers() {
            return Ok(());
        }
        let because = if !matches!(self.emulation(), EmulationKind::None) {
            Because::Words("terms of emulated f32 are K-major")
        } else if self.promotes() {
            Because::Words("promoted accumulators")
        } else if reads_along_mn(self.operands[0].stored) {
            Because::Words("wgmma reads 16-bit elements in both orders")
        } else if self.operands[0].layout.is_row() {
            Because::Major { operand: OperandKind::A, along_k: true }
        } else {
            return Ok(());
        };
        let (value, nearest) = (AOperandKind::Registers.name(), AOperandKind::Shared.name());
        explained(no_choice(Field::AOperand, value, nearest), because)
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

    /// Checks that promotion applies: to f32 accumulators of fp8 or of emulated f32. `self` has the
    /// operands in memory.
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

    /// Checks that the instruction tiles that a consumer promotes per stage are at most
    /// [`MOST_PROMOTED_TILES`]. Each is a step of the schedule.
    pub(crate) const fn check_promoted_tiles(&self, repeats: Mn) -> Result<(), Refusal> {
        if !self.promotes() || repeats.m * repeats.n <= MOST_PROMOTED_TILES {
            return Ok(());
        }
        let least = (repeats.m * self.warp().n).div_ceil(MOST_PROMOTED_TILES).next_multiple_of(8);
        let (field, value) = (Field::Instruction(Axis::N), self.instruction().n as u64);
        Err(Refusal::out_of_range(field, value, least as u64, MOST_COLUMNS as u64)
            .because(Because::Words("promotion = stage")))
    }
}

/// Maximum number of instruction tiles that a consumer promotes per stage.
const MOST_PROMOTED_TILES: u32 = u8::MAX as u32;
