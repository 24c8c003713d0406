//! The steps of products: on whole stages or instruction tiles of stages, with A from shared memory
//! or from registers, by warpgroups or by threads.
//!
//! The instruction tiles of a stage are multiplied one by one into partial accumulators and
//! promoted from there. A warp has one set of partial accumulators. If threads multiply, a warp has
//! read a stage after its lanes have synchronized. The last k of a stage is multiplied later, from
//! registers.

use super::{
    Bytes, Cluster, Contents,
    warp::{FragmentSet, Reads},
};
use falchion::internals::{
    schedule::{Fault, RoleStep, ShareName, Spelled, SubtileName},
    shape::OperandKind,
};

impl Cluster<'_> {
    /// Performs a product step of a consumer.
    pub(super) fn perform_product(&mut self, mover: usize, step: RoleStep) -> Result<(), Fault> {
        let (by_threads, tiles) = (self.program.by_threads, self.program.promoted_tiles);
        let warp = &mut self.warps[mover];
        match step {
            RoleStep::FenceOperands => warp.fenced = true,
            RoleStep::MultiplyStage if tiles == 0 => self.multiply(mover, None)?,
            RoleStep::MultiplyInstructionTile { tile } if u32::from(tile) < tiles => {
                self.multiply(mover, Some(tile))?
            }
            RoleStep::Promote { tile } => self.promote(mover, tile)?,
            RoleStep::CommitProducts => {
                let products = core::mem::take(&mut warp.products);
                warp.groups.push_back(products);
            }
            RoleStep::AwaitProducts { pending } => {
                while self.warps[mover].groups.len() > usize::from(pending) {
                    let group = self.warps[mover].groups.pop_front();
                    self.have_read(mover, group.unwrap_or_default());
                }
            }
            RoleStep::LoadFragments => self.load_fragments(mover)?,
            RoleStep::LoadFirst if by_threads => self.load_first(mover)?,
            // After this step, no lane of the warp reads a stage.
            RoleStep::MeetWarp if by_threads => {
                let products = core::mem::take(&mut warp.products);
                self.have_read(mover, products);
            }
            // The tile whose products have begun is summed.
            RoleStep::MultiplyLast if by_threads => {
                let (tile, k) = warp.begun.take().ok_or(Fault::NothingBegun { who: warp.who })?;
                warp.summed = (tile, k + 1);
            }
            RoleStep::StoreThreads if by_threads => self.store_threads(mover)?,
            step => return Err(Fault::ForeignStep { step: step.name() }),
        }
        Ok(())
    }

    /// Ends the reads of stages and fragments by products that the warp has waited for.
    fn have_read(&mut self, mover: usize, products: Vec<Reads>) {
        let block = self.who(mover).name.block;
        for Reads { stage, set } in products {
            let cells = OperandKind::BOTH.map(|operand| self.shares(block, stage, operand));
            let warp = &mut self.warps[mover];
            if let Some(set) = set {
                warp.fragments[set].reading -= 1;
            }
            cells
                .into_iter()
                .flatten()
                .for_each(|cell| self.memory.end_reading(cell, &warp.progress.clock));
        }
    }

    /// Returns the fragment set for k-tile `k`; `None` if A is not loaded into registers.
    fn fragment_set(&self, k: u32) -> Option<usize> {
        Some(k.checked_rem(self.program.fragment_sets)? as usize)
    }

    /// Loads A of a stage into registers. These registers are ordered with products only after a
    /// fence.
    fn load_fragments(&mut self, mover: usize) -> Result<(), Fault> {
        let (who, of) = (self.who(mover), self.warps[mover].at());
        let foreign = Fault::ForeignStep { step: RoleStep::LoadFragments.name() };
        let set = self.fragment_set(of.1).ok_or(foreign)?;
        if self.warps[mover].fragments[set].reading > 0 {
            return Err(Fault::FragmentsOverwritten { who, k: of.1, set: set as u32 });
        }
        let (stage, _) = self.position(mover, self.warps[mover].t)?;
        self.is_cleared(mover)?;
        let data = self.read_operand(mover, stage, OperandKind::A, false)?;
        let warp = &mut self.warps[mover];
        warp.fragments[set] = FragmentSet { of: Some(of), data, reading: 0 };
        warp.fenced = false;
        Ok(())
    }

    /// Loads each lane's first fragments of a k-tile, if the k-tile exists.
    fn load_first(&mut self, mover: usize) -> Result<(), Fault> {
        let of = self.warps[mover].at();
        if of.1 < self.work_of(self.who(mover).name.block).k_tiles_of(of.0) {
            let (stage, _) = self.position(mover, self.warps[mover].t)?;
            self.read_stage(mover, stage)?;
            self.warps[mover].loaded = Some(of);
        }
        Ok(())
    }

    /// Begins the products of a stage, or of one instruction tile of it.
    fn multiply(&mut self, mover: usize, tile: Option<u8>) -> Result<(), Fault> {
        let who = self.who(mover);
        let (stage, _) = self.position(mover, self.warps[mover].t)?;
        let (by_threads, tiles, needs) =
            (self.program.by_threads, self.program.promoted_tiles, self.program.consumer_registers);
        let warp = &mut self.warps[mover];
        let ((unit, k), after) = (warp.at(), warp.multiplied());
        if warp.registers < needs {
            return Err(Fault::Registers { who, has: warp.registers, needs });
        }
        if !warp.fenced && !by_threads {
            return Err(Fault::OperandsNotFenced { who });
        }
        if k != after {
            return Err(Fault::StageOutOfOrder { who, k, after });
        }
        let is_last = tile.map_or(Ok(true), |tile| warp.begins_tile(tile, tiles))?;
        if by_threads && warp.loaded.take() != Some((unit, k)) {
            return Err(Fault::NotLoaded { who, k });
        }
        let [a, b] = self.read_stage(mover, stage)?;
        let warp = &mut self.warps[mover];
        match tile {
            None if by_threads => warp.begun = Some((unit, after)),
            None => warp.summed = (unit, after + 1),
            Some(_) => {}
        }
        let (first, accumulators) = if tile.is_none() {
            (k == 0, &mut warp.accumulators)
        } else {
            (true, &mut warp.partial)
        };
        self.payload.multiply(who.name, tile, first, accumulators, [&a, &b]);
        self.tally.products += u64::from(is_last);
        Ok(())
    }

    /// Begins the reads of products from a stage, and from a fragment set if A is in registers.
    /// Returns the shares that were found.
    fn read_stage(&mut self, mover: usize, stage: u32) -> Result<[Vec<Bytes>; 2], Fault> {
        let of = self.warps[mover].at();
        self.is_cleared(mover)?;
        let set = self.fragment_set(of.1);
        let a = match set {
            Some(set) => {
                let warp = &mut self.warps[mover];
                if warp.fragments[set].of != Some(of) {
                    return Err(Fault::NotLoaded { who: warp.who, k: of.1 });
                }
                warp.fragments[set].reading += 1;
                warp.fragments[set].data.clone()
            }
            None => self.read_operand(mover, stage, OperandKind::A, true)?,
        };
        let b = self.read_operand(mover, stage, OperandKind::B, true)?;
        self.warps[mover].products.push(Reads { stage, set });
        Ok([a, b])
    }

    /// Reads an operand of the warp's k-tile from a stage. With `goes_on`, the read lasts until the
    /// warp waits for it.
    pub(super) fn read_operand(
        &mut self,
        mover: usize,
        stage: u32,
        operand: OperandKind,
        goes_on: bool,
    ) -> Result<Vec<Bytes>, Fault> {
        let (who, (tile, k)) = (self.who(mover), self.warps[mover].at());
        if goes_on {
            self.are_lines_fenced(mover, operand)?;
        }
        let block = if self.program.ring.shares(operand) > 1 { None } else { Some(who.name.block) };
        let mut data = Vec::new();
        for (share, cell) in (0..).zip(self.shares(who.name.block, stage, operand)) {
            let wanted = ShareName { tile, k, operand, block, share };
            match self.memory.read(cell, &self.warps[mover].progress.clock, 0) {
                Ok(Contents::Share(found, held)) if *found == wanted => data.push(held.clone()),
                Ok(&Contents::Share(found, _)) => {
                    return Err(Fault::StaleShare { who, wanted, found });
                }
                _ => return Err(Fault::NotFull { who, stage, operand }),
            }
            if goes_on {
                self.memory.begin_reading(cell, mover);
            }
        }
        Ok(data)
    }

    /// Adds the partial accumulators to those of an instruction tile. The stage is summed after its
    /// last tile.
    fn promote(&mut self, mover: usize, tile: u8) -> Result<(), Fault> {
        let warp = &mut self.warps[mover];
        let (who, before) = (warp.who, warp.multiplied());
        if warp.multiplies() {
            return Err(Fault::TileUnderWay { who, tile });
        }
        if warp.held != Some(tile) {
            return Err(Fault::NothingToPromote { who, tile, found: warp.held });
        }
        self.payload.promote(who.name, tile, before == 0, &warp.partial, &mut warp.accumulators);
        // Instructions other than products read the partial accumulators, so they are not ordered
        // with products.
        (warp.held, warp.fenced) = (None, false);
        warp.promoted += 1;
        if warp.promoted == self.program.promoted_tiles {
            warp.summed = (warp.at().0, before + 1);
            (warp.tiles, warp.promoted) = (Vec::new(), 0);
        }
        Ok(())
    }

    /// Returns the number of k-tiles in the accumulators, which must be all k-tiles of the unit.
    pub(super) fn multiplied(&self, mover: usize) -> Result<u32, Fault> {
        let warp = &self.warps[mover];
        let wanted = self.work_of(warp.who.name.block).k_tiles_of(warp.at().0);
        let multiplied = warp.multiplied();
        if multiplied == wanted {
            Ok(multiplied)
        } else {
            Err(Fault::TileUnfinished { who: warp.who, multiplied, wanted })
        }
    }

    /// Stores the accumulators of a warp's threads to D.
    fn store_threads(&mut self, mover: usize) -> Result<(), Fault> {
        self.has_sum(mover)?;
        let multiplied = self.multiplied(mover)?;
        let warp = &self.warps[mover];
        let (who, tile) = (warp.who, warp.at().0);
        self.payload.store_threads(who.name, tile, multiplied == 0, &warp.accumulators);
        self.count_stored(who, SubtileName { tile, subtile: who.name.warp }, RoleStep::StoreThreads)
    }
}
