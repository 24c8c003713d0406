//! The split-K step `ReduceSlices`: the slices of a tile come together, and the last one to
//! arrive adds all.

use super::Cluster;
use crate::machine::sync::Moved;
use falchion::internals::schedule::{Fault, RoleStep};

/// Barriers of a consumer's warps in `ReduceSlices`: one before the slice is counted, and one
/// after.
const MEETINGS: u32 = 2;

impl Cluster<'_> {
    /// Checks that a warp's accumulators hold the sum over all of K.
    pub(super) fn has_sum(&self, mover: usize) -> Result<(), Fault> {
        let warp = &self.warps[mover];
        let summed = !self.program.split_k || warp.brought == Some(warp.at().0);
        if summed { Ok(()) } else { Err(Fault::SliceNotAdded { who: warp.who }) }
    }

    /// Stores a warp's accumulators to its slot. After all four warps have stored theirs, their
    /// consumer counts its slice. The warps of the last slice then hold the sum.
    pub(super) fn reduce_slices(&mut self, mover: usize, step: RoleStep) -> Result<Moved, Fault> {
        let name = self.who(mover).name;
        let tile = self.warps[mover].at().0;
        if self.warps[mover].met == 0 && self.warps[mover].progress.waits.is_none() {
            if self.warps[mover].multiplies() {
                return Err(Fault::ProductsUnderWay { who: self.who(mover), subtile: 0 });
            }
            if self.warps[mover].brought.replace(tile) == Some(tile) {
                return Err(Fault::SliceBroughtTwice { who: self.who(mover) });
            }
            let multiplied = self.multiplied(mover)?;
            self.payload.store_partial(
                name,
                tile,
                multiplied == 0,
                &self.warps[mover].accumulators,
            );
        }
        while self.warps[mover].met < MEETINGS {
            // The leading warp counts between the two barriers.
            if self.warps[mover].met == 1
                && self.warps[mover].leads()
                && self.warps[mover].progress.waits.is_none()
            {
                let last = self.payload.arrives_last(name.block, name.warpgroup, tile);
                self.blocks[name.block as usize].last[name.warpgroup as usize] = last;
            }
            match self.meet(mover, step) {
                Moved::Done => self.warps[mover].met += 1,
                moved => return Ok(moved),
            }
        }
        let warp = &mut self.warps[mover];
        warp.met = 0;
        if self.blocks[name.block as usize].last[name.warpgroup as usize] {
            self.payload.sum_slices(name, tile, &mut warp.accumulators);
        } else {
            warp.progress.cursor.leaves_sum = true;
            self.left.insert((name.block, name.warpgroup, tile));
        }
        // Instructions other than products read and wrote the accumulators, so they are not ordered
        // with products.
        warp.fenced = false;
        Ok(Moved::Done)
    }
}
