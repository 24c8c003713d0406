//! The steps that copy A and B to stages: boxes by TMA, and lines by the producer's warps.
//!
//! A warp copies lines with `cp.async`, which writes through the generic proxy. The arrival of the
//! warp's lanes at the full barrier lands after these copies. A consumer fences the proxies after
//! it has waited for the barrier, because `wgmma` reads through the async proxy.

use super::{
    Cargo, Cluster, Contents, Flight,
    steps::{LANES, ask, too_many},
};
use crate::machine::{
    memory::{By, Conflict},
    sync::Clock,
};
use falchion::{
    internals::{
        schedule::{Fault, RoleStep, ShareName, Spelled},
        shape::OperandKind,
    },
    threadblock::Region,
};

impl Cluster<'_> {
    /// Begins the copy of a CTA's share of an operand's boxes.
    pub(super) fn copy(
        &mut self,
        mover: usize,
        step: RoleStep,
        operand: OperandKind,
    ) -> Result<(), Fault> {
        let (who, program) = (self.who(mover), self.program);
        let (rank, ring) = (who.name.block, &program.ring);
        let (stage, _) = self.position(mover, self.warps[mover].t)?;
        let shared = ring.shares(operand) > 1;
        let share =
            if shared { ask(who, "share", &*program.share, (0, rank), ring.blocks())? } else { 0 };
        let (tile, k) = self.warps[mover].at();
        let name =
            ShareName { tile, k, operand, block: if shared { None } else { Some(rank) }, share };
        let data = self.payload.read(name);
        for i in 0..ring.shares(operand) {
            let block = if shared {
                ask(who, "destinations", &*program.destinations, (rank, i), ring.blocks())?
            } else {
                rank
            };
            if self.blocks[block as usize].running == 0 {
                return Err(Fault::BlockLeft { block, arriving: false });
            }
            self.barrier(mover, step, block, (Region::Full, stage), true)?;
            let cell = self.shares(block, stage, operand).start + share as usize;
            let clock = &self.warps[mover].progress.clock;
            if let Err(conflict) =
                self.memory.send(cell, clock, 0, Contents::Share(name, data.clone()))
            {
                return Err(self.overwritten(mover, (block, stage, cell), operand, conflict));
            }
            self.flights.push(Flight {
                block,
                stage,
                cargo: Cargo::Copy(cell, program.copy_bytes[operand.index()]),
            });
        }
        Ok(())
    }

    /// Returns the fault of a copy to a cell of a stage that other accesses use.
    fn overwritten(
        &self,
        mover: usize,
        (block, stage, cell): (u32, u32, usize),
        operand: OperandKind,
        conflict: Conflict,
    ) -> Fault {
        let who = self.who(mover);
        let Contents::Share(held, _) = *self.memory.content(cell) else {
            return Fault::NotFull { who, stage, operand };
        };
        match conflict {
            Conflict::OverRead(None) => Fault::OverwrittenWhileRead { who, block, read: held },
            Conflict::OverRead(Some(_)) => Fault::Overrun { who, block, lost: held },
            _ => Fault::OverwrittenWhileWritten { who, block, written: held },
        }
    }

    /// Begins the copy of a warp's part of an operand's lines to a stage of its CTA.
    pub(super) fn gather_lines(&mut self, mover: usize, operand: OperandKind) -> Result<(), Fault> {
        let who = self.who(mover);
        if !self.program.ring.gathered[operand.index()] {
            return Err(Fault::ForeignStep { step: RoleStep::GatherLines { operand }.name() });
        }
        let (block, (tile, k)) = (who.name.block, self.warps[mover].at());
        let (stage, _) = self.position(mover, self.warps[mover].t)?;
        let name = ShareName { tile, k, operand, block: Some(block), share: who.name.warp };
        let cell = self.shares(block, stage, operand).start + who.name.warp as usize;
        let contents = Contents::Share(name, self.payload.read(name));
        let sent = self.memory.send(cell, &self.warps[mover].progress.clock, 0, contents);
        if let Err(conflict) = sent {
            return Err(self.overwritten(mover, (block, stage, cell), operand, conflict));
        }
        let warp = &mut self.warps[mover];
        warp.lines.push(cell);
        warp.lines_under_way += 1;
        Ok(())
    }

    /// Begins the arrival of a warp's lanes, which lands together with the warp's copies.
    pub(super) fn arrive_gathered(&mut self, mover: usize, step: RoleStep) -> Result<(), Fault> {
        let (stage, _) = self.position(mover, self.warps[mover].t)?;
        let block = self.who(mover).name.block;
        // The arrival is asynchronous, as the bytes of TMA are.
        let clock = self.barrier(mover, step, block, (Region::Full, stage), true)?.1;
        let clock = clock.end_epoch().clone();
        let cells = core::mem::take(&mut self.warps[mover].lines);
        self.flights.push(Flight { block, stage, cargo: Cargo::Lines(cells, mover, step, clock) });
        Ok(())
    }

    /// Lands copies of a warp, and then the arrivals of its lanes.
    pub(super) fn land_lines(
        &mut self,
        (block, stage): (u32, u32),
        cells: Vec<usize>,
        (mover, step, clock): (usize, RoleStep, Clock),
    ) -> Result<(), Fault> {
        let (who, at) = (self.who(mover), (Region::Full, stage));
        let Some(barrier) = self.blocks[block as usize].barrier(at) else { return Ok(()) };
        let by = By { agent: barrier.agent(), lane: 0 };
        // The copies complete no byte of the barrier.
        let epoch = barrier.land(0);
        self.tally.copies += cells.len() as u64;
        self.warps[mover].lines_under_way -= cells.len() as u32;
        cells.into_iter().for_each(|cell| self.memory.land(cell, by, epoch));
        for _ in 0..LANES {
            if !self.blocks[block as usize].barrier(at).is_some_and(|full| full.arrive(&clock)) {
                return Err(too_many(who, step, block, at));
            }
        }
        Ok(())
    }

    /// Makes the gathered lines of the current k-tile visible to the warp's products, if the warp
    /// has waited for them.
    pub(super) fn fence_lines(&mut self, mover: usize) -> Result<(), Fault> {
        if !self.program.ring.gathers() {
            return Ok(());
        }
        let (block, (tile, k)) = (self.who(mover).name.block, self.warps[mover].at());
        let (stage, _) = self.position(mover, self.warps[mover].t)?;
        let clock = &self.warps[mover].progress.clock;
        let gathered = |operand: &OperandKind| self.program.ring.gathered[operand.index()];
        let visible = OperandKind::BOTH.into_iter().filter(gathered).all(|operand| {
            self.shares(block, stage, operand).all(|cell| {
                let Contents::Share(name, _) = self.memory.content(cell) else { return false };
                (name.tile, name.k) == (tile, k) && self.memory.is_ordered(cell, clock, 0)
            })
        });
        if visible {
            self.warps[mover].fenced_lines = Some((tile, k));
        }
        Ok(())
    }

    /// Checks that products of a warp may read an operand of the current k-tile.
    pub(super) fn are_lines_fenced(&self, mover: usize, operand: OperandKind) -> Result<(), Fault> {
        let warp = &self.warps[mover];
        match self.program.ring.gathered[operand.index()] && warp.fenced_lines != Some(warp.at()) {
            true => Err(Fault::LinesNotVisible { who: warp.who, operand }),
            false => Ok(()),
        }
    }

    /// Checks that the lines that a warp has copied have landed when the warp ends. The PTX ISA
    /// does not say what becomes of other copies.
    pub(super) fn lines_have_landed(&self, mover: usize) -> Result<(), Fault> {
        let warp = &self.warps[mover];
        match warp.lines_under_way {
            0 => Ok(()),
            _ => Err(Fault::LinesUnderWay { who: warp.who }),
        }
    }
}
