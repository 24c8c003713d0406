//! The machine: the blocks of a cluster, their warps, and what is under way between them.

use super::{
    RingFault,
    barrier::Meeting,
    fault::Who,
    flight::{Cargo, Flight},
    memory::Block,
    payload::{Names, Payload, SliceName, WarpName},
    scheduler::{FLIGHTS, SOURCES, Scheduler},
    warp::Warp,
};
use crate::{
    plan::RingProgram,
    schedule::Role,
    threadblock::{Region, pipeline::WARPS},
};

/// How much each block of a cluster computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// Tiles of D, one after the other.
    pub tiles: u32,
    /// Tiles along K of each.
    pub k_tiles: u32,
    /// Whether C is read.
    pub source: bool,
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// Steps that were performed.
    pub steps: u64,
    /// Shares of tiles that landed, one for each block in which they did.
    pub copies: u64,
    /// Arrivals that landed in another block.
    pub arrivals: u64,
    /// Stages that warps multiplied.
    pub products: u64,
    /// Slices of C that landed.
    pub sources: u64,
    /// Slices of D that were stored.
    pub stores: u64,
    /// The most copies and arrivals that were under way at once.
    pub most_under_way: usize,
}

/// How a step went.
pub(super) enum Moved {
    /// It is performed.
    Done,
    /// It has begun, and ends when others have moved.
    Begun,
    /// It cannot begin or end.
    Blocked,
}

/// The blocks of one cluster.
pub(super) struct Machine<'a, P: Payload> {
    pub program: &'a RingProgram,
    pub work: Work,
    pub payload: &'a mut P,
    pub blocks: Vec<Block<P>>,
    /// All warps of the cluster.
    pub cluster: Meeting,
    pub warps: Vec<Warp<P>>,
    pub flights: Vec<Flight<P::Share, P::Source>>,
    /// How often each slice was stored: block, tile, warpgroup, slice. Those of another's tile count as stored.
    pub stored: Vec<u32>,
    pub tally: Tally,
}

/// Performs a program on names, in an order drawn from `seed`.
///
/// # Errors
/// The first fault of that order.
pub fn check(program: &RingProgram, work: Work, seed: u64) -> Result<Tally, RingFault> {
    run(program, work, seed, &mut Names)
}

/// Performs a program with what a payload carries, in an order drawn from `seed`.
///
/// # Errors
/// The first fault of that order.
pub fn run<P: Payload>(program: &RingProgram, work: Work, seed: u64, payload: &mut P) -> Result<Tally, RingFault> {
    let mut machine = Machine::new(program, work, payload)?;
    let warps = machine.warps.len() as u32;
    machine.run(&mut Scheduler::new(seed, warps))?;
    machine.all_stored()?;
    Ok(machine.tally)
}

impl<'a, P: Payload> Machine<'a, P> {
    fn new(program: &'a RingProgram, work: Work, payload: &'a mut P) -> Result<Self, RingFault> {
        let ring = &program.ring;
        ring.check().map_err(|refusal| RingFault::NoRing { refusal })?;
        let (blocks, registers) = (ring.blocks(), ring.launch_registers());
        // The last of as many warps as a word has bits share theirs with what is under way: both are left behind, or neither.
        if blocks * (1 + ring.consumers) * WARPS > FLIGHTS + 1 {
            return Err(RingFault::TooManyWarps { blocks });
        }
        let mut warps = Vec::new();
        for (block, i) in (0..blocks).flat_map(|block| (0..(1 + ring.consumers) * WARPS).map(move |i| (block, i))) {
            let (group, warp) = (i / WARPS, i % WARPS);
            let (role, warpgroup) = match group.checked_sub(1) {
                None => (Role::Producer, 0),
                Some(consumer) => (Role::Consumer, consumer),
            };
            let tiles = if ring.in_turns && role == Role::Consumer { (warpgroup, ring.consumers) } else { (0, 1) };
            warps.push(Warp::new(role, WarpName { block, warpgroup, warp }, (registers, program.fragment_sets), tiles));
        }
        let slices = blocks as usize * work.tiles as usize * ring.consumers as usize * program.slices as usize;
        // A tile of D that consumers take in turns is stored by one of them.
        let owned = |i: usize| {
            let i = i as u32 / program.slices.max(1);
            let (warpgroup, tile) = (i % ring.consumers, i / ring.consumers % work.tiles.max(1));
            !ring.in_turns || tile % ring.consumers == warpgroup
        };
        Ok(Self {
            program,
            work,
            payload,
            blocks: (0..blocks).map(|_| Block::new(program)).collect(),
            cluster: Meeting::new(warps.len() as u32),
            warps,
            flights: Vec::new(),
            stored: (0..slices).map(|i| u32::from(!owned(i))).collect(),
            tally: Tally::default(),
        })
    }

    fn run(&mut self, scheduler: &mut Scheduler) -> Result<(), RingFault> {
        let mut last = 0;
        loop {
            let movers = (self.warps.len() + self.flights.len()) as u32;
            if scheduler.stays() && self.moves(last)? {
                continue;
            }
            let first = scheduler.below(movers);
            let in_turn = |i| (first + i) % movers;
            let mut moved = false;
            // The lazy ones move when nobody else can.
            for lazy in [false, true] {
                for mover in (0..movers).map(in_turn) {
                    let bit = match (mover as usize).checked_sub(self.warps.len()).and_then(|flight| self.flights.get(flight)) {
                        None => mover,
                        Some(Flight { cargo: Cargo::Source { .. }, .. }) => SOURCES,
                        Some(_) => FLIGHTS,
                    };
                    if scheduler.is_lazy(bit) == lazy && self.moves(mover)? {
                        (moved, last) = (true, mover);
                        break;
                    }
                }
                if moved {
                    break;
                }
            }
            if !moved {
                return self.stuck();
            }
        }
    }

