//! Groups along K: consumers clear the elements of a stage outside the group before they multiply
//! it.
//!
//! The first and the last k-tile of a unit may have such elements. The consumers that multiply a
//! k-tile share them: all consumers of the CTA, or one consumer under ping-pong. Each warp clears
//! its part, and may read the stage after all warps have met.

use super::{Cluster, Fault};
use crate::machine::sync::Moved;
use falchion::internals::{schedule::RoleStep, shape::OperandKind};

impl Cluster<'_> {
    /// Returns whether the current k-tile of a warp may have elements outside the group.
    fn has_outside(&self, mover: usize) -> bool {
        let (unit, k) = self.warps[mover].at();
        let tiles = self.work_of(self.who(mover).name.block).k_tiles_of(unit);
        self.program.groups_k && k < tiles && (k == 0 || k + 1 == tiles)
    }

    /// Clears a warp's part of the elements outside the group. Both operands of the k-tile must
    /// have landed.
    pub(super) fn clear_outside(&mut self, mover: usize) -> Result<(), Fault> {
        if self.has_outside(mover) {
            let (stage, _) = self.position(mover, self.warps[mover].t)?;
            for operand in OperandKind::BOTH {
                self.read_operand(mover, stage, operand, false)?;
            }
            self.warps[mover].cleared = Some(self.warps[mover].at());
        }
        Ok(())
    }

    /// Meets all warps that clear the k-tile.
    pub(super) fn meet_cleared(&mut self, mover: usize, step: RoleStep) -> Result<Moved, Fault> {
        if !self.has_outside(mover) {
            return Ok(Moved::Done);
        }
        let (who, of) = (self.who(mover), self.warps[mover].at());
        if self.warps[mover].cleared != Some(of) {
            return Err(Fault::NotCleared { who, k: of.1 });
        }
        let moved = match self.program.ring.pingpong {
            true => self.meet(mover, RoleStep::Meet),
            false => self.meet(mover, step),
        };
        if moved == Moved::Done {
            self.warps[mover].met_cleared = Some(of);
        }
        Ok(moved)
    }

    /// Checks that all warps have cleared the current k-tile of a warp.
    pub(super) fn is_cleared(&self, mover: usize) -> Result<(), Fault> {
        let of = self.warps[mover].at();
        if self.has_outside(mover) && self.warps[mover].met_cleared != Some(of) {
            return Err(Fault::NotCleared { who: self.who(mover), k: of.1 });
        }
        Ok(())
    }
}
