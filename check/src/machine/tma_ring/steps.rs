//! The steps at barriers and at the ring: initialize, synchronize, wait, and arrive. `copies.rs`
//! has the copies of A and B, `products.rs` the products, and `staging.rs` the steps of C and D.

use super::{Block, Cargo, Cluster, Flight, agents};
use crate::machine::sync::{Barrier, Clock, Moved};
use falchion::{
    internals::{
        index::{IndexMap, at},
        nest::WARPS,
        schedule::{Fault, Role, RoleStep, Spelled, Who},
    },
    threadblock::Region,
};

/// Threads per warp.
pub(super) const LANES: u32 = 32;

impl Block {
    /// Returns barrier `i` of a region; `None` if it does not exist.
    pub(super) fn barrier(&mut self, (region, i): (Region, u32)) -> Option<&mut Barrier> {
        let kind = match region {
            Region::Empty => 1,
            Region::Turn => 2,
            Region::Source => 3,
            Region::Landed => 4,
            Region::Read => 5,
            _ => 0,
        };
        self.barriers[kind].get_mut(i as usize)
    }
}

/// Returns the value of a map at a point, which must be below `most`.
pub(super) fn ask(
    who: Who,
    name: &'static str,
    map: &dyn IndexMap,
    (row, column): (u32, u32),
    most: u32,
) -> Result<u32, Fault> {
    match map.at(at(row, column)) {
        Some(found) if found < most => Ok(found),
        Some(found) => Err(Fault::Beyond { who, map: name, found, most }),
        None => Err(Fault::LeftOut { map: name, row, column }),
    }
}

/// Returns the fault of an arrival at a barrier that has no pending arrival.
pub(super) fn too_many(who: Who, step: RoleStep, block: u32, (region, i): (Region, u32)) -> Fault {
    let name = match region {
        Region::Full => "the full barrier of stage",
        Region::Empty => "the empty barrier of stage",
        Region::Turn => "the turn barrier of consumer",
        Region::Landed => "the landed barrier of consumer",
        Region::Read => "the read barrier of consumer",
        _ => "the source barrier of consumer",
    };
    Fault::TooManyArrivals { who, step, block, barrier: (name, i) }
}

