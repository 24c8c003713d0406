//! The rules of warp-specialized descriptions: knobs that do not affect components, and resource
//! limits. [`WarpSpecialized::new`](crate::threadblock::WarpSpecialized::new) has the rules of
//! components.

use crate::{
    arch::Machine,
    nest::{DecompositionKind, GemmDesc, SpillKind},
    numeric::{ElementKind, MOST_SLICES},
    refusal::{Field, Legal, Operand, Refusal, hold, rules::within},
    shape::OperandKind,
    threadblock::{
        MainloopKind, WarpSpecialized, mma::check::whole_k, tma_ring::shapes::no_choice,
    },
};

impl GemmDesc {
    pub(crate) const fn check_on_ring(&self, machine: &Machine) -> Result<(), Refusal> {
        hold!(no_transform(self, OperandKind::A));
        hold!(no_transform(self, OperandKind::B));
        let components = hold!(WarpSpecialized::new(self));
        if machine.sm != self.arch.sm() {
            return Err(Refusal::other_machine(
                MainloopKind::TmaRing.name(),
                self.arch,
                machine.sm,
            ));
        }
        hold!(whole_vector(
            Field::Alignment(Operand::A),
            self.operands[0].access,
            self.operands[0].stored
        ));
        hold!(whole_vector(
            Field::Alignment(Operand::B),
            self.operands[1].access,
            self.operands[1].stored
        ));
        if let Some(group_size) = self.work.swizzle.group_size() {
            hold!(within(Field::Swizzle, group_size as u64, 1, 64));
        }
        hold!(within(Field::SplitK, self.work.split_k as u64, 1, MOST_SLICES as u64));
        match self.work.decomposition {
            DecompositionKind::SplitK | DecompositionKind::SplitKCluster => {}
            DecompositionKind::SplitKParallel => {
                if !self.may_reduce() {
                    return no_choice(
                        Field::Decomposition,
                        self.work.decomposition.name(),
                        DecompositionKind::SplitK.name(),
                    );
                }
            }
            DecompositionKind::DataParallel | DecompositionKind::StreamK => {
                hold!(whole_k(self.work.split_k, self.work.decomposition))
            }
        }
        hold!(self.check_epilogue());
        hold!(self.check_registers(&components));
        let ring = components.ring;
        let (needed, available) = (ring.shared_bytes(), machine.shared_bytes_each_of(1));
        if needed > available {
            let (stages, stage) = (self.stages(), ring.whole_stage_bytes());
            let partials = needed - stages * stage;
            return Err(Refusal::shared_memory(
                [needed, available],
                [stages, stage, partials],
                1,
                machine.sm,
            ));
        }
        Ok(())
    }

    /// Checks that consumers have the registers of an instruction at launch, and those of their
    /// accumulators, fragments, and epilogue.
    pub(crate) const fn check_registers(
        &self,
        components: &WarpSpecialized,
    ) -> Result<(), Refusal> {
        let ring = components.ring;
        let (needed, available) = (components.instruction_registers(), ring.launch_registers());
        if needed > available {
            return Err(Refusal::registers(needed, available, ring.threads(), 1));
        }
        let (needed, available) = (components.registers_needed(), components.registers_available());
        if needed > available && matches!(self.limits.spills, SpillKind::Refused) {
            return Err(Refusal::registers(needed, available, ring.threads(), 1));
        }
        Ok(())
    }
}

/// Checks that an operand has no transform. `wgmma` reads B, and mostly A, from shared memory, and
/// threads fed by TMA multiply elements as they load them.
const fn no_transform(desc: &GemmDesc, operand: OperandKind) -> Result<(), Refusal> {
    let Some(id) = desc.operand(operand).multiplied.transform() else { return Ok(()) };
    Err(Refusal::transform_of_others(
        operand,
        id,
        "the warpspecialized main loop",
        "its MMA reads elements as TMA copied them",
        MainloopKind::advice_to_transform(),
    ))
}

/// Checks that accesses have 16 bytes. TMA requires this alignment of addresses and rows.
const fn whole_vector(field: Field, align: u32, element: ElementKind) -> Result<(), Refusal> {
    let elements = element.elements_in(16);
    if align == elements {
        return Ok(());
    }
    Err(Refusal::not_one_of(field, align as u64, Legal::Vector(elements), elements as u64))
}
