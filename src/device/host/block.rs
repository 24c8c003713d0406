//! One block of a kernel: its threads, their registers, and the order in which they run.

use super::{
    Fault, Program,
    shared_memory::{Access, SharedMemory},
    turn::Turn,
    watch::{Unwatched, Watch},
};
use crate::{
    desc::{OperandDesc, OperandKind},
    numeric::Accumulator,
    schedule::Step,
};
use std::collections::VecDeque;

/// What lies in shared memory and in fragments: numbers, or names of matrix elements.
pub(super) trait Value: Copy + Default {
    /// The accumulators of a thread.
    type Sums;
    fn sums(rows: u32, columns: u32) -> Self::Sums;
    /// `sums[i][j] += a * b`.
    fn multiply_add(sums: &mut Self::Sums, at: (u32, u32, u32), a: Self, b: Self);
    /// One accumulator, to be deposited.
    fn sum(sums: &Self::Sums, index: u32) -> Self;
    /// Adds what was deposited.
    fn add(sums: &mut Self::Sums, index: u32, other: Self);
}

impl<T: Accumulator> Value for T {
    type Sums = Vec<T>;
    fn sums(rows: u32, columns: u32) -> Vec<T> {
        vec![T::default(); (rows * columns) as usize]
    }
    fn multiply_add(sums: &mut Vec<T>, (i, j, columns): (u32, u32, u32), a: T, b: T) {
        let sum = &mut sums[(i * columns + j) as usize];
        *sum = sum.mul_add(a, b);
    }
    fn sum(sums: &Vec<T>, index: u32) -> T {
        sums[index as usize]
    }
    fn add(sums: &mut Vec<T>, index: u32, other: T) {
        let sum = &mut sums[index as usize];
        *sum = sum.plus(other);
    }
}

/// Where a block's operands come from: element (mn, k) of a tile.
pub(super) type Source<'a, V> = &'a dyn Fn(OperandKind, u32, u32, u32) -> V;

/// A value in a fragment: which k-group of which tile it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Held<V> {
    pub value: V,
    pub tile: u32,
    pub group: u32,
}

/// The registers of one thread.
pub(super) struct Thread<V: Value> {
    pub staging: [Vec<V>; 2],
    pub staged_tile: u32,
    pub fragments: [[Vec<Held<V>>; 2]; 2],
    pub sums: V::Sums,
    pub multiplied: u64,
    pub collected: u32,
    pub written: u32,
    pub read: u32,
    pub issued: Vec<Access>,
    pub groups: VecDeque<Vec<Access>>,
}

/// A block while it runs.
pub(super) struct Block<'a, V: Value> {
    pub program: &'a Program,
    pub operands: [OperandDesc; 2],
    /// Vectors in a row of each operand's tile.
    pub contiguous: [u32; 2],
    /// Bytes of one stage: of A, and of both.
    pub stage_bytes: [u64; 2],
    pub threads_per_slice: u32,
    pub accumulators: u32,
    pub source: Source<'a, V>,
    pub tiles: u32,
    pub shared: SharedMemory<(V, u32)>,
    pub threads: Vec<Thread<V>>,
}

impl<'a, V: Value> Block<'a, V> {
    /// Runs a block over `tiles` tiles along K; threads between barriers take turns in an order drawn from `seed`.
    pub fn run(program: &'a Program, source: Source<'a, V>, tiles: u32, seed: u64) -> Result<Self, Fault> {
        Self::run_watched(program, source, tiles, seed, &mut Unwatched)
    }

    /// The same, with someone looking on.
    pub fn run_watched(
        program: &'a Program,
        source: Source<'a, V>,
        tiles: u32,
        seed: u64,
        watch: &mut dyn Watch<V>,
    ) -> Result<Self, Fault> {
        let d = &program.desc;
        let operands = OperandKind::BOTH.map(|operand| d.operand(operand));
        let thread = || Thread {
            staging: operands.map(|o| vec![V::default(); (o.thread_map().accesses() * o.access) as usize]),
            staged_tile: u32::MAX,
            fragments: operands.map(|o| {
                let empty = vec![Held { value: V::default(), tile: u32::MAX, group: u32::MAX }; o.thread_mn() as usize];
                [empty.clone(), empty]
            }),
            sums: V::sums(operands[0].thread_mn(), operands[1].thread_mn()),
            multiplied: 0,
            collected: 0,
            written: 0,
            read: 0,
            issued: Vec::new(),
            groups: VecDeque::new(),
        };
        let granule = d.a.bytes().min(d.b.bytes()).min(d.accumulator.bytes());
        let shared = SharedMemory::new(d.smem_bytes(), granule);
        let threads = (0..d.threads()).map(|_| thread()).collect();
        let mut block = Self {
            program,
            operands,
            contiguous: operands.map(|operand| operand.thread_map().contiguous),
            stage_bytes: [u64::from(operands[0].stage_bytes()), u64::from(d.stage_bytes())],
            threads_per_slice: d.threads_per_slice(),
            accumulators: d.accumulators(),
            source,
            tiles,
            shared,
            threads,
        };
        block.steps(seed, watch)?;
        block.finished()?;
        Ok(block)
    }

    /// Runs the schedule, barrier by barrier.
    fn steps(&mut self, mut seed: u64, watch: &mut dyn Watch<V>) -> Result<(), Fault> {
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
                    watch.perform(number, step, &mut Turn { block: self, thread })?;
                }
            }
            phase.clear();
            self.shared.barrier();
            watch.barrier();
        }
        Ok(())
    }

    /// Whether every product was made and every slice added.
    fn finished(&self) -> Result<(), Fault> {
        let d = &self.program.desc;
        let wanted = u64::from(self.tiles) * u64::from(d.warp.k);
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
