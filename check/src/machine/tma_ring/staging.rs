//! The steps of C and D: C arrives in the staging buffers of the consumers, and D replaces it
//! there.

use super::{Bytes, Cargo, Cluster, Contents, Flight};
use crate::machine::memory::Conflict;
use falchion::{
    internals::schedule::{Fault, RoleStep, SubtileName},
    threadblock::Region,
};
use std::sync::Arc;

impl Cluster<'_> {
    /// Returns the name of a subtile of the warp's current tile of D.
    fn subtile(&self, mover: usize, subtile: u8) -> SubtileName {
        SubtileName { tile: self.warps[mover].at().0, subtile: u32::from(subtile) }
    }

    /// Ends the buffer reads of all store groups of a warp except the last `pending` ones.
    pub(super) fn stores_have_read(&mut self, mover: usize, pending: usize) {
        let warp = &mut self.warps[mover];
        while warp.store_groups.len() > pending {
            for cells in warp.store_groups.pop_front().into_iter().flatten() {
                cells.for_each(|cell| self.memory.end_reading(cell, &warp.progress.clock));
            }
        }
    }

    /// Waits until the leading thread's stores have read the buffers, and expects the bytes of C.
    pub(super) fn expect_source(&mut self, mover: usize, step: RoleStep) -> Result<(), Fault> {
        if !self.warps[mover].leads() {
            return Ok(());
        }
        self.stores_have_read(mover, 0);
        let consumer = self.who(mover).name.warpgroup;
        self.arrive(mover, step, (Region::Source, consumer), self.program.source_bytes)
    }

    /// Begins the copy of a subtile of C.
    pub(super) fn fetch_source(
        &mut self,
        mover: usize,
        step: RoleStep,
        subtile: u8,
    ) -> Result<(), Fault> {
        if !self.warps[mover].leads() {
            return Ok(());
        }
        let (who, name, cells) =
            (self.who(mover), self.subtile(mover, subtile), self.cells_of_subtile(mover, subtile)?);
        let (block, consumer) = (who.name.block, who.name.warpgroup);
        self.barrier(mover, step, block, (Region::Source, consumer), true)?;
        let over = |what| Fault::SourceOverwrites { who, subtile: name, what };
        let data = self.payload.fetch(block, consumer, name);
        for cell in cells.clone() {
            if let Contents::Staged(staged, ..) = self.memory.content(cell)
                && !self.stored.contains(&(block, consumer, *staged))
            {
                return Err(over("a subtile of D that is not stored yet"));
            }
            let contents = Contents::Source(name, data.clone());
            let sent = self.memory.send(cell, &self.warps[mover].progress.clock, 0, contents);
            sent.map_err(|conflict| match conflict {
                Conflict::OverRead(_) => over("a subtile of D that a store still reads"),
                _ => over("other subtiles of C that are on their way"),
            })?;
        }
        let cargo = Cargo::Source(cells, self.program.ring.staging_bytes);
        self.flights.push(Flight { block, stage: consumer, cargo });
        Ok(())
    }

    /// Returns the elements of C for a subtile; `None` if C does not come through the staging
    /// buffers.
    fn source_of(
        &mut self,
        mover: usize,
        cell: usize,
        wanted: SubtileName,
    ) -> Result<Option<Bytes>, Fault> {
        if !(self.work.source && self.program.ring.source) {
            return Ok(None);
        }
        let warp = &self.warps[mover];
        let found = match self.memory.read(cell, &warp.progress.clock, 0) {
            Ok(Contents::Source(name, data)) if *name == wanted => return Ok(Some(data.clone())),
            Ok(Contents::Source(name, _)) => Some(*name),
            _ => None,
        };
        Err(Fault::SourceNotThere { who: warp.who, subtile: wanted, found })
    }

    /// Writes the warp's part of the vectors of the epilogue.
    pub(super) fn stage_vectors(&mut self, mover: usize) -> Result<(), Fault> {
        let who = self.who(mover);
        let cell = self.cells_of_vectors(mover).start + who.name.warp as usize;
        let warp = &self.warps[mover];
        self.memory
            .write(cell, &warp.progress.clock, 0, Contents::Vectors(warp.at().0))
            .map_err(|_| Fault::VectorsRead { who })
    }

    /// Reads the vectors of the epilogue, all of which the consumer must have staged.
    fn read_vectors(&mut self, mover: usize, subtile: SubtileName) -> Result<(), Fault> {
        if self.program.ring.vector_bytes == 0 {
            return Ok(());
        }
        for cell in self.cells_of_vectors(mover) {
            let warp = &self.warps[mover];
            let found = self.memory.read(cell, &warp.progress.clock, 0);
            if !matches!(found, Ok(Contents::Vectors(tile)) if *tile == subtile.tile) {
                return Err(Fault::VectorsNotThere { who: warp.who, subtile });
            }
        }
        Ok(())
    }

    pub(super) fn stage(&mut self, mover: usize, subtile: u8) -> Result<(), Fault> {
        let (who, name) = (self.who(mover), self.subtile(mover, subtile));
        if self.warps[mover].multiplies() {
            return Err(Fault::ProductsUnderWay { who, subtile });
        }
        self.has_sum(mover)?;
        let multiplied = self.multiplied(mover)?;
        let cell = self.cells_of_subtile(mover, subtile)?.start + who.name.warp as usize;
        let source = self.source_of(mover, cell, name)?;
        self.read_vectors(mover, name)?;
        let warp = &mut self.warps[mover];
        let warp_subtile = self.payload.stage(
            who.name,
            name,
            multiplied == 0,
            &warp.accumulators,
            source.as_ref(),
        );
        warp.fenced = false;
        let contents = Contents::Staged(name, Arc::new(warp_subtile), None);
        self.memory
            .write(cell, &warp.progress.clock, 0, contents)
            .map_err(|_| Fault::StagingRead { who, subtile })
    }

    /// Makes the warp's staged elements visible to asynchronous copies.
    pub(super) fn fence_proxy(&mut self, mover: usize) {
        let number = self.who(mover).name.warp as usize;
        for buffer in 0..self.program.ring.staging_buffers as u8 {
            if let Ok(cells) = self.cells_of_subtile(mover, buffer)
                && let Contents::Staged(.., visible) = self.memory.content_mut(cells.start + number)
            {
                // A later fence, of gathered lines, changes nothing for elements that are visible.
                visible.get_or_insert(self.warps[mover].progress.clock.event());
            }
        }
    }

    pub(super) fn store(&mut self, mover: usize, subtile: u8) -> Result<(), Fault> {
        if !self.warps[mover].leads() {
            return Ok(());
        }
        let (who, wanted, cells) =
            (self.who(mover), self.subtile(mover, subtile), self.cells_of_subtile(mover, subtile)?);
        let mut subtiles = [const { None }; 4];
        for (subtile, cell) in subtiles.iter_mut().zip(cells.clone()) {
            let clock = &self.warps[mover].progress.clock;
            let found = match self.memory.read(cell, clock, 0) {
                Ok(Contents::Staged(name, warp_subtile, visible)) if *name == wanted => {
                    if !clock.is_behind(*visible) {
                        return Err(Fault::NotVisible { who, subtile: wanted });
                    }
                    *subtile = Some(warp_subtile.clone());
                    self.memory.begin_reading(cell, mover);
                    continue;
                }
                Ok(Contents::Staged(name, ..)) => Some(*name),
                _ => None,
            };
            return Err(Fault::SubtileNotStaged { who, wanted, found });
        }
        if let [Some(a), Some(b), Some(c), Some(d)] = &subtiles {
            self.payload.store(
                who.name.block,
                who.name.warpgroup,
                wanted,
                [a, b, c, d].map(|subtile| &**subtile),
            );
        }
        self.warps[mover].stores.push(cells);
        self.count_stored(who, wanted, RoleStep::StoreTensor { subtile })
    }
}
