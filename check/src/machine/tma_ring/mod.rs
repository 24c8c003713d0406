//! A producer and consumers over a ring of stages: the CTAs of one cluster, in any order that a GPU
//! may choose.
//!
//! Asynchronous operations take place between two points:
//!
//! | operation | begins | ends |
//! |---|---|---|
//! | copy writes a stage | `CopyTensor` | when the scheduler lets it land, which counts its bytes |
//! | warp copies lines to a stage | `GatherLines` | when its next `ArriveGathered` lands |
//! | arrival at another CTA | `Release` | when the scheduler lets it land |
//! | warp loads A of a stage into a set of fragments | `LoadFragments` | at its own end |
//! | products read a stage and write accumulators | `MultiplyStage`, `MultiplyInstructionTile` | the `AwaitProducts` that covers their group |
//! | store reads staging | `StoreTensor` | the `AwaitStores` that covers its group |
//! | partial accumulators move to another CTA | `SendPartials` | when the scheduler lets them land, which counts their bytes |
//!
//! A cell of memory is a share of a stage, a producer warp's part of the gathered lines of a stage,
//! or a warp's part of a staging buffer, of a slot, or of the vectors of the epilogue. Each content
//! has a name. Barriers have the parity of the hardware, so a wait for a phase that is two ahead
//! passes at once. A [`Payload`] may carry bytes and accumulators in addition to the names.

mod cleared;
mod copies;
mod gathered;
mod partials;
mod payload;
mod products;
mod staging;
mod steps;
mod warp;

pub use payload::{Bytes, Payload, Staged};

use super::{
    memory::{By, SharedMemory},
    scheduler::{FLIGHTS, Movers, SOURCES, Scheduler, set_of_warp},
    sync::{Barrier, Clock, Event, Meeting, Moved},
};
use crate::{accumulators::Accumulators, program::RingProgram};
use core::ops::Range;
use falchion::{
    internals::{
        nest::{REGISTERS, WARPS},
        schedule::{Fault, Role, RoleStep, ShareName, Spelled, SubtileName, WarpName, Who},
        shape::OperandKind,
    },
    threadblock::Region,
};
use std::{collections::HashSet, sync::Arc};
use warp::Warp;

/// The work of each CTA of a cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClusterWork<'a> {
    /// k-tiles of each unit of work. Under cluster split-K, the units of the first CTA come first,
    /// then the units of the second, and so on.
    pub k_tiles: &'a [u32],
    /// Whether C is read.
    pub source: bool,
}

impl ClusterWork<'_> {
    /// Returns the k-tiles of a unit, or 0 if the unit does not exist.
    fn k_tiles_of(&self, unit: u32) -> u32 {
        self.k_tiles.get(unit as usize).copied().unwrap_or(0)
    }

    /// Returns the total number of k-tiles of some units.
    fn k_tiles_in(&self, units: Range<u32>) -> u64 {
        units.map(|unit| u64::from(self.k_tiles_of(unit))).sum()
    }
}

/// Counts of the events of a run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// Steps that were performed.
    pub steps: u64,
    /// Shares of tiles that landed, counted once per destination CTA.
    pub copies: u64,
    /// Arrivals that landed in another CTA.
    pub arrivals: u64,
    /// Stages that warps multiplied.
    pub products: u64,
    /// Partial accumulators of warps that landed.
    pub partials: u64,
    /// Subtiles of C that landed.
    pub sources: u64,
    /// Subtiles of D that were stored.
    pub stores: u64,
    /// Largest number of copies and arrivals in progress at once.
    pub most_under_way: usize,
}

/// The content of a cell.
#[derive(Clone, Default)]
enum Contents {
    #[default]
    Nothing,
    /// A share of a tile.
    Share(ShareName, Bytes),
    /// A subtile of C. Each cell of the buffer holds the whole subtile.
    Source(SubtileName, Bytes),
    /// A warp's part of a subtile of D, and the event from which on asynchronous copies see it.
    Staged(SubtileName, Arc<Staged>, Option<Event>),
    /// A warp's part of the vectors of the epilogue for a unit.
    Vectors(u32),
    /// A warp's accumulators for a unit, from the CTA of a rank: (unit, rank, accumulators).
    Partial(u32, u32, Arc<Accumulators>),
}

/// An asynchronous operation in progress that lands in a CTA. `stage` is a stage, or the number of
/// a consumer for C and for partial accumulators.
struct Flight {
    block: u32,
    stage: u32,
    cargo: Cargo,
}

