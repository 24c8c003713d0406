//! One block of a kernel: its threads, their registers, and the order in which they run.

use super::{
    accumulated::{Accumulated, Held},
    shared_memory::{Access, SharedMemory},
    turn::Turn,
    watch::Watcher,
};
use crate::{
    desc::OperandDesc,
    operand::OperandKind,
    schedule::{Fault, Step},
    threadblock::{Program, mma::perform},
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
pub(super) struct Thread {
    pub staging: [Vec<u64>; 2],
    pub staged_tile: u32,
    pub fragments: [[Vec<Held>; 2]; 2],
    pub accumulators: Accumulated,
    pub multiplied: u64,
    pub collected: u32,
    pub written: u32,
    pub read: u32,
    pub issued: Vec<Access>,
    pub groups: VecDeque<Vec<Access>>,
}

/// A block while it runs.
pub(super) struct Block<'a> {
    pub program: &'a Program,
    pub operands: [OperandDesc; 2],
    /// Vectors in a row of each operand's tile.
    pub contiguous: [u32; 2],
    /// Bytes of one stage: of A, and of both.
    pub stage_bytes: [u64; 2],
    pub threads_per_slice: u32,
    pub accumulators: u32,
    pub source: &'a dyn Fn(OperandKind, u32, u32, u32) -> u64,
    pub tiles: u32,
    pub shared: SharedMemory,
    pub threads: Vec<Thread>,
}

impl<'a> Block<'a> {
    /// Runs a block.
    pub fn run(program: &'a Program, started: &Started<'a>) -> Result<Self, Fault> {
        Self::run_watched(program, started, None)
    }

    /// The same, with someone looking on.
    pub fn run_watched(program: &'a Program, started: &Started<'a>, watcher: Option<Watcher<'_>>) -> Result<Self, Fault> {
        let d = &program.desc;
        let operands = OperandKind::BOTH.map(|operand| d.operand(operand));
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
        let granule = d.class.a.element.bytes_of(1).min(d.class.b.element.bytes_of(1)).min(d.class.accumulator.bytes_of(1));
        let shared = SharedMemory::new(d.smem_bytes(), granule);
        let threads = (0..d.threads()).map(|_| thread()).collect();
        let mut block = Self {
            program,
            operands,
            contiguous: operands.map(|operand| operand.thread_map().contiguous),
            stage_bytes: [u64::from(operands[0].stage_bytes()), u64::from(d.stage_bytes())],
            threads_per_slice: d.threads_per_slice(),
            accumulators: d.accumulators(),
            source: started.source,
            tiles: started.tiles,
            shared,
            threads,
        };
        block.steps(started.seed, watcher)?;
        block.finished()?;
        Ok(block)
    }

    /// Runs the schedule, barrier by barrier.
    fn steps(&mut self, mut seed: u64, mut watcher: Option<Watcher<'_>>) -> Result<(), Fault> {
        let Program { desc, schedule, .. } = self.program;
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
                    let mut turn = Turn { block: self, thread };
                    match &mut watcher {
                        Some(watcher) => watcher.perform(number, step, &mut turn)?,
                        None => perform(desc, step, &mut turn)?,
                    }
                }
            }
            phase.clear();
            self.shared.barrier();
            if let Some(watcher) = &mut watcher {
                watcher.barrier();
            }
        }
        Ok(())
    }

    /// Whether every product was made and every slice added.
    fn finished(&self) -> Result<(), Fault> {
        let d = &self.program.desc;
        let wanted = u64::from(self.tiles) * u64::from(d.knobs.warp.k);
        for (thread, state) in (0..).zip(&self.threads) {
            if state.multiplied != wanted {
                return Err(Fault::Unfinished { thread, multiplied: state.multiplied, wanted });
            }
            let slices = d.warps().k;
            if thread < d.threads_per_slice() && state.collected + 1 != slices {
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