impl Cluster<'_> {
    /// Performs a step of a warp.
    pub(super) fn perform(&mut self, mover: usize, step: RoleStep) -> Result<Moved, Fault> {
        let who = self.who(mover);
        let work = self.work_of(who.name.block);
        let its_role = match step {
            RoleStep::InitBarriers
            | RoleStep::FenceBarrierInit
            | RoleStep::MeetBlock
            | RoleStep::MeetCluster => true,
            RoleStep::RegistersDown { .. } | RoleStep::RegistersUp { .. } | RoleStep::Advance => {
                true
            }
            RoleStep::AwaitEmpty
            | RoleStep::Drain
            | RoleStep::Expect
            | RoleStep::CopyTensor { .. }
            | RoleStep::GatherLines { .. }
            | RoleStep::ArriveGathered => who.role == Role::Producer,
            _ => who.role == Role::Consumer,
        };
        if !its_role {
            return Err(Fault::ForeignStep { step: step.name() });
        }
        let consumers = self.program.ring.consumers;
        let warp = &mut self.warps[mover];
        let unit = warp.at().0;
        match step {
            RoleStep::InitBarriers => self.init_barriers(mover)?,
            RoleStep::FenceBarrierInit => {
                let block = &mut self.blocks[who.name.block as usize];
                if warp.sets_up() && block.set_up.is_some() {
                    block.fenced = Some(warp.progress.clock.event());
                }
            }
            RoleStep::MeetBlock | RoleStep::MeetCluster | RoleStep::Meet => {
                return Ok(self.meet(mover, step));
            }
            RoleStep::ReduceSlices => return self.reduce_slices(mover, step),
            RoleStep::AwaitRead | RoleStep::AwaitPartials => {
                return self.await_partials(mover, step);
            }
            RoleStep::SendPartials => self.send_partials(mover, step)?,
            RoleStep::ExpectPartials => self.expect_partials(mover, step)?,
            RoleStep::AddPartials => self.add_partials(mover)?,
            RoleStep::ReleasePartials => self.release_partials(mover, step)?,
            RoleStep::RegistersDown { count } => {
                let needs = u32::from(count);
                let freed = warp.registers.checked_sub(needs).ok_or(Fault::Registers {
                    who,
                    has: warp.registers,
                    needs,
                })?;
                warp.registers = needs;
                self.blocks[who.name.block as usize].free_registers += freed * LANES;
            }
            RoleStep::RegistersUp { count } => {
                let needs = u32::from(count);
                let wanted = needs.checked_sub(warp.registers).ok_or(Fault::Registers {
                    who,
                    has: warp.registers,
                    needs,
                })?;
                let free = &mut self.blocks[who.name.block as usize].free_registers;
                let Some(left) = free.checked_sub(wanted * LANES) else {
                    return Ok(Moved::Blocked);
                };
                (*free, warp.registers) = (left, needs);
            }
            RoleStep::Advance => {
                warp.t += 1;
                warp.progress.cursor.k += 1;
            }
            // Other consumers multiply the stages of these units.
            RoleStep::SkipEarlier => {
                warp.t += work.k_tiles_in(unit.saturating_sub(who.name.warpgroup)..unit)
            }
            RoleStep::SkipLater => {
                let others = consumers.saturating_sub(who.name.warpgroup + 1);
                warp.t += work.k_tiles_in(unit + 1..unit + 1 + others);
            }
            RoleStep::AwaitEmpty => return self.await_empty(mover, step, 0),
            RoleStep::Drain => return self.drain(mover, step),
            // One thread of the producer performs these steps.
            RoleStep::Expect | RoleStep::CopyTensor { .. } if !warp.leads() => {}
            RoleStep::Expect => {
                let (stage, _) = self.position(mover, self.warps[mover].t)?;
                self.arrive(mover, step, (Region::Full, stage), self.program.expect_bytes)?;
            }
            RoleStep::CopyTensor { operand } => self.copy(mover, step, operand)?,
            RoleStep::GatherLines { operand } => self.gather_lines(mover, operand)?,
            RoleStep::ArriveGathered => self.arrive_gathered(mover, step)?,
            RoleStep::AwaitTurn => {
                let (round, first) = (warp.round, u32::from(who.name.warpgroup == 0));
                let moved = self.wait(
                    mover,
                    step,
                    (Region::Turn, who.name.warpgroup),
                    (round % 2) ^ first,
                )?;
                self.warps[mover].round += u32::from(moved == Moved::Done);
                return Ok(moved);
            }
            RoleStep::PassTurn => {
                self.arrive(mover, step, (Region::Turn, (who.name.warpgroup + 1) % consumers), 0)?
            }
            RoleStep::AwaitNext if warp.at().1 >= work.k_tiles_of(unit) => {}
            RoleStep::AwaitFull | RoleStep::AwaitNext => {
                let (stage, phase) = self.position(mover, self.warps[mover].t)?;
                return self.wait(mover, step, (Region::Full, stage), phase);
            }
            RoleStep::Release { behind } => self.release(mover, step, u32::from(behind))?,
            RoleStep::AwaitSource if work.source => {
                let fetched = warp.fetched;
                let moved =
                    self.wait(mover, step, (Region::Source, who.name.warpgroup), fetched % 2)?;
                self.warps[mover].fetched += u32::from(moved == Moved::Done);
                return Ok(moved);
            }
            RoleStep::ExpectSource | RoleStep::FetchSource { .. } | RoleStep::AwaitSource
                if !work.source => {}
            RoleStep::ExpectSource => self.expect_source(mover, step)?,
            RoleStep::FetchSource { subtile } => self.fetch_source(mover, step, subtile)?,
            RoleStep::AwaitStores { pending } => self.stores_have_read(mover, usize::from(pending)),
            RoleStep::StageVectors => self.stage_vectors(mover)?,
            RoleStep::StoreStaging { subtile } => self.stage(mover, subtile)?,
            RoleStep::ClearOutside => self.clear_outside(mover)?,
            RoleStep::MeetCleared => return self.meet_cleared(mover, step),
            RoleStep::FenceProxy => {
                self.fence_proxy(mover);
                self.fence_lines(mover)?;
            }
            RoleStep::StoreTensor { subtile } => self.store(mover, subtile)?,
            RoleStep::CommitStores => {
                let stores = core::mem::take(&mut warp.stores);
                warp.store_groups.push_back(stores);
            }
            step => self.perform_product(mover, step)?,
        }
        Ok(Moved::Done)
    }

    fn init_barriers(&mut self, mover: usize) -> Result<(), Fault> {
        let (who, program, ring) = (self.who(mover), self.program, &self.program.ring);
        let block = &mut self.blocks[who.name.block as usize];
        if !self.warps[mover].sets_up() {
            return Ok(());
        }
        if block.set_up.is_some() {
            return Err(Fault::SetUpTwice { who });
        }
        block.set_up = Some(self.warps[mover].progress.clock.event());
        let [warps, counting, all] = agents(program);
        let first = warps + who.name.block as usize * counting;
        let some = |number: u32, count: u32, agent: &dyn Fn(u32) -> usize| {
            (0..number).map(|i| Barrier::new(count, Clock::new(agent(i), all))).collect()
        };
        let others = |_| all - 1;
        let turns = if ring.pingpong { ring.consumers } else { 0 };
        let sources = if ring.source { ring.consumers } else { 0 };
        let gathering = if ring.slices.is_some() { ring.consumers } else { 0 };
        block.barriers = [
            some(ring.stages, program.full_arrivals, &|stage| first + stage as usize),
            some(ring.stages, program.empty_arrivals, &others),
            some(turns, WARPS, &others),
            some(sources, 1, &|consumer| first + (ring.stages + consumer) as usize),
            some(gathering, 1, &|consumer| {
                first + (ring.stages + ring.consumers + consumer) as usize
            }),
            some(gathering, WARPS, &others),
        ];
        Ok(())
    }

    pub(super) fn meet(&mut self, mover: usize, step: RoleStep) -> Moved {
        let name = self.who(mover).name;
        let block = &mut self.blocks[name.block as usize];
        let meeting = match step {
            RoleStep::MeetCluster => &mut self.meeting,
            RoleStep::MeetBlock => &mut block.meeting,
            RoleStep::MeetCleared => &mut block.clearing,
            _ => &mut block.meetings[name.warpgroup as usize],
        };
        let progress = &mut self.warps[mover].progress;
        meeting.pass(&mut progress.waits, &mut progress.clock)
    }

    /// Returns a barrier of a CTA, and the clock of a warp that uses it. The initialization must be
    /// ordered before the use. It must also be fenced if the CTA is another one, or if
    /// `asynchronous` is set.
    pub(super) fn barrier(
        &mut self,
        mover: usize,
        step: RoleStep,
        block: u32,
        at: (Region, u32),
        asynchronous: bool,
    ) -> Result<(&mut Barrier, &mut Clock), Fault> {
        let who = self.who(mover);
        let (home, clock) =
            (&mut self.blocks[block as usize], &mut self.warps[mover].progress.clock);
        let (set_up, fenced) = (clock.is_behind(home.set_up), clock.is_behind(home.fenced));
        let barrier =
            home.barrier(at).filter(|_| set_up).ok_or(Fault::NotSetUp { who, step, block })?;
        if (asynchronous || block != who.name.block) && !fenced {
            return Err(Fault::InitNotFenced { who, step, block });
        }
        Ok((barrier, clock))
    }

    /// Arrives at a barrier of the warp's own CTA, whose phase then expects `bytes` more bytes.
    pub(super) fn arrive(
        &mut self,
        mover: usize,
        step: RoleStep,
        at: (Region, u32),
        bytes: u32,
    ) -> Result<(), Fault> {
        let who = self.who(mover);
        let (barrier, clock) = self.barrier(mover, step, who.name.block, at, false)?;
        barrier.expect(bytes);
        if barrier.arrive(clock.end_epoch()) {
            Ok(())
        } else {
            Err(too_many(who, step, who.name.block, at))
        }
    }

    /// Waits for a phase of a barrier of the warp's own CTA.
    pub(super) fn wait(
        &mut self,
        mover: usize,
        step: RoleStep,
        at: (Region, u32),
        parity: u32,
    ) -> Result<Moved, Fault> {
        let block = self.who(mover).name.block;
        let (barrier, clock) = self.barrier(mover, step, block, at, false)?;
        let passes = barrier.passes(parity, clock);
        self.warps[mover].blocked = (!passes).then_some((at, parity));
        Ok(if passes { Moved::Done } else { Moved::Blocked })
    }

    /// Returns the stage and the phase of k-tile `t`, as computed by the role of a warp.
    pub(super) fn position(&self, mover: usize, t: u64) -> Result<(u32, u32), Fault> {
        let who = self.who(mover);
        let (name, map) = match who.role {
            Role::Consumer => ("consumer_position", &*self.program.consumer_position),
            _ => ("producer_position", &*self.program.producer_position),
        };
        let stages = self.program.ring.stages;
        let column = (t % u64::from(2 * stages)) as u32;
        Ok((ask(who, name, map, (0, column), stages)?, ask(who, name, map, (1, column), 2)?))
    }

    /// Waits until the stage of k-tile `t + ahead` is empty.
    fn await_empty(&mut self, mover: usize, step: RoleStep, ahead: u32) -> Result<Moved, Fault> {
        let (stage, phase) = self.position(mover, self.warps[mover].t + u64::from(ahead))?;
        self.wait(mover, step, (Region::Empty, stage), phase ^ 1)
    }

    fn drain(&mut self, mover: usize, step: RoleStep) -> Result<Moved, Fault> {
        while self.warps[mover].drained < self.program.ring.stages {
            if self.await_empty(mover, step, self.warps[mover].drained)? != Moved::Done {
                return Ok(Moved::Blocked);
            }
            self.warps[mover].drained += 1;
        }
        self.warps[mover].drained = 0;
        Ok(Moved::Done)
    }

    fn release(&mut self, mover: usize, step: RoleStep, behind: u32) -> Result<(), Fault> {
        let (who, program) = (self.who(mover), self.program);
        let (t, (_, k)) = (self.warps[mover].t, self.warps[mover].at());
        if k < behind {
            return Ok(());
        }
        let (stage, _) = self.position(mover, t - u64::from(behind))?;
        let (row, at) = (who.name.block, (Region::Empty, stage));
        for i in 0..program.ring.sharing() {
            let block = ask(who, "released", &*program.released, (row, i), program.ring.blocks())?;
            if block == row {
                self.arrive(mover, step, at, 0)?;
            } else {
                let clock = self.barrier(mover, step, block, at, false)?.1.end_epoch().clone();
                self.flights.push(Flight {
                    block,
                    stage,
                    cargo: Cargo::Arrival(Region::Empty, who, step, clock),
                });
            }
        }
        Ok(())
    }
}
