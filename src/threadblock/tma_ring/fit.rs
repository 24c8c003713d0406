//! Resources of a ring that is not checked yet: the stages that shared memory holds, and registers.

use crate::{
    nest::{AOperandKind, GemmDesc, Pins, fit::fitting_stages},
    threadblock::{Pipeline, WarpSpecialized},
};

impl GemmDesc {
    /// Returns the stages that shared memory holds. `None` if the tiles are invalid or fewer than
    /// two stages fit.
    pub(crate) const fn fitting_stages_on_ring(&self) -> Option<u32> {
        match WarpSpecialized::new(self) {
            Ok(WarpSpecialized { ring, .. }) => self.stages_of_ring(&ring),
            Err(_) => None,
        }
    }

    /// Returns the description with free knobs whose resources suffice: its stages fit, and so do
    /// the registers.
    pub(crate) const fn sufficing_on_ring(&self, pins: &Pins) -> Option<Self> {
        // The stages are the same for both sources of A.
        let sized = match self.mma.a_operand() {
            AOperandKind::Auto => {
                self.pinned(Pins { a_operand: Some(AOperandKind::Shared), ..Pins::NONE })
            }
            _ => *self,
        };
        let Ok(components) = WarpSpecialized::new(&sized) else { return None };
        if self.check_registers(&components).is_err() {
            return None;
        }
        match (self.stages_of_ring(&components.ring), pins.stages) {
            (Some(stages), _) if stages == self.stages() => Some(*self),
            (Some(stages), None) => Some(self.pinned(Pins { stages: Some(stages), ..Pins::NONE })),
            _ => None,
        }
    }

    /// Returns the stages of a ring that shared memory holds, at most those of the description.
    const fn stages_of_ring(&self, ring: &Pipeline) -> Option<u32> {
        let stages = self.stages();
        let beside =
            ring.shared_bytes().saturating_sub(stages.saturating_mul(ring.whole_stage_bytes()));
        let available = self.arch.machine().shared_bytes_each_of(1);
        fitting_stages(stages, ring.whole_stage_bytes(), beside, available)
    }
}
