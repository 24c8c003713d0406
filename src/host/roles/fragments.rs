//! A in registers: sets of fragments that a warp fills from a stage, in turn, and that its products read while they are under way.

use super::{RingFault, machine::Machine, payload::Payload};
use crate::{operand::OperandKind, schedule::RoleStep};

/// A set of registers.
pub(super) struct FragmentSet<D> {
    /// Of which tile of D and along K.
    pub of: Option<(u32, u32)>,
    /// The shares that were read.
    pub data: Vec<D>,
    /// Products under way that read it.
    pub reading: u32,
}

/// What a product reads until it is waited for.
#[derive(Clone, Copy)]
pub(super) struct Reads {
    /// The stage.
    pub stage: u32,
    /// The set of fragments, where A comes from one.
    pub set: Option<usize>,
}

impl<P: Payload> Machine<'_, P> {
    /// The set that tile `k` along K is brought to.
    pub(super) fn fragment_set(&self, k: u32) -> Option<usize> {
        Some(k.checked_rem(self.program.fragment_sets)? as usize)
    }

    /// The lanes of a warp read A of a stage into registers. What they wrote is in order with products once it is fenced.
    pub(super) fn load_fragments(&mut self, mover: usize) -> Result<(), RingFault> {
        let who = self.who(mover);
        let (tile, k) = (self.warps[mover].tile, self.warps[mover].k);
        let foreign = RingFault::ForeignStep { who, step: RoleStep::LoadFragments };
        let set = self.fragment_set(k).ok_or(foreign)?;
        if self.warps[mover].fragments[set].reading > 0 {
            return Err(RingFault::FragmentsOverwritten { who, k, set: set as u32 });
        }
        let (stage, _) = self.position(mover, self.warps[mover].t)?;
        let data = self.read_operand(mover, stage, OperandKind::A, (false, true))?;
        let warp = &mut self.warps[mover];
        let reading = 0;
        warp.fragments[set] = FragmentSet { of: Some((tile, k)), data, reading };
        warp.touched = true;
        Ok(())
    }

    /// The fragments of A that a warp multiplies next, which its products read from now on.
    pub(super) fn take_fragments(&mut self, mover: usize, set: usize) -> Result<Vec<P::Share>, RingFault> {
        let who = self.who(mover);
        let warp = &mut self.warps[mover];
        let fragments = &mut warp.fragments[set];
        if fragments.of != Some((warp.tile, warp.k)) {
            return Err(RingFault::NotLoaded { who, k: warp.k });
        }
        fragments.reading += 1;
        Ok(fragments.data.clone())
    }
}
