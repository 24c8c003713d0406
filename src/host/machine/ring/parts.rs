//! What a step of split-K means: parts of K come together, of which the one that comes last adds
//! all.

use super::Cluster;
use crate::{
    host::machine::sync::Moved,
    schedule::{Fault, RoleStep},
};

/// Meetings of a consumer's warps: before it counts its part, and after.
const MEETINGS: u32 = 2;

impl Cluster<'_> {
    /// Whether a warp's accumulators are those of all of K.
    pub(super) fn has_sum(&self, mover: usize) -> Result<(), Fault> {
        let warp = &self.warps[mover];
        let summed = !self.program.split_k || warp.brought == Some(warp.at().0);
        if summed { Ok(()) } else { Err(Fault::PartNotAdded { who: warp.who }) }
    }

    /// A warp brings its accumulators to its slot; once all four have, their consumer counts its
    /// part. The warps of the last one hold the sum.
    pub(super) fn reduce_parts(&mut self, mover: usize, step: RoleStep) -> Result<Moved, Fault> {
        let name = self.who(mover).name;
        let tile = self.warps[mover].at().0;
        if self.warps[mover].met == 0 && self.warps[mover].progress.waits.is_none() {
            if self.warps[mover].multiplies() {
                return Err(Fault::ProductsUnderWay { who: self.who(mover), subtile: 0 });
            }
            if self.warps[mover].brought.replace(tile) == Some(tile) {
                return Err(Fault::PartBroughtTwice { who: self.who(mover) });
            }
            let multiplied = self.multiplied(mover)?;
            self.payload.store_part(name, tile, multiplied == 0, &self.warps[mover].accumulators);
        }
        while self.warps[mover].met < MEETINGS {
            // Whoever leads counts between the two.
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
            self.payload.sum_of_parts(name, tile, &mut warp.accumulators);
        } else {
            warp.progress.cursor.leaves_sum = true;
            self.left.insert((name.block, name.warpgroup, tile));
        }
        // Read and written by other instructions than products, accumulators are in no order with
        // those.
        warp.fenced = false;
        Ok(Moved::Done)
    }
}
