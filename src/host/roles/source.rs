//! C on its way to the consumers, through the buffers in which D takes its place.

use super::{
    RingFault,
    flight::{Cargo, Flight},
    machine::{Machine, Moved},
    payload::{Payload, SliceName},
};
use crate::{schedule::RoleStep, threadblock::Region};

impl<P: Payload> Machine<'_, P> {
    /// The storing thread's stores have read the buffers, and bytes of C are announced.
    pub(super) fn expect_source(&mut self, mover: usize, step: RoleStep) -> Result<Moved, RingFault> {
        let who = self.who(mover);
        if !self.work.source || !self.warps[mover].leads() {
            return Ok(Moved::Done);
        }
        self.stores_have_read(mover, 0);
        let (block, warpgroup, bytes) = (who.name.block, who.name.warpgroup, self.program.source_bytes);
        let barrier = self.barrier(who, step, block, (Region::Source, warpgroup), false)?;
        barrier.expect(bytes);
        if !barrier.arrive() {
            return Err(RingFault::TooManyArrivals { who, step, block, barrier: (Region::Source, warpgroup) });
        }
        Ok(Moved::Done)
    }

    /// A slice of C begins to arrive.
    pub(super) fn fetch_source(&mut self, mover: usize, step: RoleStep, slice: u8) -> Result<Moved, RingFault> {
        let who = self.who(mover);
        if !self.work.source || !self.warps[mover].leads() {
            return Ok(Moved::Done);
        }
        let (block, warpgroup) = (who.name.block, who.name.warpgroup);
        self.barrier(who, step, block, (Region::Source, warpgroup), true)?;
        let name = SliceName { tile: self.warps[mover].tile, slice: u32::from(slice) };
        let number = u32::from(slice) % self.program.ring.staging_buffers;
        let buffer = &self.blocks[block as usize].staging[warpgroup as usize][number as usize];
        let unstored = |name| self.slice_index(who.name, name).is_some_and(|index| self.stored[index] == 0);
        let what = match buffer {
            _ if buffer.reading > 0 => Some("what a store still reads"),
            _ if buffer.incoming => Some("other slices of C that are on their way"),
            _ if buffer.parts.iter().flatten().any(|part| unstored(part.name)) => Some("what is not stored yet"),
            _ => None,
        };
        if let Some(what) = what {
            return Err(RingFault::SourceOverwrites { who, slice: name, what });
        }
        let data = self.payload.fetch(block, warpgroup, name);
        let buffer = &mut self.blocks[block as usize].staging[warpgroup as usize][number as usize];
        (buffer.parts, buffer.source, buffer.incoming) = (Default::default(), None, true);
        let bytes = self.program.ring.staging_bytes;
        self.flights.push(Flight { block, stage: warpgroup, cargo: Cargo::Source { buffer: number, name, bytes, data } });
        Ok(Moved::Done)
    }

    pub(super) fn await_source(&mut self, mover: usize, step: RoleStep) -> Result<Moved, RingFault> {
        if !self.work.source {
            return Ok(Moved::Done);
        }
        let (who, fetched) = (self.who(mover), self.warps[mover].fetched);
        let barrier = self.barrier(who, step, who.name.block, (Region::Source, who.name.warpgroup), false)?;
        if !barrier.passes(fetched % 2) {
            return Ok(Moved::Blocked);
        }
        self.warps[mover].fetched += 1;
        Ok(Moved::Done)
    }

    /// The elements of C that a slice is made with; `None` where none come through its buffer.
    pub(super) fn source_of(&self, mover: usize, wanted: SliceName) -> Result<Option<P::Source>, RingFault> {
        if !(self.work.source && self.program.ring.source) {
            return Ok(None);
        }
        let who = self.who(mover);
        let buffers = &self.blocks[who.name.block as usize].staging[who.name.warpgroup as usize];
        match &buffers[wanted.slice as usize % buffers.len()].source {
            Some((name, data)) if *name == wanted => Ok(Some(data.clone())),
            found => Err(RingFault::SourceNotThere { who, slice: wanted, found: found.as_ref().map(|(name, _)| *name) }),
        }
    }
}
