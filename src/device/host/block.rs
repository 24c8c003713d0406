//! One block of a kernel: its threads, their registers, and the order in which they run.

use super::{
    Fault, Lane, Program,
    shared_memory::{Access, SharedMemory},
};
use crate::{
    desc::{GemmDesc, OperandDesc, OperandKind},
    index::at,
    numeric::Accumulator,
    schedule::Step,
    threadblock::mma::perform,
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
struct Held<V> {
    value: V,
    tile: u32,
    group: u32,
}

/// The registers of one thread.
pub(super) struct Thread<V: Value> {
    staging: [Vec<V>; 2],
    staged_tile: u32,
    fragments: [[Vec<Held<V>>; 2]; 2],
    pub(super) sums: V::Sums,
    multiplied: u64,
    collected: u32,
    written: u32,
    read: u32,
    issued: Vec<Access>,
    groups: VecDeque<Vec<Access>>,
}

/// What tag deposits carry, so that no tile is mistaken for one.
const DEPOSITED: u32 = 1 << 31;

/// A block while it runs.
pub(super) struct Block<'a, V: Value> {
    program: &'a Program,
    operands: [OperandDesc; 2],
    /// Vectors in a row of each operand's tile.
    contiguous: [u32; 2],
    /// Bytes of one stage: of A, and of both.
    stage_bytes: [u64; 2],
    threads_per_slice: u32,
    accumulators: u32,
    source: Source<'a, V>,
    tiles: u32,
    shared: SharedMemory<(V, u32)>,
    pub(super) threads: Vec<Thread<V>>,
}

impl<'a, V: Value> Block<'a, V> {
    /// Runs a block over `tiles` tiles along K; threads between barriers take turns in an order drawn from `seed`.
    pub fn run(program: &'a Program, source: Source<'a, V>, tiles: u32, seed: u64) -> Result<Self, Fault> {
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
        block.steps(seed)?;
        block.finished()?;
        Ok(block)
    }

    /// Runs the schedule, barrier by barrier.
    fn steps(&mut self, mut seed: u64) -> Result<(), Fault> {
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
                for &step in &phase {
                    perform(&self.program.desc, step, &mut Turn { block: self, thread })?;
                }
            }
            phase.clear();
            self.shared.barrier();
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

/// One thread at its turn.
struct Turn<'b, 'a, V: Value> {
    block: &'b mut Block<'a, V>,
    thread: u32,
}

impl<V: Value> Turn<'_, '_, V> {
    fn state(&mut self) -> &mut Thread<V> {
        &mut self.block.threads[self.thread as usize]
    }

    /// The vector of an access, or nothing to do.
    fn vector(&self, operand: OperandKind, access: u32) -> Option<(u32, u32)> {
        let contiguous = self.block.contiguous[operand.index()];
        let number = self.block.program.maps.copy[operand.index()].at(at(self.thread, access))?;
        Some((number / contiguous, number % contiguous))
    }

    /// The (mn, k) of each element of an access.
    fn elements(&self, operand: OperandKind, access: u32) -> impl Iterator<Item = (u32, (u32, u32))> + use<V> {
        let facts = self.block.operands[operand.index()];
        let vector = self.vector(operand, access);
        (0..facts.access).filter_map(move |i| vector.map(|vector| (i, facts.coordinate(vector, i))))
    }

    /// Where element (mn, k) of the tile numbered `tile` lies.
    fn place(&self, operand: OperandKind, tile: u32, (mn, k): (u32, u32)) -> Result<Access, Fault> {
        let (d, facts) = (&self.block.program.desc, &self.block.operands[operand.index()]);
        let offset = self.block.program.maps.smem[operand.index()].at(at(mn, k)).ok_or(Fault::LeftOut {
            map: "smem",
            row: mn,
            column: k,
        })?;
        let [stage_of_a, stage] = self.block.stage_bytes;
        let base = u64::from(tile % d.stages) * stage + if operand == OperandKind::B { stage_of_a } else { 0 };
        let bytes = facts.element.bytes();
        Ok(Access { thread: self.thread, byte: base + u64::from(offset) * u64::from(bytes), bytes })
    }

    fn deposit_place(&self, index: u32) -> Result<Access, Fault> {
        let row = self.thread % self.block.threads_per_slice;
        let offset =
            self.block.program.maps.deposit.at(at(row, index)).ok_or(Fault::LeftOut { map: "deposit", row, column: index })?;
        let bytes = self.block.program.desc.accumulator.bytes();
        Ok(Access { thread: self.thread, byte: u64::from(offset) * u64::from(bytes), bytes })
    }

    fn slice(&self) -> u32 {
        self.thread / self.block.threads_per_slice
    }
}

impl<V: Value> Lane for Turn<'_, '_, V> {
    fn desc(&self) -> &GemmDesc {
        &self.block.program.desc
    }

    fn operand(&self, operand: OperandKind) -> OperandDesc {
        self.block.operands[operand.index()]
    }

