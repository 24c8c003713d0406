//! The rule book of kernels whose warpgroups have roles. What their components refuse is in
//! [`WarpSpecialized::of`](crate::threadblock::WarpSpecialized::of); here are the knobs that it does not read, and the budgets.

use super::{check::within, knobs::GemmDesc, spills::SpillKind};
use crate::{
    arch::Machine,
    numeric::ElementKind,
    operand::OperandKind,
    refusal::{Field, Legal, Operand, Refusal, Word},
    threadblock::{SmemLayout, WarpSpecialized, tensor_map::check::hold},
    warp::{InterleaveKind, UnrollKind},
};

impl GemmDesc {
    pub(super) const fn check_roles(&self, machine: &Machine) -> Result<(), Refusal> {
        let components = match WarpSpecialized::of(self) {
            Ok(components) => components,
            Err(refusal) => return Err(refusal),
        };
        if machine.sm != self.arch.sm() {
            return Err(Refusal::OtherMachine { mainloop: Word(self.mainloop.name()), arch: self.arch, sm: machine.sm });
        }
        hold!(whole_vector(Field::Alignment(Operand::A), self.align_a, self.a));
        hold!(whole_vector(Field::Alignment(Operand::B), self.align_b, self.b));
        hold!(self.check_choices());
        hold!(self.check_epilogue());
        let ring = components.ring;
        let (needed, available) = (components.instruction_registers(), ring.launch_registers());
        if needed > available {
            return Err(Refusal::Registers { needed, available, threads: ring.threads(), blocks: 1 });
        }
        let (needed, available) = (components.registers_needed(), components.registers_available());
        if needed > available && matches!(self.spills, SpillKind::Refused) {
            return Err(Refusal::Registers { needed, available, threads: ring.threads(), blocks: 1 });
        }
        let (needed, available) = (ring.shared_bytes(), machine.shared_bytes_each_of(1));
        if needed > available {
            let (stages, stage) = (self.stages, ring.expect_bytes());
            let deposit = needed - stages * stage;
            return Err(Refusal::SharedMemory { needed, available, stages, stage, deposit, blocks: 1, arch: machine.sm });
        }
        Ok(())
    }

    /// Knobs that have one value in this family.
    const fn check_choices(&self) -> Result<(), Refusal> {
        if let Some(abreast) = self.swizzle.abreast() {
            hold!(within(Field::Swizzle, abreast, 1, 64));
        }
        hold!(within(Field::BlocksPerSm, self.blocks_per_sm, 1, 1));
        hold!(self.check_promotion());
        let choices = [
            (Field::SharedLayout(OperandKind::A), matches!(self.smem_a, SmemLayout::Auto), "auto"),
            (Field::SharedLayout(OperandKind::B), matches!(self.smem_b, SmemLayout::Auto), "auto"),
            (Field::Interleave, matches!(self.interleave, InterleaveKind::Vector), "vector"),
            (Field::Unroll, matches!(self.unroll, UnrollKind::Full), "full"),
        ];
        let mut i = 0;
        while i < choices.len() {
            let (field, legal, nearest) = choices[i];
            if !legal {
                return Err(Refusal::NoChoice { field, mainloop: Word(self.mainloop.name()), nearest: Word(nearest) });
            }
            i += 1;
        }
        Ok(())
    }
}

/// What the copy engine reads begins at whole vectors of 16 bytes, and so do its rows.
const fn whole_vector(field: Field, align: u32, element: ElementKind) -> Result<(), Refusal> {
    let elements = element.elements_in(16);
    if align == elements {
        return Ok(());
    }
    Err(Refusal::NotOneOf { field, value: align as u64, legal: Legal::Vector(elements), nearest: elements as u64 })
}