/// The payload of a flight.
enum Cargo {
    /// A share of a tile: its cell, and the bytes that its barrier counts.
    Copy(usize, u32),
    /// Lines that a warp has copied, and the arrivals of its lanes: the cells, the warp, the step,
    /// and the clock of the warp.
    Lines(Vec<usize>, usize, RoleStep, Clock),
    /// A subtile of C: the cells of its buffer, and the bytes that its barrier counts.
    Source(Range<usize>, u32),
    /// Partial accumulators of a warp: their cell, and the bytes that their barrier counts.
    Partial(usize, u32),
    /// An arrival at an empty barrier or at a consumer's read barrier: its region, its warp, the
    /// step, and the clock of the warp.
    Arrival(Region, Who, RoleStep, Clock),
}

/// The state of a CTA, except its shared memory.
struct Block {
    /// The full and empty barriers of the stages, the turn and source barriers of the consumers,
    /// and the landed and read barriers of partial accumulators. Each list is empty before its
    /// barriers are initialized.
    barriers: [Vec<Barrier>; 6],
    /// The initialization of the barriers, and the fence that makes them visible to asynchronous
    /// copies and to other CTAs.
    set_up: Option<Event>,
    fenced: Option<Event>,
    /// The barrier of all warps of the CTA.
    meeting: Meeting,
    /// The barrier of each warpgroup's warps.
    meetings: Vec<Meeting>,
    /// The barrier of all consumers' warps.
    clearing: Meeting,
    /// For each consumer, whether the slice that it counted last was the last one of its tile to
    /// arrive.
    last: Vec<bool>,
    /// Registers that no thread has allocated.
    free_registers: u32,
    /// Number of warps that have not ended.
    running: u32,
}

/// The CTAs of one cluster.
struct Cluster<'a> {
    program: &'a RingProgram,
    work: ClusterWork<'a>,
    payload: &'a mut dyn Payload,
    blocks: Vec<Block>,
    memory: SharedMemory<Contents>,
    /// The barrier of all warps of the cluster.
    meeting: Meeting,
    warps: Vec<Warp>,
    flights: Vec<Flight>,
    /// The stored subtiles, by CTA and warpgroup.
    stored: HashSet<(u32, u32, SubtileName)>,
    /// The units whose sum another consumer has, by CTA and warpgroup.
    left: HashSet<(u32, u32, u32)>,
    tally: Tally,
}

/// Runs a program on names and the data of a payload. The order follows from `seed`.
///
/// # Errors
/// The first fault in that order.
pub fn run(
    program: &RingProgram,
    work: ClusterWork<'_>,
    seed: u64,
    payload: &mut dyn Payload,
) -> Result<Tally, Fault> {
    let mut cluster = Cluster::new(program, work, payload)?;
    let warps = cluster.warps.len() as u32;
    Scheduler::new(seed, warps).run(&mut cluster)?;
    cluster.all_stored()?;
    Ok(cluster.tally)
}

/// Returns the number of cells of an operand per stage: its shares, or one per warp that gathers
/// its lines.
fn operand_cells(program: &RingProgram, operand: OperandKind) -> usize {
    match program.ring.gathered[operand.index()] {
        true => WARPS as usize,
        false => program.ring.shares(operand) as usize,
    }
}

/// Returns the number of cells per stage.
fn stage_cells(program: &RingProgram) -> usize {
    OperandKind::BOTH.map(|operand| operand_cells(program, operand)).iter().sum()
}

/// Returns the number of cells per CTA.
fn block_cells(program: &RingProgram) -> usize {
    let ring = &program.ring;
    ring.stages as usize * stage_cells(program)
        + (ring.consumers * (ring.staging_buffers + ring.senders() + 1) * WARPS) as usize
}

/// Returns the number of warps of the cluster, the number of byte-counting barriers per CTA, and
/// the number of agents. Agents are the warps, these barriers CTA by CTA, and one agent for all
/// other barriers.
fn agents(program: &RingProgram) -> [usize; 3] {
    let ring = &program.ring;
    let (blocks, warps, barriers) =
        (ring.blocks(), (1 + ring.consumers) * WARPS, ring.stages + 2 * ring.consumers);
    [(blocks * warps) as usize, barriers as usize, (blocks * (warps + barriers) + 1) as usize]
}

