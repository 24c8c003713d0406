//! Steps of split-K in a cluster: each CTA has a split-K slice, and the first CTA gathers all
//! slices.

use super::{Cargo, Cluster, ClusterWork, Contents, Flight};
use crate::machine::sync::Moved;
use falchion::{
    internals::{
        nest::WARPS,
        schedule::{Fault, RoleStep, Spelled},
    },
    threadblock::{Pipeline, Region},
};
use std::sync::Arc;

impl ClusterWork<'_> {
    /// Returns the work of one CTA.
    pub(super) fn for_block(self, ring: &Pipeline, block: u32) -> Self {
        if ring.slices.is_none() {
            return self;
        }
        let units = self.k_tiles.len() / (1 + ring.senders() as usize);
        let first = block as usize * units;
        Self { k_tiles: self.k_tiles.get(first..first + units).unwrap_or_default(), ..self }
    }
}

impl<'a> Cluster<'a> {
    /// Returns the work of a CTA.
    pub(super) fn work_of(&self, block: u32) -> ClusterWork<'a> {
        self.work.for_block(&self.program.ring, block)
    }

    /// Returns the rank of a warp's CTA, and the first cell of its consumer's slots in the first
    /// CTA. Each other rank has four slots.
    fn slots(&self, mover: usize, step: RoleStep) -> Result<(u32, usize), Fault> {
        let (name, ring) = (self.who(mover).name, &self.program.ring);
        let senders = if ring.slices.is_some() { ring.senders() } else { 0 };
        if senders == 0 {
            return Err(Fault::ForeignStep { step: step.name() });
        }
        // The slots follow all other cells of the first CTA.
        let first = super::block_cells(self.program) - (ring.consumers * senders * WARPS) as usize;
        Ok((name.block, first + (name.warpgroup * senders * WARPS) as usize))
    }

    /// In the first CTA, waits for the slices of the others. In other CTAs, waits until the slice
    /// that was sent last has been read.
    pub(super) fn await_partials(&mut self, mover: usize, step: RoleStep) -> Result<Moved, Fault> {
        let (rank, _) = self.slots(mover, step)?;
        if (rank == 0) != (step == RoleStep::AwaitPartials) {
            return Ok(Moved::Done);
        }
        let (region, ahead) = if rank == 0 { (Region::Landed, 0) } else { (Region::Read, 1) };
        let (consumer, exchanged) = (self.who(mover).name.warpgroup, self.warps[mover].exchanged);
        let moved = self.wait(mover, step, (region, consumer), (exchanged % 2) ^ ahead)?;
        self.warps[mover].exchanged += u32::from(moved == Moved::Done);
        Ok(moved)
    }

    /// Checks that a warp's accumulators hold its whole slice, and that the warp contributes them
    /// for the first time. Returns the unit, and whether the accumulators are zeros.
    fn finished_partial(&mut self, mover: usize) -> Result<(u32, bool), Fault> {
        let who = self.who(mover);
        let unit = self.warps[mover].at().0;
        if self.warps[mover].multiplies() {
            return Err(Fault::ProductsUnderWay { who, subtile: 0 });
        }
        if self.warps[mover].brought.replace(unit) == Some(unit) {
            return Err(Fault::SliceBroughtTwice { who });
        }
        Ok((unit, self.multiplied(mover)? == 0))
    }

    pub(super) fn send_partials(&mut self, mover: usize, step: RoleStep) -> Result<(), Fault> {
        let (rank, slots) = self.slots(mover, step)?;
        if rank == 0 {
            return Ok(());
        }
        let (unit, zero) = self.finished_partial(mover)?;
        let (who, consumer) = (self.who(mover), self.who(mover).name.warpgroup);
        if self.blocks[0].running == 0 {
            return Err(Fault::BlockLeft { block: 0, arriving: false });
        }
        self.barrier(mover, step, 0, (Region::Landed, consumer), true)?;
        let data =
            Arc::new(self.payload.partial(who.name, unit, zero, &self.warps[mover].accumulators));
        let cell = slots + ((rank - 1) * WARPS + who.name.warp) as usize;
        let contents = Contents::Partial(unit, rank, data);
        if self.memory.send(cell, &self.warps[mover].progress.clock, 0, contents).is_err() {
            return Err(Fault::SliceSentOver { who, unit });
        }
        let cargo = Cargo::Partial(cell, self.program.partial_bytes / WARPS);
        self.flights.push(Flight { block: 0, stage: consumer, cargo });
        let warp = &mut self.warps[mover];
        warp.progress.cursor.leaves_sum = true;
        // Instructions other than products read the accumulators, so they are not ordered with
        // products.
        warp.fenced = false;
        self.left.insert((rank, consumer, unit));
        Ok(())
    }

    pub(super) fn expect_partials(&mut self, mover: usize, step: RoleStep) -> Result<(), Fault> {
        let (rank, _) = self.slots(mover, step)?;
        if rank > 0 || !self.warps[mover].leads() {
            return Ok(());
        }
        let consumer = self.who(mover).name.warpgroup;
        self.arrive(mover, step, (Region::Landed, consumer), self.program.landing_bytes)
    }

    pub(super) fn add_partials(&mut self, mover: usize) -> Result<(), Fault> {
        let (rank, slots) = self.slots(mover, RoleStep::AddPartials)?;
        if rank > 0 {
            return Ok(());
        }
        let (unit, zero) = self.finished_partial(mover)?;
        let (who, senders) = (self.who(mover), self.program.ring.senders());
        let mut others = Vec::new();
        for rank in 1..=senders {
            let cell = slots + ((rank - 1) * WARPS + who.name.warp) as usize;
            match self.memory.read(cell, &self.warps[mover].progress.clock, 0) {
                Ok(Contents::Partial(of, from, data)) if (*of, *from) == (unit, rank) => {
                    others.push(data.clone())
                }
                _ => return Err(Fault::SliceNotThere { who, unit, rank }),
            }
        }
        let warp = &mut self.warps[mover];
        let own = self.payload.partial(who.name, unit, zero, &warp.accumulators);
        self.payload.add_partials(who.name, &own, &others, &mut warp.accumulators);
        warp.fenced = false;
        Ok(())
    }

    pub(super) fn release_partials(&mut self, mover: usize, step: RoleStep) -> Result<(), Fault> {
        let (rank, _) = self.slots(mover, step)?;
        let who = self.who(mover);
        if rank > 0 || !self.warps[mover].progress.cursor.goes_on_in(self.work_of(0).k_tiles.len())
        {
            return Ok(());
        }
        let at = (Region::Read, who.name.warpgroup);
        for block in 1..=self.program.ring.senders() {
            let clock = self.barrier(mover, step, block, at, false)?.1.end_epoch().clone();
            self.flights.push(Flight {
                block,
                stage: who.name.warpgroup,
                cargo: Cargo::Arrival(Region::Read, who, step, clock),
            });
        }
        Ok(())
    }
}