    fn fetch(&mut self, operand: OperandKind, access: u32) -> Result<(), Fault> {
        let tile = self.state().written;
        if tile < self.block.tiles {
            let width = self.block.operands[operand.index()].access;
            for (i, (mn, k)) in self.elements(operand, access) {
                let value = (self.block.source)(operand, tile, mn, k);
                self.state().staging[operand.index()][(access * width + i) as usize] = value;
            }
            self.state().staged_tile = tile;
        }
        Ok(())
    }

    fn store(&mut self, operand: OperandKind, access: u32) -> Result<(), Fault> {
        let tile = self.state().written;
        if tile < self.block.tiles {
            let width = self.block.operands[operand.index()].access;
            for (i, coordinate) in self.elements(operand, access) {
                let place = self.place(operand, tile, coordinate)?;
                let value = self.state().staging[operand.index()][(access * width + i) as usize];
                let tag = self.state().staged_tile;
                self.block.shared.write(place, (value, tag))?;
            }
        }
        Ok(())
    }

    fn copy(&mut self, operand: OperandKind, access: u32) -> Result<(), Fault> {
        let tile = self.state().written;
        if tile < self.block.tiles {
            for (_, (mn, k)) in self.elements(operand, access) {
                let place = self.place(operand, tile, (mn, k))?;
                let value = (self.block.source)(operand, tile, mn, k);
                self.block.shared.send(place, (value, tile))?;
                self.state().issued.push(place);
            }
        }
        Ok(())
    }

    fn commit(&mut self) {
        let issued = core::mem::take(&mut self.state().issued);
        self.state().groups.push_back(issued);
    }

    fn wait(&mut self, pending: u32) -> Result<(), Fault> {
        while self.state().groups.len() > pending as usize {
            for place in self.state().groups.pop_front().unwrap_or_default() {
                self.block.shared.land(place)?;
            }
        }
        Ok(())
    }

    fn wrote(&mut self) {
        self.state().written += 1;
    }

    fn advance(&mut self) {
        self.state().read += 1;
    }

    fn load(&mut self, operand: OperandKind, group: u32, element: u32) -> Result<(), Fault> {
        let tile = self.state().read;
        if tile >= self.block.tiles {
            return Ok(());
        }
        let maps = &self.block.program.maps;
        let left_out = |map, column| Fault::LeftOut { map, row: self.thread, column };
        let mn = maps.fragment[operand.index()].at(at(self.thread, element)).ok_or(left_out("fragment", element))?;
        let k = maps.depth.at(at(self.thread, group)).ok_or(left_out("depth", group))?;
        let place = self.place(operand, tile, (mn, k))?;
        let (value, found) = self.block.shared.read(place)?;
        if found != tile {
            return Err(Fault::Stale { thread: self.thread, operand, wanted: tile, found });
        }
        self.state().fragments[operand.index()][group as usize % 2][element as usize] = Held { value, tile, group };
        Ok(())
    }

    fn begin_multiply(&mut self, group: u32) -> Result<(), Fault> {
        let groups = u64::from(self.block.program.desc.warp.k);
        let thread = self.thread;
        let state = self.state();
        let tile = (state.multiplied / groups) as u32;
        if state.multiplied % groups != u64::from(group) {
            return Err(Fault::OutOfOrder { thread, tile, group, found: state.multiplied });
        }
        for operand in OperandKind::BOTH {
            let fragment = &state.fragments[operand.index()][group as usize % 2];
            if fragment.iter().any(|held| (held.tile, held.group) != (tile, group)) {
                return Err(Fault::StaleFragment { thread, operand, tile, group });
            }
        }
        state.multiplied += 1;
        Ok(())
    }

    fn multiply_add(&mut self, group: u32, i: u32, j: u32) {
        let columns = self.block.operands[1].thread_mn();
        let state = self.state();
        let [a, b] = &state.fragments;
        let (a, b) = (a[group as usize % 2][i as usize].value, b[group as usize % 2][j as usize].value);
        V::multiply_add(&mut state.sums, (i, j, columns), a, b);
    }

    fn deposit(&mut self, slice: u32) -> Result<(), Fault> {
        if self.slice() == slice {
            for index in 0..self.block.accumulators {
                let place = self.deposit_place(index)?;
                let value = V::sum(&self.state().sums, index);
                self.block.shared.write(place, (value, DEPOSITED | slice))?;
            }
        }
        Ok(())
    }

    fn collect(&mut self, slice: u32) -> Result<(), Fault> {
        if self.slice() == 0 {
            for index in 0..self.block.accumulators {
                let place = self.deposit_place(index)?;
                let (value, tag) = self.block.shared.read(place)?;
                if tag != DEPOSITED | slice {
                    return Err(Fault::NotDeposited { thread: self.thread, slice });
                }
                V::add(&mut self.state().sums, index, value);
            }
            self.state().collected += 1;
        }
        Ok(())
    }
}