impl<'a> Cluster<'a> {
    fn new(
        program: &'a RingProgram,
        work: ClusterWork<'a>,
        payload: &'a mut dyn Payload,
    ) -> Result<Self, Fault> {
        let ring = &program.ring;
        ring.check().map_err(|refusal| Fault::NoRing { refusal })?;
        let (blocks, in_block, [warps, _, agents]) =
            (ring.blocks(), (1 + ring.consumers) * WARPS, agents(program));
        let block = || Block {
            barriers: Default::default(),
            set_up: None,
            fenced: None,
            meeting: Meeting::new(in_block, agents),
            last: vec![false; ring.consumers as usize],
            meetings: (0..ring.consumers).map(|_| Meeting::new(WARPS, agents)).collect(),
            clearing: Meeting::new(ring.consumers * WARPS, agents),
            free_registers: REGISTERS - ring.threads() * ring.launch_registers(),
            running: in_block,
        };
        let warp = |number: usize| {
            let (block, i) = (number as u32 / in_block, number as u32 % in_block);
            let (role, warpgroup) = match (i / WARPS).checked_sub(1) {
                None => (Role::Producer, 0),
                Some(consumer) => (Role::Consumer, consumer),
            };
            let who = Who { role, name: WarpName { block, warpgroup, warp: i % WARPS } };
            Warp::new(who, program, Clock::new(number, agents))
        };
        Ok(Self {
            program,
            work,
            payload,
            blocks: (0..blocks).map(|_| block()).collect(),
            memory: SharedMemory::new(blocks as usize * block_cells(program), warps),
            meeting: Meeting::new(warps as u32, agents),
            warps: (0..warps).map(warp).collect(),
            flights: Vec::new(),
            stored: HashSet::new(),
            left: HashSet::new(),
            tally: Tally::default(),
        })
    }

    fn who(&self, mover: usize) -> Who {
        self.warps[mover].who
    }

    /// Returns the cells of an operand in a stage.
    fn shares(&self, block: u32, stage: u32, operand: OperandKind) -> Range<usize> {
        let of = |operand| operand_cells(self.program, operand);
        let behind_a = if operand == OperandKind::B { of(OperandKind::A) } else { 0 };
        let first = block as usize * block_cells(self.program)
            + stage as usize * stage_cells(self.program)
            + behind_a;
        first..first + of(operand)
    }

    /// Returns the cells of the staging buffer of a subtile, one per warp. A warp of a program
    /// without staging buffers gets a fault.
    fn cells_of_subtile(&self, mover: usize, subtile: u8) -> Result<Range<usize>, Fault> {
        let (name, ring) = (self.who(mover).name, &self.program.ring);
        let foreign = Fault::ForeignStep { step: "for subtiles" };
        let buffer = u32::from(subtile).checked_rem(ring.staging_buffers).ok_or(foreign)?;
        let cell = (name.warpgroup * ring.staging_buffers + buffer) * WARPS;
        let first = name.block as usize * block_cells(self.program)
            + ring.stages as usize * stage_cells(self.program);
        Ok(first + cell as usize..first + (cell + WARPS) as usize)
    }

    /// Returns the cells of the vectors of a warp's consumer, one per warp. They are the last cells
    /// of the CTA.
    fn cells_of_vectors(&self, mover: usize) -> Range<usize> {
        let name = self.who(mover).name;
        let behind = (self.program.ring.consumers - name.warpgroup) * WARPS;
        let first = (name.block as usize + 1) * block_cells(self.program) - behind as usize;
        first..first + WARPS as usize
    }

    /// Completes an asynchronous operation.
    fn land(&mut self, Flight { block, stage, cargo }: Flight) -> Result<(), Fault> {
        let home = &mut self.blocks[block as usize];
        if home.running == 0 {
            return Err(Fault::BlockLeft { block, arriving: matches!(cargo, Cargo::Arrival(..)) });
        }
        let (region, cells, bytes) = match cargo {
            Cargo::Arrival(region, who, step, clock) => {
                if !home.barrier((region, stage)).is_some_and(|barrier| barrier.arrive(&clock)) {
                    return Err(steps::too_many(who, step, block, (region, stage)));
                }
                self.tally.arrivals += 1;
                return Ok(());
            }
            Cargo::Lines(cells, mover, step, clock) => {
                return self.land_lines((block, stage), cells, (mover, step, clock));
            }
            Cargo::Copy(cell, bytes) => (Region::Full, cell..cell + 1, bytes),
            Cargo::Source(cells, bytes) => (Region::Source, cells, bytes),
            Cargo::Partial(cell, bytes) => (Region::Landed, cell..cell + 1, bytes),
        };
        *match region {
            Region::Full => &mut self.tally.copies,
            Region::Source => &mut self.tally.sources,
            _ => &mut self.tally.partials,
        } += 1;
        if let Some(barrier) = home.barrier((region, stage)) {
            let by = By { agent: barrier.agent(), lane: 0 };
            let epoch = barrier.land(bytes);
            cells.for_each(|cell| self.memory.land(cell, by, epoch));
        }
        Ok(())
    }

