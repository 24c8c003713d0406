//! One block of a kernel: its threads, their registers, and the order in which they run.

use super::{
    accumulated::{Accumulated, Held},
    composition::stored_once,
    shared_memory::{Access, SharedMemory},
    turn::Turn,
    vectors::whole,
};
use crate::{
    operand::OperandKind,
    plan::Program,
    schedule::{Fault, Step},
    threadblock::{OperandDesc, mma::perform},
};
use std::collections::VecDeque;

/// What a block begins with.
pub(super) struct Started<'a> {
    /// Element (mn, k) of an operand's tile: a number, or its name.
    pub source: &'a dyn Fn(OperandKind, u32, u32, u32) -> u64,
    /// The accumulators of a thread before it has multiplied anything.
    pub accumulators: Accumulated,
    /// Tiles along K.
    pub tiles: u32,
    /// What the order is drawn from in which threads take turns between barriers.
    pub seed: u64,
}

/// The registers of one thread.
pub struct Thread {
    pub(super) staging: [Vec<u64>; 2],
    pub(super) staged_tile: u32,
    pub(super) fragments: [[Vec<Held>; 2]; 2],
    pub(super) accumulators: Accumulated,
    pub(super) multiplied: u64,
    pub(super) collected: u32,
    /// Tiles along K that it has written.
    pub written: u32,
    /// Tiles along K that it has read.
    pub read: u32,
    pub(super) issued: Vec<Access>,
    pub(super) groups: VecDeque<Vec<Access>>,
}

/// Who looks on while a block runs.
pub trait Onlooker {
    /// Performs a thread's step, the `number`-th since the last barrier.
    fn step(&mut self, number: u32, step: Step, turn: &mut Turn<'_, '_>) -> Result<(), Fault>;
    /// All threads meet.
    fn barrier(&mut self);
}

/// Nobody looks on.
impl Onlooker for () {
    fn step(&mut self, _: u32, step: Step, turn: &mut Turn<'_, '_>) -> Result<(), Fault> {
        perform(&turn.block.program.base, step, turn)
    }

    fn barrier(&mut self) {}
}

/// Runs block 0 over `tiles` tiles along K with someone looking on. Returns how many products were added up.
pub fn look_on(program: &Program, tiles: u32, onlooker: &mut dyn Onlooker) -> Result<u64, Fault> {
    stored_once(program)?;
    whole(program)?;
    let nothing = |_: OperandKind, _: u32, _: u32, _: u32| 0;
    let started = Started { source: &nothing, accumulators: Accumulated::Counted(0), tiles, seed: 0 };
    let block = Block::run(program, &started, onlooker)?;
    let products = |of: &Accumulated| if let Accumulated::Counted(products) = of { *products } else { 0 };
    Ok(block.threads.iter().map(|thread| products(&thread.accumulators)).sum())
}

/// A block while it runs.
pub struct Block<'a> {
    /// What it runs.
    pub program: &'a Program,
    /// Its operands.
    pub operands: [OperandDesc; 2],
    /// Vectors in a row of each operand's tile.
    pub(super) contiguous: [u32; 2],
    /// Bytes of one stage: of A, and of both.
    pub(super) stage_bytes: [u64; 2],
    pub(super) threads_per_slice: u32,
    /// Accumulators of a thread.
    pub accumulators: u32,
    pub(super) source: &'a dyn Fn(OperandKind, u32, u32, u32) -> u64,
    /// Tiles along K.
    pub tiles: u32,
    pub(super) shared: SharedMemory,
    pub(super) threads: Vec<Thread>,
}

impl<'a> Block<'a> {
    /// Runs a block, with someone looking on.
    pub(super) fn run(program: &'a Program, started: &Started<'a>, onlooker: &mut dyn Onlooker) -> Result<Self, Fault> {
        let base = &program.base;
        let operands = base.operands;
        let thread = || Thread {
            staging: operands.map(|o| vec![0; (o.thread_map().accesses() * o.access) as usize]),
            staged_tile: u32::MAX,
            fragments: operands.map(|o| {
                let empty = vec![Held { word: 0, tile: u32::MAX, group: u32::MAX }; o.thread_mn() as usize];
                [empty.clone(), empty]
            }),
            accumulators: started.accumulators.clone(),
            multiplied: 0,
            collected: 0,
            written: 0,
            read: 0,
            issued: Vec::new(),
            groups: VecDeque::new(),
        };
        let elements = [operands[0].element, operands[1].element, base.accumulator];
        let granule = elements.into_iter().map(|element| element.bytes_of(1)).min().unwrap_or(1);
        let shared = SharedMemory::new(base.smem_bytes(), granule);
        let threads = (0..base.tiles.threads()).map(|_| thread()).collect();
        let mut block = Self {
            program,
            operands,
            contiguous: operands.map(|operand| operand.thread_map().contiguous),
            stage_bytes: [u64::from(operands[0].stage_bytes()), u64::from(base.stage_bytes())],
            threads_per_slice: base.tiles.threads_per_slice(),
            accumulators: base.tiles.accumulators(),
            source: started.source,
            tiles: started.tiles,
            shared,
            threads,
        };
        block.steps(started.seed, onlooker)?;
        block.finished()?;
        Ok(block)
    }

    /// Runs the schedule, barrier by barrier.
    fn steps(&mut self, mut seed: u64, onlooker: &mut dyn Onlooker) -> Result<(), Fault> {
        let schedule = &self.program.schedule;
        let body = (0..self.tiles).flat_map(|_| schedule.body.iter());
        let mut order: Vec<u32> = (0..self.threads.len() as u32).collect();
        let mut phase = Vec::new();
        for step in schedule.prologue.iter().chain(body).chain(&schedule.epilogue).chain([&Step::Barrier]) {
            if *step != Step::Barrier {
                phase.push(*step);
                continue;
            }
            shuffle(&mut order, &mut seed);
            for &thread in &order {
                for (number, &step) in (0..).zip(&phase) {
                    onlooker.step(number, step, &mut Turn { block: self, thread })?;
                }
            }
            phase.clear();
            self.shared.barrier();
            onlooker.barrier();
        }
        Ok(())
    }

    /// Whether every product was made and every slice added.
    fn finished(&self) -> Result<(), Fault> {
        let tiles = &self.program.base.tiles;
        let wanted = u64::from(self.tiles) * u64::from(tiles.warp.k);
        for (thread, state) in (0..).zip(&self.threads) {
            if state.multiplied != wanted {
                return Err(Fault::Unfinished { thread, multiplied: state.multiplied, wanted });
            }
            let slices = tiles.warps().k;
            if thread < tiles.threads_per_slice() && state.collected + 1 != slices {
                return Err(Fault::Uncollected { slices, collected: state.collected + 1 });
            }
        }
        Ok(())
    }
}

/// Puts threads into a random order.
pub(super) fn shuffle(order: &mut [u32], seed: &mut u64) {
    for i in (1..order.len()).rev() {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(i, (*seed >> 33) as usize % (i + 1));
    }
}
