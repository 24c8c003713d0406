//! Steps of consumers whose threads multiply: a warp is done with a stage when its lanes have met. The last k of a stage is multiplied
//! later, from registers.

use super::{
    RingFault,
    machine::Machine,
    payload::{Payload, SliceName},
};
use crate::schedule::RoleStep;

impl<P: Payload> Machine<'_, P> {
    /// Lanes read their first fragments of a tile, if there is one.
    pub(super) fn load_first(&mut self, mover: usize) -> Result<(), RingFault> {
        let (tile, k) = (self.warps[mover].tile, self.warps[mover].k);
        if k < self.work.k_tiles {
            let (stage, _) = self.position(mover, self.warps[mover].t)?;
            self.read_stage(mover, stage, false)?;
            self.warps[mover].loaded = Some((tile, k));
        }
        Ok(())
    }

    /// The tile that was begun is summed.
    pub(super) fn multiply_last(&mut self, mover: usize) -> Result<(), RingFault> {
        let who = self.who(mover);
        let warp = &mut self.warps[mover];
        let (tile, k) = warp.begun.take().ok_or(RingFault::NothingBegun { who })?;
        warp.summed = (tile, k + 1);
        Ok(())
    }

    /// No lane of the warp reads a stage any more.
    pub(super) fn meet_lanes(&mut self, mover: usize) {
        let warp = &mut self.warps[mover];
        let (bit, block) = (warp.bit(), &mut self.blocks[warp.name.block as usize]);
        for read in warp.products.drain(..) {
            block.stages[read.stage as usize].iter_mut().flatten().for_each(|share| share.reading &= !bit);
        }
    }

    /// The threads of the warp store what they hold.
    pub(super) fn store_threads(&mut self, mover: usize) -> Result<(), RingFault> {
        let who = self.who(mover);
        let warp = &self.warps[mover];
        let multiplied = if warp.summed.0 == warp.tile { warp.summed.1 } else { 0 };
        if multiplied != self.work.k_tiles {
            return Err(RingFault::Unfinished { who, multiplied, wanted: self.work.k_tiles });
        }
        let name = SliceName { tile: warp.tile, slice: who.name.warp };
        self.payload.store_threads(who.name, warp.tile, multiplied == 0, &warp.sums);
        self.tally.stores += 1;
        let index = self.slice_index(who.name, name);
        match index.and_then(|index| self.stored.get_mut(index)) {
            Some(times) if *times == 0 => *times = 1,
            Some(_) => return Err(RingFault::StoredTwice { who, slice: name }),
            None => return Err(RingFault::ForeignStep { who, step: RoleStep::StoreThreads }),
        }
        Ok(())
    }
}
