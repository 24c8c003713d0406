//! What steps mean at the ring: waits, arrivals and copies.

use super::{
    RingFault,
    barrier::Barrier,
    fault::Who,
    flight::{Cargo, Flight},
    machine::{Machine, Moved},
    payload::{Payload, ShareName},
};
use crate::{
    index::{IndexMap, at},
    operand::OperandKind,
    schedule::{Role, RoleStep},
    threadblock::Region,
};

/// Where a map sends a point, which has to be below `most`.
fn ask(who: Who, name: &'static str, map: &dyn IndexMap, (row, column): (u32, u32), most: u32) -> Result<u32, RingFault> {
    match map.at(at(row, column)) {
        Some(found) if found < most => Ok(found),
        Some(found) => Err(RingFault::Beyond { who, map: name, found, most }),
        None => Err(RingFault::LeftOut { who, map: name, row, column }),
    }
}

impl<P: Payload> Machine<'_, P> {
    /// A barrier of a block; of another block's, or where `asynchronous`, what set it up has to be fenced.
    pub(super) fn barrier(
        &mut self,
        who: Who,
        step: RoleStep,
        block: u32,
        (region, stage): (Region, u32),
        asynchronous: bool,
    ) -> Result<&mut Barrier, RingFault> {
        let home = &mut self.blocks[block as usize];
        let fenced = home.fenced;
        let barrier = home.barrier(region, stage).ok_or(RingFault::NotSetUp { who, step, block })?;
        if (asynchronous || block != who.name.block) && !fenced {
            return Err(RingFault::InitNotFenced { who, step, block });
        }
        Ok(barrier)
    }

    /// The stage and the phase of tile `t` in a warp's eyes.
    pub(super) fn position(&self, mover: usize, t: u64) -> Result<(u32, u32), RingFault> {
        let who = self.who(mover);
        let (name, map) = match who.role {
            Role::Consumer => ("consumer_position", &*self.program.consumer_position),
            _ => ("producer_position", &*self.program.producer_position),
        };
        let stages = self.program.ring.stages;
        let column = (t % u64::from(2 * stages)) as u32;
        Ok((ask(who, name, map, (0, column), stages)?, ask(who, name, map, (1, column), 2)?))
    }

    /// Waits for the phase before that of tile `t + ahead`.
    pub(super) fn await_empty(&mut self, mover: usize, step: RoleStep, ahead: u32) -> Result<Moved, RingFault> {
        let who = self.who(mover);
        let (stage, phase) = self.position(mover, self.warps[mover].t + u64::from(ahead))?;
        let barrier = self.barrier(who, step, who.name.block, (Region::Empty, stage), false)?;
        Ok(if barrier.passes(phase ^ 1) { Moved::Done } else { Moved::Blocked })
    }

    pub(super) fn drain(&mut self, mover: usize, step: RoleStep) -> Result<Moved, RingFault> {
        while self.warps[mover].drained < self.program.ring.stages {
            let ahead = self.warps[mover].drained;
            if !matches!(self.await_empty(mover, step, ahead)?, Moved::Done) {
                return Ok(Moved::Blocked);
            }
            self.warps[mover].drained += 1;
        }
        self.warps[mover].drained = 0;
        Ok(Moved::Done)
    }

    pub(super) fn await_full(&mut self, mover: usize, step: RoleStep) -> Result<Moved, RingFault> {
        let who = self.who(mover);
        let (stage, phase) = self.position(mover, self.warps[mover].t)?;
        let barrier = self.barrier(who, step, who.name.block, (Region::Full, stage), false)?;
        Ok(if barrier.passes(phase) { Moved::Done } else { Moved::Blocked })
    }

    pub(super) fn expect(&mut self, mover: usize, step: RoleStep) -> Result<Moved, RingFault> {
        let who = self.who(mover);
        let block = who.name.block;
        let (stage, _) = self.position(mover, self.warps[mover].t)?;
        let bytes = self.program.expect_bytes;
        let barrier = self.barrier(who, step, block, (Region::Full, stage), false)?;
        barrier.expect(bytes);
        if !barrier.arrive() {
            return Err(RingFault::TooManyArrivals { who, step, block, barrier: (Region::Full, stage) });
        }
        Ok(Moved::Done)
    }

    pub(super) fn copy(&mut self, mover: usize, step: RoleStep, operand: OperandKind) -> Result<Moved, RingFault> {
        let who = self.who(mover);
        let (rank, ring) = (who.name.block, self.program.ring);
        let (stage, _) = self.position(mover, self.warps[mover].t)?;
        let shared = ring.shares(operand) > 1;
        let share = if shared { ask(who, "share", &*self.program.share, (0, rank), ring.blocks())? } else { 0 };
        let name = ShareName {
            tile: self.warps[mover].tile,
            k: self.warps[mover].k,
            operand,
            block: if shared { None } else { Some(rank) },
            share,
        };
        let data = self.payload.read(name);
        for i in 0..ring.shares(operand) {
            let block =
                if shared { ask(who, "destinations", &*self.program.destinations, (rank, i), ring.blocks())? } else { rank };
            if self.blocks[block as usize].running == 0 {
                return Err(RingFault::BlockLeft { block, arriving: false });
            }
            self.barrier(who, step, block, (Region::Full, stage), true)?;
            let place = &mut self.blocks[block as usize].stages[stage as usize][operand.index()][share as usize];
            if let Some(held) = place.name {
                match (place.written, place.reading, place.unread) {
                    (true, ..) => return Err(RingFault::OverwrittenWhileWritten { who, block, written: held }),
                    (_, 1.., _) => return Err(RingFault::OverwrittenWhileRead { who, block, read: held }),
                    (_, _, 1..) => return Err(RingFault::Overrun { who, block, lost: held }),
                    _ => {}
                }
            }
            (place.name, place.written) = (Some(name), true);
            let bytes = self.program.copy_bytes[operand.index()];
            self.flights.push(Flight { block, stage, cargo: Cargo::Copy { operand, share, name, bytes, data: data.clone() } });
        }
        Ok(Moved::Done)
    }

    pub(super) fn release(&mut self, mover: usize, step: RoleStep, behind: u32) -> Result<Moved, RingFault> {
        let who = self.who(mover);
        let warp = &self.warps[mover];
        if warp.k < behind {
            return Ok(Moved::Done);
        }
        let (stage, _) = self.position(mover, warp.t - u64::from(behind))?;
        for i in 0..self.program.ring.blocks() {
            let row = who.name.block;
            let block = ask(who, "released", &*self.program.released, (row, i), self.program.ring.blocks())?;
            if block != row {
                self.barrier(who, step, block, (Region::Empty, stage), false)?;
                self.flights.push(Flight { block, stage, cargo: Cargo::Arrival { who, step } });
            } else if !self.barrier(who, step, block, (Region::Empty, stage), false)?.arrive() {
                return Err(RingFault::TooManyArrivals { who, step, block, barrier: (Region::Empty, stage) });
            }
        }
        Ok(Moved::Done)
    }
}
