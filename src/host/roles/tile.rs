//! What steps mean within a warpgroup: products, deposits and stores.

use super::{
    RingFault,
    fragments::Reads,
    machine::{Machine, Moved},
    memory::Part,
    payload::{Payload, ShareName, SliceName},
};
use crate::{operand::OperandKind, schedule::RoleStep};

impl<P: Payload> Machine<'_, P> {
    /// Steps that touch nothing but the block's memory and the warp's registers.
    pub(super) fn perform_own(&mut self, mover: usize, step: RoleStep) -> Result<Moved, RingFault> {
        match step {
            RoleStep::FenceOperands => self.warps[mover].touched = false,
            RoleStep::MultiplyStage if self.program.promoted_parts == 0 => self.multiply(mover, None)?,
            RoleStep::MultiplyPart { part } if u32::from(part) < self.program.promoted_parts => {
                self.multiply(mover, Some(part))?
            }
            RoleStep::Promote { part } => self.promote(mover, part)?,
            RoleStep::CommitProducts => {
                let warp = &mut self.warps[mover];
                warp.groups.push_back(core::mem::take(&mut warp.products));
            }
            RoleStep::AwaitProducts { pending } => {
                let warp = &mut self.warps[mover];
                let (bit, block) = (warp.bit(), &mut self.blocks[warp.name.block as usize]);
                while warp.groups.len() > usize::from(pending) {
                    for read in warp.groups.pop_front().into_iter().flatten() {
                        if let Some(set) = read.set {
                            warp.fragments[set].reading -= 1;
                        }
                        block.stages[read.stage as usize].iter_mut().flatten().for_each(|share| share.reading &= !bit);
                    }
                }
            }
            RoleStep::AwaitStores { pending } => self.stores_have_read(mover, usize::from(pending)),
            RoleStep::LoadFragments => self.load_fragments(mover)?,
            RoleStep::LoadFirst if self.program.by_threads => self.load_first(mover)?,
            RoleStep::MeetWarp if self.program.by_threads => self.meet_lanes(mover),
            RoleStep::MultiplyLast if self.program.by_threads => self.multiply_last(mover)?,
            RoleStep::Deposit { slice } => self.deposit(mover, slice)?,
            RoleStep::FenceProxy => {
                let name = self.warps[mover].name;
                for buffer in &mut self.blocks[name.block as usize].staging[name.warpgroup as usize] {
                    if let Some(part) = &mut buffer.parts[name.warp as usize] {
                        part.visible = true;
                    }
                }
            }
            RoleStep::StoreTensor { slice } => self.store(mover, slice)?,
            RoleStep::StoreThreads if self.program.by_threads => self.store_threads(mover)?,
            RoleStep::CommitStores => {
                let warp = &mut self.warps[mover];
                if warp.leads() {
                    warp.store_groups.push_back(core::mem::take(&mut warp.stores));
                }
            }
            _ => return Err(RingFault::ForeignStep { who: self.who(mover), step }),
        }
        Ok(Moved::Done)
    }

    /// All but so many of a warp's groups of stores have read their buffers.
    pub(super) fn stores_have_read(&mut self, mover: usize, pending: usize) {
        let warp = &mut self.warps[mover];
        let staging = &mut self.blocks[warp.name.block as usize].staging[warp.name.warpgroup as usize];
        while warp.store_groups.len() > pending {
            for buffer in warp.store_groups.pop_front().into_iter().flatten() {
                staging[buffer as usize].reading -= 1;
            }
        }
    }

    /// Begins to multiply a stage, or one part of it.
    pub(super) fn multiply(&mut self, mover: usize, part: Option<u8>) -> Result<(), RingFault> {
        let who = self.who(mover);
        let (stage, _) = self.position(mover, self.warps[mover].t)?;
        let parts = self.program.promoted_parts;
        let warp = &mut self.warps[mover];
        if warp.registers < self.program.consumer_registers {
            return Err(RingFault::Registers { who, has: warp.registers, needs: self.program.consumer_registers });
        }
        if warp.touched && !self.program.by_threads {
            return Err(RingFault::OperandsNotFenced { who });
        }
        let first = warp.k == 0;
        let after = if warp.summed.0 == warp.tile { warp.summed.1 } else { 0 };
        if warp.k != after {
            return Err(RingFault::OutOfOrder { who, k: warp.k, after });
        }
        let is_last = match part {
            None => true,
            Some(part) => warp.begins_part(who, part, parts)?,
        };
        if self.program.by_threads && warp.loaded.take() != Some((warp.tile, warp.k)) {
            return Err(RingFault::NotLoaded { who, k: warp.k });
        }
        let data = self.read_stage(mover, stage, is_last)?;
        let warp = &mut self.warps[mover];
        let data = data.each_ref().map(|shares| &shares[..]);
        if part.is_none() {
            if self.program.by_threads {
                warp.begun = Some((warp.tile, after));
            } else {
                warp.summed = (warp.tile, after + 1);
            }
            self.payload.multiply(who.name, part, first, &mut warp.sums, data);
        } else {
            self.payload.multiply(who.name, part, true, &mut warp.partial, data);
        }
        self.tally.products += u64::from(is_last);
        Ok(())
    }

    /// A warp begins to read its tile from a stage, for the last time or not: what it finds there.
    pub(super) fn read_stage(&mut self, mover: usize, stage: u32, is_last: bool) -> Result<[Vec<P::Share>; 2], RingFault> {
        let set = self.fragment_set(self.warps[mover].k);
        let a = match set {
            Some(set) => self.take_fragments(mover, set)?,
            None => self.read_operand(mover, stage, OperandKind::A, (true, is_last))?,
        };
        let b = self.read_operand(mover, stage, OperandKind::B, (true, is_last))?;
        self.warps[mover].products.push(Reads { stage, set });
        Ok([a, b])
    }

    /// A warp reads an operand of its tile from a stage: whether it goes on reading until that is waited for, and whether it does so for
    /// the last time.
    pub(super) fn read_operand(
        &mut self,
        mover: usize,
        stage: u32,
        operand: OperandKind,
        (goes_on, is_last): (bool, bool),
    ) -> Result<Vec<P::Share>, RingFault> {
        let who = self.who(mover);
        let (warp, ring) = (&self.warps[mover], &self.program.ring);
        let bit = warp.bit();
        let block = if ring.shares(operand) > 1 { None } else { Some(who.name.block) };
        let mut data = Vec::new();
        let shares = &mut self.blocks[who.name.block as usize].stages[stage as usize][operand.index()];
        for (share, place) in (0..).zip(shares) {
            let wanted = ShareName { tile: warp.tile, k: warp.k, operand, block, share };
            let (Some(found), Some(held), false) = (place.name, &place.data, place.written) else {
                return Err(RingFault::NotFull { who, stage, operand });
            };
            if found != wanted {
                return Err(RingFault::Stale { who, wanted, found });
            }
            if goes_on {
                place.reading |= bit;
            }
            if is_last {
                place.unread &= !bit;
            }
            data.push(held.clone());
        }
        Ok(data)
    }

    pub(super) fn deposit(&mut self, mover: usize, slice: u8) -> Result<(), RingFault> {
        let who = self.who(mover);
        let name = SliceName { tile: self.warps[mover].tile, slice: u32::from(slice) };
        let warp = &mut self.warps[mover];
        if !warp.products.is_empty() || warp.groups.iter().any(|group| !group.is_empty()) {
            return Err(RingFault::ProductsUnderWay { who, slice });
        }
        let multiplied = if warp.summed.0 == warp.tile { warp.summed.1 } else { 0 };
        if multiplied != self.work.k_tiles {
            return Err(RingFault::Unfinished { who, multiplied, wanted: self.work.k_tiles });
        }
        let source = self.source_of(mover, name)?;
        let warp = &mut self.warps[mover];
        let buffers = &mut self.blocks[who.name.block as usize].staging[who.name.warpgroup as usize];
        let buffer = usize::from(slice) % buffers.len();
        if buffers[buffer].reading > 0 {
            return Err(RingFault::StagingRead { who, slice });
        }
        let data = self.payload.deposit(who.name, name, multiplied == 0, &warp.sums, source.as_ref());
        warp.touched = true;
        buffers[buffer].parts[who.name.warp as usize] = Some(Part { name, data, visible: false });
        Ok(())
    }

    pub(super) fn store(&mut self, mover: usize, slice: u8) -> Result<(), RingFault> {
        if !self.warps[mover].leads() {
            return Ok(());
        }
        let who = self.who(mover);
        let wanted = SliceName { tile: self.warps[mover].tile, slice: u32::from(slice) };
        let index = self.slice_index(who.name, wanted);
        let buffers = &mut self.blocks[who.name.block as usize].staging[who.name.warpgroup as usize];
        let buffer = usize::from(slice) % buffers.len();
        for part in &buffers[buffer].parts {
            match part {
                Some(part) if part.name == wanted && part.visible => {}
                Some(part) if part.name == wanted => return Err(RingFault::NotVisible { who, slice: wanted }),
                other => {
                    return Err(RingFault::NotDeposited { who, wanted, found: other.as_ref().map(|part| part.name) });
                }
            }
        }
        let [Some(a), Some(b), Some(c), Some(d)] = &buffers[buffer].parts else {
            return Err(RingFault::NotDeposited { who, wanted, found: None });
        };
        self.payload.store(who.name.block, who.name.warpgroup, wanted, [a, b, c, d].map(|part| &part.data));
        buffers[buffer].reading += 1;
        self.warps[mover].stores.push(buffer as u32);
        self.tally.stores += 1;
        match index.and_then(|index| self.stored.get_mut(index)) {
            Some(times) if *times == 0 => *times = 1,
            Some(_) => return Err(RingFault::StoredTwice { who, slice: wanted }),
            None => return Err(RingFault::ForeignStep { who, step: RoleStep::StoreTensor { slice } }),
        }
        Ok(())
    }
}
