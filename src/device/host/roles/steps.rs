//! What each step means.

use super::{
    RingFault,
    barrier::Barrier,
    fault::Who,
    flight::{Cargo, Flight},
    machine::{Machine, Moved},
    memory::Part,
    payload::{Payload, ShareName, SliceName},
};
use crate::{
    desc::OperandKind,
    index::{IndexMap, at},
    schedule::{Role, RoleStep},
    threadblock::Region,
};

/// Threads of a warp.
const LANES: u32 = 32;

impl<P: Payload> Machine<'_, P> {
    fn who(&self, mover: usize) -> Who {
        Who { role: self.warps[mover].role, name: self.warps[mover].name }
    }

    /// A warp performs a step.
    pub fn perform(&mut self, mover: usize, step: RoleStep) -> Result<Moved, RingFault> {
        let who = self.who(mover);
        let is = |role| if who.role == role { Ok(()) } else { Err(RingFault::ForeignStep { who, step }) };
        match step {
            RoleStep::InitBarriers => self.init_barriers(who),
            RoleStep::FenceBarrierInit => {
                if who.sets_up() {
                    let block = &mut self.blocks[who.name.block as usize];
                    block.fenced = !block.barriers[0].is_empty();
                }
                Ok(Moved::Done)
            }
            RoleStep::MeetBlock | RoleStep::MeetCluster | RoleStep::Meet => self.meet(mover, step),
            RoleStep::RegistersDown { count } => self.registers_down(mover, u32::from(count)),
            RoleStep::RegistersUp { count } => self.registers_up(mover, u32::from(count)),
            RoleStep::Advance => {
                let warp = &mut self.warps[mover];
                (warp.t, warp.k) = (warp.t + 1, warp.k + 1);
                Ok(Moved::Done)
            }
            RoleStep::AwaitEmpty => is(Role::Producer).and_then(|()| self.await_empty(mover, step, 0)),
            RoleStep::Drain => is(Role::Producer).and_then(|()| self.drain(mover, step)),
            RoleStep::Expect => is(Role::Producer).and_then(|()| self.expect(mover, step)),
            RoleStep::CopyTensor { operand } => is(Role::Producer).and_then(|()| self.copy(mover, step, operand)),
            RoleStep::AwaitFull => is(Role::Consumer).and_then(|()| self.await_full(mover, step)),
            RoleStep::Release { behind } => is(Role::Consumer).and_then(|()| self.release(mover, step, u32::from(behind))),
            _ => is(Role::Consumer).and_then(|()| self.perform_own(mover, step)),
        }
    }

    /// A barrier of a block; of another block's, or where `asynchronous`, what set it up has to be fenced.
    fn barrier(
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
    fn position(&self, mover: usize, t: u64) -> Result<(u32, u32), RingFault> {
        let who = self.who(mover);
        let (name, map) = match who.role {
            Role::Consumer => ("consumer_position", &self.program.consumer_position),
            _ => ("producer_position", &self.program.producer_position),
        };
        let column = (t % u64::from(2 * self.program.ring.stages)) as u32;
        let of = |row| map.at(at(row, column)).ok_or(RingFault::LeftOut { who, map: name, row, column });
        Ok((of(0)?, of(1)?))
    }

    fn init_barriers(&mut self, who: Who) -> Result<Moved, RingFault> {
        if who.sets_up() {
            let block = &mut self.blocks[who.name.block as usize];
            if !block.barriers[0].is_empty() {
                return Err(RingFault::SetUpTwice { who });
            }
            let stages = self.program.ring.stages as usize;
            block.barriers =
                [self.program.full_arrivals, self.program.empty_arrivals].map(|count| vec![Barrier::new(count); stages]);
        }
        Ok(Moved::Done)
    }

    fn meet(&mut self, mover: usize, step: RoleStep) -> Result<Moved, RingFault> {
        let name = self.warps[mover].name;
        let who = self.who(mover);
        let meeting = match step {
            RoleStep::MeetCluster => &mut self.cluster,
            RoleStep::MeetBlock => &mut self.blocks[name.block as usize].meeting,
            _ if who.role == Role::Consumer => &mut self.blocks[name.block as usize].meetings[name.warpgroup as usize],
            _ => return Err(RingFault::ForeignStep { who, step }),
        };
        let warp = &mut self.warps[mover];
        match warp.meeting {
            None => match meeting.arrive() {
                None => Ok(Moved::Done),
                number => {
                    warp.meeting = number;
                    Ok(Moved::Begun)
                }
            },
            Some(number) if meeting.is_over(number) => {
                warp.meeting = None;
                Ok(Moved::Done)
            }
            Some(_) => Ok(Moved::Blocked),
        }
    }

    fn registers_down(&mut self, mover: usize, count: u32) -> Result<Moved, RingFault> {
        let who = self.who(mover);
        let warp = &mut self.warps[mover];
        let Some(freed) = warp.registers.checked_sub(count) else {
            return Err(RingFault::Registers { who, has: warp.registers, needs: count });
        };
        warp.registers = count;
        self.blocks[who.name.block as usize].free_registers += freed * LANES;
        Ok(Moved::Done)
    }

    fn registers_up(&mut self, mover: usize, count: u32) -> Result<Moved, RingFault> {
        let who = self.who(mover);
        let warp = &mut self.warps[mover];
        let Some(wanted) = count.checked_sub(warp.registers) else {
            return Err(RingFault::Registers { who, has: warp.registers, needs: count });
        };
        let free = &mut self.blocks[who.name.block as usize].free_registers;
        let Some(left) = free.checked_sub(wanted * LANES) else { return Ok(Moved::Blocked) };
        (*free, warp.registers) = (left, count);
        Ok(Moved::Done)
    }

    /// Waits for the phase before that of tile `t + ahead`.
    fn await_empty(&mut self, mover: usize, step: RoleStep, ahead: u32) -> Result<Moved, RingFault> {
        let who = self.who(mover);
        let (stage, phase) = self.position(mover, self.warps[mover].t + u64::from(ahead))?;
        let barrier = self.barrier(who, step, who.name.block, (Region::Empty, stage), false)?;
        Ok(if barrier.passes(phase ^ 1) { Moved::Done } else { Moved::Blocked })
    }

    fn drain(&mut self, mover: usize, step: RoleStep) -> Result<Moved, RingFault> {
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

    fn await_full(&mut self, mover: usize, step: RoleStep) -> Result<Moved, RingFault> {
        let who = self.who(mover);
        let (stage, phase) = self.position(mover, self.warps[mover].t)?;
        let barrier = self.barrier(who, step, who.name.block, (Region::Full, stage), false)?;
        Ok(if barrier.passes(phase) { Moved::Done } else { Moved::Blocked })
    }

    fn expect(&mut self, mover: usize, step: RoleStep) -> Result<Moved, RingFault> {
        let who = self.who(mover);
        let block = who.name.block;
        let (stage, _) = self.position(mover, self.warps[mover].t)?;
        let bytes = self.program.expect_bytes;
        let barrier = self.barrier(who, step, block, (Region::Full, stage), false)?;
        barrier.expect(bytes);
        if !barrier.arrive() {
            return Err(RingFault::TooManyArrivals { who, step, block, stage });
        }
        Ok(Moved::Done)
    }

    fn copy(&mut self, mover: usize, step: RoleStep, operand: OperandKind) -> Result<Moved, RingFault> {
        let who = self.who(mover);
        let (rank, ring) = (who.name.block, self.program.ring);
        let (stage, _) = self.position(mover, self.warps[mover].t)?;
        let ask = |name, map: &dyn IndexMap, row, column| {
            map.at(at(row, column)).ok_or(RingFault::LeftOut { who, map: name, row, column })
        };
        let shared = ring.shares(operand) > 1;
        let share = if shared { ask("share", &*self.program.share, 0, rank)? } else { 0 };
        let name = ShareName {
            tile: self.warps[mover].tile,
            k: self.warps[mover].k,
            operand,
            block: if shared { None } else { Some(rank) },
            share,
        };
        let data = self.payload.read(name);
        for i in 0..ring.shares(operand) {
            let block = if shared { ask("destinations", &*self.program.destinations, rank, i)? } else { rank };
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

    fn release(&mut self, mover: usize, step: RoleStep, behind: u32) -> Result<Moved, RingFault> {
        let who = self.who(mover);
        let warp = &self.warps[mover];
        if warp.k < behind {
            return Ok(Moved::Done);
        }
        let (stage, _) = self.position(mover, warp.t - u64::from(behind))?;
        for i in 0..self.program.ring.blocks() {
            let row = who.name.block;
            let block =
                self.program.released.at(at(row, i)).ok_or(RingFault::LeftOut { who, map: "released", row, column: i })?;
            if block != row {
                self.barrier(who, step, block, (Region::Empty, stage), false)?;
                self.flights.push(Flight { block, stage, cargo: Cargo::Arrival { who, step } });
            } else if !self.barrier(who, step, block, (Region::Empty, stage), false)?.arrive() {
                return Err(RingFault::TooManyArrivals { who, step, block, stage });
            }
        }
        Ok(Moved::Done)
    }

    /// Steps that touch nothing but the block's memory and the warp's registers.
    fn perform_own(&mut self, mover: usize, step: RoleStep) -> Result<Moved, RingFault> {
        match step {
            RoleStep::FenceOperands => self.warps[mover].touched = false,
            RoleStep::MultiplyStage => self.multiply(mover)?,
            RoleStep::CommitProducts => {
                let warp = &mut self.warps[mover];
                warp.groups.push_back(core::mem::take(&mut warp.products));
            }
            RoleStep::AwaitProducts { pending } => {
                let warp = &mut self.warps[mover];
                let (bit, block) = (warp.bit(), &mut self.blocks[warp.name.block as usize]);
                while warp.groups.len() > usize::from(pending) {
                    for stage in warp.groups.pop_front().into_iter().flatten() {
                        block.stages[stage as usize].iter_mut().flatten().for_each(|share| share.reading &= !bit);
                    }
                }
            }
            RoleStep::AwaitStores { pending } => {
                let warp = &mut self.warps[mover];
                let staging = &mut self.blocks[warp.name.block as usize].staging[warp.name.warpgroup as usize];
                while warp.store_groups.len() > usize::from(pending) {
                    for buffer in warp.store_groups.pop_front().into_iter().flatten() {
                        staging[buffer as usize].reading -= 1;
                    }
                }
            }
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

    fn multiply(&mut self, mover: usize) -> Result<(), RingFault> {
        let who = self.who(mover);
        let (stage, _) = self.position(mover, self.warps[mover].t)?;
        let (warp, ring) = (&mut self.warps[mover], &self.program.ring);
        if warp.registers < self.program.consumer_registers {
            return Err(RingFault::Registers { who, has: warp.registers, needs: self.program.consumer_registers });
        }
        if warp.touched {
            return Err(RingFault::OperandsNotFenced { who });
        }
        let (bit, first) = (warp.bit(), warp.k == 0);
        let after = if warp.summed.0 == warp.tile { warp.summed.1 } else { 0 };
        if warp.k != after {
            return Err(RingFault::OutOfOrder { who, k: warp.k, after });
        }
        let shares = &mut self.blocks[who.name.block as usize].stages[stage as usize];
        let mut data = [Vec::new(), Vec::new()];
        for operand in OperandKind::BOTH {
            let block = if ring.shares(operand) > 1 { None } else { Some(who.name.block) };
            for (share, place) in (0..).zip(&mut shares[operand.index()]) {
                let wanted = ShareName { tile: warp.tile, k: warp.k, operand, block, share };
                let (Some(found), Some(held), false) = (place.name, &place.data, place.written) else {
                    return Err(RingFault::NotFull { who, stage, operand });
                };
                if found != wanted {
                    return Err(RingFault::Stale { who, wanted, found });
                }
                place.reading |= bit;
                place.unread &= !bit;
                data[operand.index()].push(held.clone());
            }
        }
        warp.summed = (warp.tile, after + 1);
        warp.products.push(stage);
        self.tally.products += 1;
        self.payload.multiply(who.name, first, &mut warp.sums, data.each_ref().map(|shares| &shares[..]));
        Ok(())
    }

    fn deposit(&mut self, mover: usize, slice: u8) -> Result<(), RingFault> {
        let who = self.who(mover);
        let warp = &mut self.warps[mover];
        if !warp.products.is_empty() || warp.groups.iter().any(|group| !group.is_empty()) {
            return Err(RingFault::ProductsUnderWay { who, slice });
        }
        let multiplied = if warp.summed.0 == warp.tile { warp.summed.1 } else { 0 };
        if multiplied != self.work.k_tiles {
            return Err(RingFault::Unfinished { who, multiplied, wanted: self.work.k_tiles });
        }
        let buffers = &mut self.blocks[who.name.block as usize].staging[who.name.warpgroup as usize];
        let buffer = usize::from(slice) % buffers.len();
        if buffers[buffer].reading > 0 {
            return Err(RingFault::StagingRead { who, slice });
        }
        let name = SliceName { tile: warp.tile, slice: u32::from(slice) };
        let data = self.payload.deposit(who.name, name, multiplied == 0, &warp.sums);
        warp.touched = true;
        buffers[buffer].parts[who.name.warp as usize] = Some(Part { name, data, visible: false });
        Ok(())
    }

    fn store(&mut self, mover: usize, slice: u8) -> Result<(), RingFault> {
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
            _ => return Err(RingFault::StoredTwice { who, slice: wanted }),
        }
        Ok(())
    }
}