    /// Nobody can move: either all have ended, or they wait for each other.
    fn stuck(&mut self) -> Result<(), RingFault> {
        let (program, work) = (self.program, self.work);
        let mut waits = Vec::new();
        for warp in &mut self.warps {
            let who = Who { role: warp.role, name: warp.name };
            if let Some(step) = warp.step(&program.roles, work.tiles, work.k_tiles) {
                waits.push((who, step));
            }
        }
        match waits.first() {
            None => Ok(()),
            Some(&(who, step)) => Err(RingFault::Deadlock { who, step, waiting: waits.len() as u32 }),
        }
    }

    /// One mover moves, if it can.
    fn moves(&mut self, mover: u32) -> Result<bool, RingFault> {
        let mover = mover as usize;
        if let Some(flight) = mover.checked_sub(self.warps.len()) {
            if flight >= self.flights.len() {
                return Ok(false);
            }
            let flight = self.flights.swap_remove(flight);
            return self.land(flight).map(|()| true);
        }
        let warp = &mut self.warps[mover];
        if warp.is_done() {
            return Ok(false);
        }
        let Some(step) = warp.step(&self.program.roles, self.work.tiles, self.work.k_tiles) else {
            self.leave(mover)?;
            return Ok(true);
        };
        match self.perform(mover, step)? {
            Moved::Done => {
                self.warps[mover].performed();
                self.tally.steps += 1;
                self.tally.most_under_way = self.tally.most_under_way.max(self.flights.len());
                Ok(true)
            }
            Moved::Begun => Ok(true),
            Moved::Blocked => Ok(false),
        }
    }

    /// Something asynchronous happens.
    fn land(&mut self, flight: Flight<P::Share, P::Source>) -> Result<(), RingFault> {
        let Flight { block, stage, cargo } = flight;
        let home = &mut self.blocks[block as usize];
        if home.running == 0 {
            return Err(RingFault::BlockLeft { block, arriving: matches!(cargo, Cargo::Arrival { .. }) });
        }
        match cargo {
            Cargo::Copy { operand, share, name, bytes, data } => {
                let readers = Block::<P>::readers(self.program, name.tile);
                let place = &mut home.stages[stage as usize][operand.index()][share as usize];
                (place.name, place.data, place.written, place.unread) = (Some(name), Some(data), false, readers);
                if let Some(barrier) = home.barrier(Region::Full, stage) {
                    barrier.land(bytes);
                }
                self.tally.copies += 1;
            }
            Cargo::Source { buffer, name, bytes, data } => {
                let place = &mut home.staging[stage as usize][buffer as usize];
                (place.source, place.incoming) = (Some((name, data)), false);
                if let Some(barrier) = home.barrier(Region::Source, stage) {
                    barrier.land(bytes);
                }
                self.tally.sources += 1;
            }
            Cargo::Arrival { who, step } => {
                if !home.barrier(Region::Empty, stage).is_some_and(|barrier| barrier.arrive()) {
                    return Err(RingFault::TooManyArrivals { who, step, block, barrier: (Region::Empty, stage) });
                }
                self.tally.arrivals += 1;
            }
        }
        Ok(())
    }

    /// A warp has come to its end. Memory goes with the last of a block.
    fn leave(&mut self, mover: usize) -> Result<(), RingFault> {
        let warp = &self.warps[mover];
        let who = Who { role: warp.role, name: warp.name };
        let block = &mut self.blocks[warp.name.block as usize];
        block.running -= 1;
        if block.running > 0 {
            return Ok(());
        }
        let mut buffers = block.staging.iter().flatten();
        let mut shares = block.stages.iter().flatten().flatten();
        let under_way = shares.any(|share| share.written || share.reading != 0) || buffers.clone().any(|buffer| buffer.incoming);
        let what = match (buffers.any(|buffer| buffer.reading > 0), under_way) {
            (true, _) => "a store still reads its block's memory",
            (_, true) => "copies or products are under way in its block's memory",
            _ => return Ok(()),
        };
        Err(RingFault::LeftUnderWay { who, what })
    }

    /// Where a slice is counted.
    pub fn slice_index(&self, name: WarpName, slice: SliceName) -> Option<usize> {
        let (tiles, consumers, slices) = (self.work.tiles, self.program.ring.consumers, self.program.slices);
        let inside = slice.tile < tiles && slice.slice < slices;
        let [block, tile, warpgroup, slice] = [name.block, slice.tile, name.warpgroup, slice.slice].map(|n| n as usize);
        let index = (block * tiles as usize + tile) * consumers as usize + warpgroup;
        inside.then(|| index * slices as usize + slice)
    }

    fn all_stored(&self) -> Result<(), RingFault> {
        let (tiles, consumers, slices) = (self.work.tiles, self.program.ring.consumers, self.program.slices);
        match self.stored.iter().position(|times| *times == 0) {
            None => Ok(()),
            Some(i) => {
                let of = |each: u32, i: &mut usize| {
                    let rest = *i % each as usize;
                    *i /= each as usize;
                    rest as u32
                };
                let mut i = i;
                let (slice, warpgroup, tile) = (of(slices, &mut i), of(consumers, &mut i), of(tiles, &mut i));
                Err(RingFault::NeverStored { block: i as u32, warpgroup, slice: SliceName { tile, slice } })
            }
        }
    }
}
