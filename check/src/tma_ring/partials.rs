//! Split-K partials of warp-specialized kernels: the slots of the workspace, and the tickets.

use crate::{
    accumulators::Accumulators, program::WarpSpecializedProgram, tma_ring::numbers::Numbers,
};
use falchion::{
    internals::schedule::{Fault, WarpName},
    numeric::{ElementKind, F16},
    threadblock::Unit,
};
use std::collections::HashMap;

/// A tile and a consumer's share of it: (GEMM of the batch, tile row, tile column, consumer).
type ShareOfTile = (u32, u32, u32, u32);

/// The split-K partials of all tiles.
#[derive(Default)]
pub(super) struct TilePartials {
    /// For each share and warp, the slices that have arrived, in order of arrival.
    slots: HashMap<(ShareOfTile, u32), Vec<(u32, Accumulators)>>,
    /// Number of counted slices of each share.
    tickets: HashMap<ShareOfTile, u32>,
}

/// Returns the share of a consumer in a unit's tile.
fn share_of(program: &WarpSpecializedProgram, unit: Unit, warpgroup: u32) -> ShareOfTile {
    (unit.product, unit.row, unit.column, if program.ring.ring.pingpong { 0 } else { warpgroup })
}

impl Numbers<'_> {
    /// Stores a warp's accumulators for a unit to its slot.
    pub(super) fn put_partial(
        &mut self,
        warp: WarpName,
        unit: u32,
        accumulators: Accumulators,
    ) -> Result<(), Fault> {
        let unit = self.unit(warp.block, unit)?;
        let slots = self
            .partials
            .slots
            .entry((share_of(self.program, unit, warp.warpgroup), warp.warp))
            .or_default();
        slots.push((unit.slice, accumulators));
        Ok(())
    }

    /// Counts a slice. Returns whether it is the last one of its share.
    pub(super) fn count_slice(
        &mut self,
        block: u32,
        warpgroup: u32,
        unit: u32,
    ) -> Result<bool, Fault> {
        let unit = self.unit(block, unit)?;
        let counted =
            self.partials.tickets.entry(share_of(self.program, unit, warpgroup)).or_default();
        *counted += 1;
        Ok(*counted == unit.slices)
    }

    /// Returns the sum of a warp's slots in ascending k. For `f16` accumulators, the sum is rounded
    /// to `f16` once.
    pub(super) fn sum_partials(
        &mut self,
        warp: WarpName,
        unit: u32,
    ) -> Result<Accumulators, Fault> {
        let unit = self.unit(warp.block, unit)?;
        let slots =
            self.partials.slots.remove(&(share_of(self.program, unit, warp.warpgroup), warp.warp));
        let mut slots = slots.unwrap_or_default();
        slots.sort_by_key(|(slice, _)| *slice);
        Ok(self.sum_of(&slots.iter().map(|(_, partial)| partial).collect::<Vec<_>>()))
    }

    /// Returns the sum of slices in ascending k. For `f16` accumulators, the sum is rounded to
    /// `f16` once.
    pub(super) fn sum_of(&self, partials: &[&Accumulators]) -> Accumulators {
        let mut sum = Accumulators::sum_slices(partials);
        if let (ElementKind::F16, Accumulators::F32(numbers)) =
            (self.matrices.desc.output.accumulator, &mut sum)
        {
            numbers.iter_mut().for_each(|x| *x = F16::from_f32(*x).to_f32());
        }
        sum
    }
}
