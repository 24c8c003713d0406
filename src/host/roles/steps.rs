//! What each step means: those of a block's setup here, those at the ring in `ring.rs`, those within a warpgroup in `tile.rs`,
//! those of C in `source.rs`.

use super::{
    RingFault,
    barrier::Barrier,
    fault::Who,
    machine::{Machine, Moved},
    payload::Payload,
};
use crate::{
    schedule::{Role, RoleStep},
    threadblock::{Region, pipeline::WARPS},
};

/// Threads of a warp.
const LANES: u32 = 32;

impl<P: Payload> Machine<'_, P> {
    pub(super) fn who(&self, mover: usize) -> Who {
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
            RoleStep::SkipEarlier => is(Role::Consumer).and_then(|()| self.skip(mover, who.name.warpgroup)),
            RoleStep::SkipLater => {
                let later = self.program.ring.consumers.saturating_sub(who.name.warpgroup + 1);
                is(Role::Consumer).and_then(|()| self.skip(mover, later))
            }
            RoleStep::AwaitTurn => is(Role::Consumer).and_then(|()| self.await_turn(mover, step)),
            RoleStep::PassTurn => is(Role::Consumer).and_then(|()| self.pass_turn(mover, step)),
            RoleStep::AwaitFull => is(Role::Consumer).and_then(|()| self.await_full(mover, step)),
            RoleStep::AwaitNext if self.warps[mover].k >= self.work.k_tiles => is(Role::Consumer).map(|()| Moved::Done),
            RoleStep::AwaitNext => is(Role::Consumer).and_then(|()| self.await_full(mover, step)),
            RoleStep::Release { behind } => is(Role::Consumer).and_then(|()| self.release(mover, step, u32::from(behind))),
            RoleStep::ExpectSource => is(Role::Consumer).and_then(|()| self.expect_source(mover, step)),
            RoleStep::FetchSource { slice } => is(Role::Consumer).and_then(|()| self.fetch_source(mover, step, slice)),
            RoleStep::AwaitSource => is(Role::Consumer).and_then(|()| self.await_source(mover, step)),
            _ => is(Role::Consumer).and_then(|()| self.perform_own(mover, step)),
        }
    }

    fn init_barriers(&mut self, who: Who) -> Result<Moved, RingFault> {
        if who.sets_up() {
            let block = &mut self.blocks[who.name.block as usize];
            if !block.barriers[0].is_empty() {
                return Err(RingFault::SetUpTwice { who });
            }
            let stages = self.program.ring.stages as usize;
            let [full, empty] =
                [self.program.full_arrivals, self.program.empty_arrivals].map(|count| vec![Barrier::new(count); stages]);
            let turns = if self.program.ring.in_turns { self.program.ring.consumers } else { 0 };
            let sources = if self.program.ring.source { self.program.ring.consumers } else { 0 };
            block.barriers = [full, empty, vec![Barrier::new(WARPS); turns as usize], vec![Barrier::new(1); sources as usize]];
        }
        Ok(Moved::Done)
    }

    /// Tiles of D whose stages others multiply.
    fn skip(&mut self, mover: usize, tiles: u32) -> Result<Moved, RingFault> {
        self.warps[mover].t += u64::from(tiles) * u64::from(self.work.k_tiles);
        Ok(Moved::Done)
    }

    fn await_turn(&mut self, mover: usize, step: RoleStep) -> Result<Moved, RingFault> {
        let (who, round) = (self.who(mover), self.warps[mover].round);
        let first = u32::from(who.name.warpgroup == 0);
        let barrier = self.barrier(who, step, who.name.block, (Region::Turn, who.name.warpgroup), false)?;
        if !barrier.passes((round % 2) ^ first) {
            return Ok(Moved::Blocked);
        }
        self.warps[mover].round += 1;
        Ok(Moved::Done)
    }

    fn pass_turn(&mut self, mover: usize, step: RoleStep) -> Result<Moved, RingFault> {
        let who = self.who(mover);
        let (block, next) = (who.name.block, (who.name.warpgroup + 1) % self.program.ring.consumers);
        if !self.barrier(who, step, block, (Region::Turn, next), false)?.arrive() {
            return Err(RingFault::TooManyArrivals { who, step, block, barrier: (Region::Turn, next) });
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
}