    /// Ends a warp. The end of the last warp frees the CTA's shared memory.
    fn leave(&mut self, mover: usize) -> Result<(), Fault> {
        self.lines_have_landed(mover)?;
        self.warps[mover].has_left = true;
        let (who, ring) = (self.who(mover), &self.program.ring);
        let block = &mut self.blocks[who.name.block as usize];
        block.running -= 1;
        if block.running > 0 {
            return Ok(());
        }
        let first = who.name.block as usize * block_cells(self.program);
        let staging = first + ring.stages as usize * stage_cells(self.program);
        let staged = self.memory.under_way(staging..first + block_cells(self.program));
        let what = match (staged, self.memory.under_way(first..staging)) {
            ((_, true), _) => "a store still reads its block's memory",
            ((false, _), (false, false)) => return Ok(()),
            _ => "copies or products are under way in its block's memory",
        };
        Err(Fault::LeftUnderWay { who, what })
    }

    /// Records that a subtile is stored.
    fn count_stored(
        &mut self,
        who: Who,
        subtile: SubtileName,
        step: RoleStep,
    ) -> Result<(), Fault> {
        self.tally.stores += 1;
        if subtile.subtile >= self.program.subtiles {
            return Err(Fault::ForeignStep { step: step.name() });
        }
        let first = self.stored.insert((who.name.block, who.name.warpgroup, subtile));
        if first { Ok(()) } else { Err(Fault::SubtileStoredTwice { who, subtile }) }
    }

    fn all_stored(&self) -> Result<(), Fault> {
        let ring = &self.program.ring;
        for (block, tile) in (0..ring.blocks()).flat_map(|block| {
            (0..self.work_of(block).k_tiles.len() as u32).map(move |tile| (block, tile))
        }) {
            // Under ping-pong, one consumer stores each tile of D.
            let owned = |&warpgroup: &u32| {
                (!ring.pingpong || tile % ring.consumers == warpgroup)
                    && !self.left.contains(&(block, warpgroup, tile))
            };
            for warpgroup in (0..ring.consumers).filter(owned) {
                let mut subtiles =
                    (0..self.program.subtiles).map(|subtile| SubtileName { tile, subtile });
                if let Some(subtile) =
                    subtiles.find(|subtile| !self.stored.contains(&(block, warpgroup, *subtile)))
                {
                    return Err(Fault::SubtileNeverStored { block, warpgroup, subtile });
                }
            }
        }
        Ok(())
    }
}

impl Movers for Cluster<'_> {
    fn count(&self) -> u32 {
        (self.warps.len() + self.flights.len()) as u32
    }

    fn set(&self, mover: u32) -> u32 {
        match (mover as usize)
            .checked_sub(self.warps.len())
            .and_then(|flight| self.flights.get(flight))
        {
            None => set_of_warp(mover),
            Some(Flight { cargo: Cargo::Source(..), .. }) => SOURCES,
            Some(_) => FLIGHTS,
        }
    }

    fn moves(&mut self, mover: u32) -> Result<bool, Fault> {
        let mover = mover as usize;
        if let Some(flight) = mover.checked_sub(self.warps.len()) {
            if flight >= self.flights.len() {
                return Ok(false);
            }
            let flight = self.flights.swap_remove(flight);
            return self.land(flight).map(|()| true);
        }
        let warp = &mut self.warps[mover];
        let home = &mut self.blocks[warp.who.name.block as usize];
        let blocked =
            |(at, parity)| home.barrier(at).is_some_and(|barrier| !barrier.is_over(parity));
        if warp.has_left || warp.blocked.is_some_and(blocked) {
            return Ok(false);
        }
        let work = self.work.for_block(&self.program.ring, warp.who.name.block);
        let Some(step) = warp.step(&self.program.roles, work) else {
            return self.leave(mover).map(|()| true);
        };
        let moved = self.perform(mover, step)?;
        if moved == Moved::Done {
            self.warps[mover].performed();
            self.tally.steps += 1;
            self.tally.most_under_way = self.tally.most_under_way.max(self.flights.len());
        }
        Ok(moved != Moved::Blocked)
    }

    fn stuck(&mut self) -> Result<(), Fault> {
        let (program, work) = (self.program, self.work);
        let waits = self.warps.iter_mut().filter(|warp| !warp.has_left);
        let step = |warp: &mut Warp| {
            warp.step(&program.roles, work.for_block(&program.ring, warp.who.name.block))
        };
        let waits: Vec<_> = waits.filter_map(|warp| Some((warp.who, step(warp)?))).collect();
        match waits.first() {
            None => Ok(()),
            Some(&(who, step)) => Err(Fault::Deadlock { who, step, waiting: waits.len() as u32 }),
        }
    }
}
