//! One CTA of a GEMM whose threads all follow one schedule: the effect of each step on a thread and
//! its registers.

mod partials;

use super::{
    block::{BlockShape, Content, Lane, LaneSteps, Place, run},
    observer::{Observer, Purpose, Touched},
};
use crate::accumulated::{Accumulated, FragmentValue};
use falchion::{
    internals::{
        host::shared::{Fragments, stored_once, vectors::whole},
        index::{IndexMap, at},
        nest::{Program, accesses},
        schedule::{Fault, Spelled, Step},
        shape::OperandKind,
    },
    numeric::{HostTransform, Instruction, emulation::RegisterTerms},
    threadblock::ThreadMap,
};
use std::collections::VecDeque;

/// The input of a CTA.
pub(crate) struct Started<'a> {
    /// Returns element (mn, k) of a k-tile of an operand: a number, or its name. K-tiles are
    /// numbered through all units of work.
    pub source: &'a dyn Fn(OperandKind, u32, u32, u32) -> u64,
    /// The initial accumulators of a thread.
    pub accumulators: Accumulated,
    /// k-tiles of each unit of work.
    pub tiles: &'a [u32],
    /// Seed of the order of warps and lanes.
    pub seed: u64,
}

/// The registers of one thread.
#[derive(Clone)]
struct Thread {
    staging: [Vec<u64>; 2],
    staged_tile: u32,
    fragments: [[Vec<FragmentValue>; 2]; 2],
    /// The words of the fragments of A and of B, one fragment per k, that are not added yet.
    steps: [Vec<u64>; 2],
    accumulators: Accumulated,
    /// The accumulators of the completed units of work, and the number of their k-tiles.
    sums: Vec<Accumulated>,
    before: u32,
    multiplied: u64,
    reduced: u32,
    /// k-tiles of the current unit that the thread has written, and that it has read.
    written: u32,
    read: u32,
    /// The places of copies without a group, and the groups of copies in progress.
    issued: Vec<Place>,
    groups: VecDeque<Vec<Place>>,
}

/// The tile of an operand in one stage of shared memory.
#[derive(Clone, Copy)]
struct StagedTile<'a> {
    map: &'a dyn IndexMap,
    /// First byte of the tile.
    first: u64,
    /// Bytes per element.
    bytes: u32,
}

impl StagedTile<'_> {
    /// Returns the place of element (mn, k).
    fn place(&self, (mn, k): (u32, u32)) -> Result<Place, Fault> {
        let left_out = Fault::LeftOut { map: "smem", row: mn, column: k };
        let offset = self.map.at(at(mn, k)).ok_or(left_out)?;
        Ok(Place {
            byte: self.first + u64::from(offset) * u64::from(self.bytes),
            bytes: self.bytes,
        })
    }
}

/// A CTA while it runs.
struct Block<'a> {
    program: &'a Program,
    started: &'a Started<'a>,
    threads: Vec<Thread>,
    /// The assignments of the vectors of A and of B to threads.
    thread_maps: [ThreadMap; 2],
    /// The tiles of A and of B in the first stage, and the bytes of a stage.
    first_stage: [StagedTile<'a>; 2],
    stage_bytes: u64,
    /// Elements of A and of B per access of a fragment load.
    widths: [u32; 2],
    /// The fragments of A and of B.
    fragments: [Fragments; 2],
    /// The instruction, and the terms that it reads of each fragment element.
    arithmetic: Option<(Instruction, RegisterTerms)>,
    /// The transforms of A and of B. Without a warp-level instruction, threads apply them to their
    /// fragments.
    transforms: [Option<HostTransform>; 2],
}

/// Runs CTA 0 over `tiles` k-tiles with an observer. Returns the number of multiply-adds.
///
/// # Errors
/// The first fault.
pub fn observe(program: &Program, tiles: u32, observer: &mut dyn Observer) -> Result<u64, Fault> {
    stored_once(program)?;
    whole(program)?;
    let source = |_: OperandKind, _: u32, _: u32, _: u32| 0;
    let started = Started {
        source: &source,
        accumulators: Accumulated::Names(Default::default()),
        tiles: &[tiles],
        seed: 0,
    };
    // Each element of A is multiplied by a whole fragment of B.
    let columns = u64::from(program.base.operands[1].thread_mn());
    let threads = run_block(program, &started, Some(observer))?;
    Ok(threads.iter().flatten().map(|of| of.names(OperandKind::A).len() as u64 * columns).sum())
}

/// Runs a CTA. Returns the accumulators of each unit of work, for each thread.
pub(crate) fn run_block(
    program: &Program,
    started: &Started<'_>,
    observer: Option<&mut dyn Observer>,
) -> Result<Vec<Vec<Accumulated>>, Fault> {
    let base = &program.base;
    let operands = &base.operands;
    let thread_maps = operands.map(|operand| operand.thread_map());
    let thread = Thread {
        staging: [0, 1].map(|side: usize| {
            vec![0; (thread_maps[side].accesses() * operands[side].access) as usize]
        }),
        staged_tile: u32::MAX,
        fragments: OperandKind::BOTH.map(|operand| {
            let empty = vec![
                FragmentValue { word: 0, tile: u32::MAX, k_block: u32::MAX };
                base.fragment_elements(operand) as usize
            ];
            [empty.clone(), empty]
        }),
        steps: Default::default(),
        accumulators: started.accumulators.clone(),
        sums: Vec::new(),
        before: 0,
        multiplied: 0,
        reduced: 0,
        written: 0,
        read: 0,
        issued: Vec::new(),
        groups: VecDeque::new(),
    };
    let elements = [operands[0].element, operands[1].element, base.accumulator];
    let shape = BlockShape {
        schedule: &program.schedule,
        k_tiles: started.tiles,
        threads: base.tiles.threads(),
        bytes: base.smem_bytes(),
        granule: elements.into_iter().map(|element| element.bytes_of(1)).min().unwrap_or(1),
    };
    let threads = vec![thread; base.tiles.threads() as usize];
    let mut block = Block {
        program,
        started,
        threads,
        thread_maps,
        first_stage: OperandKind::BOTH.map(|operand| StagedTile {
            map: program.maps.smem[operand.index()].as_ref(),
            first: if operand == OperandKind::B { operands[0].stage_bytes().into() } else { 0 },
            bytes: base.operand(operand).element.bytes_of(1),
        }),
        stage_bytes: base.stage_bytes().into(),
        widths: OperandKind::BOTH.map(|operand| base.mma.fragment_access(base, operand).0),
        fragments: OperandKind::BOTH.map(|operand| Fragments::new(program, operand)),
        arithmetic: program.arithmetic(),
        transforms: program
            .desc
            .operands
            .map(|operand| operand.multiplied.transform().map(|id| id.on_host())),
    };
    run(shape, &mut block, started.seed, observer)?;
    (0..base.tiles.threads())
        .try_for_each(|thread| block.reach(thread, started.tiles.len() as u32))?;
    Ok(block.threads.into_iter().map(|thread| thread.sums).collect())
}

impl LaneSteps for Block<'_> {
    fn perform(&mut self, lane: &mut Lane<'_, '_>, step: Step) -> Result<(), Fault> {
        self.reach(lane.thread, lane.unit)?;
        let base = &self.program.base;
        let copies = base.mainloop.copies_asynchronously();
        let mut transfer = |purpose, part, of| {
            let counts = self.thread_maps.map(|map| map.accesses());
            accesses(counts, u32::from(part), u32::from(of))
                .try_for_each(|(operand, access)| self.transfer(lane, purpose, operand, access))
        };
        match step {
            Step::Fetch if !copies => return transfer(Purpose::Fetch, 0, 1),
            Step::Store if !copies => transfer(Purpose::Store, 0, 1)?,
            Step::Copy { part, of } if copies => return transfer(Purpose::Copy, part, of),
            Step::Load { k_block } => {
                return self.load(lane, &OperandKind::BOTH, u32::from(k_block));
            }
            Step::LoadA { k_block } => {
                return self.load(lane, &[OperandKind::A], u32::from(k_block));
            }
            Step::Multiply { k_block } => return self.multiply(lane.thread, u32::from(k_block)),
            // Lanes run one by one here, and each of them reads the fragments of the other lanes. B
            // therefore keeps two fragments.
            Step::MultiplyLoad { k_block, next } => {
                self.multiply(lane.thread, u32::from(k_block))?;
                return self.load(lane, &[OperandKind::B], u32::from(next));
            }
            Step::MultiplyTile => {
                return (0..base.k_blocks()).try_for_each(|k_block| {
                    self.load(lane, &OperandKind::BOTH, k_block)?;
                    self.multiply(lane.thread, k_block)
                });
            }
            Step::StoreWarpSlice { slice } => return self.store_warp_slice(lane, u32::from(slice)),
            Step::ReduceWarpSlice { slice } => {
                return self.reduce_warp_slice(lane, u32::from(slice));
            }
            _ => {}
        }
        let thread = &mut self.threads[lane.thread as usize];
        match step {
            Step::Store if !copies => thread.written += 1,
            Step::Commit if copies => {
                let issued = core::mem::take(&mut thread.issued);
                thread.groups.push_back(issued);
                thread.written += 1;
            }
            Step::Wait { pending } if copies => {
                while thread.groups.len() > usize::from(pending) {
                    thread
                        .groups
                        .pop_front()
                        .into_iter()
                        .flatten()
                        .try_for_each(|place| lane.land(place))?;
                }
            }
            Step::Advance => thread.read += 1,
            // The executor stores accumulators after the schedule has ended.
            step => return Err(Fault::ForeignStep { step: step.name() }),
        }
        Ok(())
    }
}

impl<'a> Block<'a> {
    /// Returns the tile of an operand in the stage of k-tile `tile`.
    fn staged(&self, operand: OperandKind, tile: u32) -> StagedTile<'a> {
        let in_first = self.first_stage[operand.index()];
        let stage = u64::from(tile % self.program.base.stages);
        StagedTile { first: in_first.first + stage * self.stage_bytes, ..in_first }
    }

    /// Moves vector `access` of the current k-tile: from global memory to registers, from registers
    /// to shared memory, or both by an asynchronous copy.
    fn transfer(
        &mut self,
        lane: &mut Lane<'_, '_>,
        purpose: Purpose,
        operand: OperandKind,
        access: u32,
    ) -> Result<(), Fault> {
        let (side, id, source) = (operand.index(), lane.thread as usize, self.started.source);
        let (facts, tile) = (&self.program.base.operands[side], self.threads[id].written);
        let vector = self.program.maps.copy[side].at(at(lane.thread, access));
        let Some(number) = vector.filter(|_| tile < self.tiles(lane.thread)) else { return Ok(()) };
        let name = self.threads[id].before + tile;
        let contiguous = self.thread_maps[side].contiguous;
        let vector = (number / contiguous, number % contiguous);
        // Elements per instruction that writes shared memory.
        let piece = if purpose == Purpose::Store { facts.shared_access() } else { facts.access };
        let staged = self.staged(operand, tile);
        for i in 0..facts.access {
            let (mn, k) = facts.coordinate(vector, i);
            if i == 0 && purpose != Purpose::Store {
                let column =
                    i64::from(tile) * i64::from(self.program.base.tiles.block.k) + i64::from(k);
                let touched = Touched::Global { row: mn.into(), column, elements: facts.access };
                lane.sees(Purpose::Fetch, Some(operand), [access, 0], touched);
            }
            let register = (access * facts.access + i) as usize;
            if purpose == Purpose::Fetch {
                self.threads[id].staging[side][register] = source(operand, name, mn, k);
                self.threads[id].staged_tile = name;
                continue;
            }
            let place = staged.place((mn, k))?;
            if i.is_multiple_of(piece) {
                lane.sees(purpose, Some(operand), [access, i], place.neighbours(piece));
            }
            let thread = &mut self.threads[id];
            if purpose == Purpose::Copy {
                lane.send(place, Content { word: source(operand, name, mn, k), tag: name })?;
                thread.issued.push(place);
            } else {
                lane.write(
                    place,
                    Content { word: thread.staging[side][register], tag: thread.staged_tile },
                )?;
            }
        }
        Ok(())
    }

    /// Loads the fragments of a k-block of the current k-tile from shared memory.
    fn load(
        &mut self,
        lane: &mut Lane<'_, '_>,
        operands: &[OperandKind],
        k_block: u32,
    ) -> Result<(), Fault> {
        let (id, tile) = (lane.thread, self.threads[lane.thread as usize].read);
        if tile >= self.tiles(id) {
            return Ok(());
        }
        let wanted = self.threads[id as usize].before + tile;
        let Program { maps, base, .. } = self.program;
        for &operand in operands {
            let side = operand.index();
            let width = self.widths[side];
            let left_out = Fault::LeftOut { map: "depth", row: id, column: k_block };
            let first = maps.depth.at(at(id, k_block)).ok_or(left_out)?;
            let step = base.step();
            let of_tile = |offset: u32| (offset / step, first + offset % step);
            let (staged, buffer) =
                (self.staged(operand, tile), self.buffer(operand, tile, k_block));
            let rows = maps.rows[side].as_ref();
            for load in 0..rows.map_or(0, |rows| rows.domain().column) {
                // Each lane gives the address of a row, which other lanes receive.
                if let Some(row) = rows.and_then(|rows| rows.at(at(id, load))) {
                    let row = staged.place(of_tile(row))?;
                    lane.sees(Purpose::Load, Some(operand), [k_block, load], row.neighbours(width));
                }
            }
            let fragment = &mut self.threads[id as usize].fragments[side][buffer];
            for (element, held) in (0..).zip(fragment) {
                let (mn, k) = self.fragments[side].coordinate(id, element)?;
                let place = staged.place((mn, first + k))?;
                if rows.is_none() && element.is_multiple_of(width) {
                    lane.sees(
                        Purpose::Load,
                        Some(operand),
                        [k_block, element],
                        place.neighbours(width),
                    );
                }
                let Content { word, tag: found } = lane.read(place)?;
                if found != wanted {
                    return Err(Fault::Stale { thread: id, operand, wanted, found });
                }
                *held = FragmentValue { word, tile: wanted, k_block };
            }
        }
        Ok(())
    }

    /// Returns which of two fragment buffers of an operand holds a k-block. Consecutive k-blocks
    /// alternate, as in the registers of the GPU. With a warp-level instruction, the GPU has one
    /// buffer for B. The buffers then alternate across k-tiles as well, because lanes run one by
    /// one here.
    fn buffer(&self, operand: OperandKind, tile: u32, k_block: u32) -> usize {
        let base = &self.program.base;
        let one = operand == OperandKind::B && base.mma.is_warp_wide();
        (if one { tile.wrapping_mul(base.k_blocks()).wrapping_add(k_block) } else { k_block })
            as usize
            % 2
    }

    fn multiply(&mut self, thread: u32, k_block: u32) -> Result<(), Fault> {
        let groups = u64::from(self.program.base.k_blocks());
        let tile = (self.threads[thread as usize].multiplied / groups) as u32;
        let buffers = OperandKind::BOTH.map(|operand| self.buffer(operand, tile, k_block));
        let state = &mut self.threads[thread as usize];
        let tile = state.before + tile;
        if state.multiplied % groups != u64::from(k_block) {
            return Err(Fault::OutOfOrder { thread, tile, k_block, found: state.multiplied });
        }
        let [a, b] = &state.fragments;
        let fragments = [&a[buffers[0]], &b[buffers[1]]];
        for operand in OperandKind::BOTH {
            if fragments[operand.index()]
                .iter()
                .any(|held| (held.tile, held.k_block) != (tile, k_block))
            {
                return Err(Fault::StaleFragment { thread, operand, tile, k_block });
            }
        }
        state.multiplied += 1;
        if !self.fragments[0].is_warp_wide() {
            state.accumulators.multiply(fragments[0], fragments[1], self.transforms);
            return Ok(());
        }
        let mut steps = core::mem::take(&mut state.steps);
        for (operand, steps) in OperandKind::BOTH.into_iter().zip(&mut steps) {
            self.give(thread, operand, buffers[operand.index()], steps);
        }
        // With promotion, the steps of a whole k-tile are added at once.
        let promotes = self
            .arithmetic
            .as_ref()
            .is_some_and(|(instruction, _)| instruction.promotion().is_some());
        let state = &mut self.threads[thread as usize];
        if !promotes || k_block + 1 == groups as u32 {
            let extents =
                self.program.base.operands.map(|operand| operand.thread_mn().max(1) as usize);
            let words = steps.each_ref().map(|words| &words[..]);
            state.accumulators.add_steps(self.arithmetic.as_ref(), extents, words);
            steps.iter_mut().for_each(Vec::clear);
        }
        state.steps = steps;
        Ok(())
    }

    /// Appends the fragments that an instruction reads for the accumulators of a thread: for each k
    /// of a k-block, the thread's rows of A or columns of B. The registers of the whole warp hold
    /// them.
    fn give(&self, thread: u32, operand: OperandKind, buffer: usize, steps: &mut Vec<u64>) {
        let side = operand.index();
        let read = self.fragments[side].read_by(&self.program.base, thread);
        steps.extend(read.map(|(holder, element)| {
            self.threads[holder as usize].fragments[side][buffer][element as usize].word
        }));
    }

    /// Returns the number of k-tiles of the thread's current unit of work.
    fn tiles(&self, thread: u32) -> u32 {
        self.started.tiles.get(self.threads[thread as usize].sums.len()).copied().unwrap_or(0)
    }

    /// Advances a thread to a unit of work. Checks that each earlier unit has all of its products
    /// and has reduced all warp slices.
    fn reach(&mut self, thread: u32, unit: u32) -> Result<(), Fault> {
        let Self { program: Program { base, .. }, started, .. } = *self;
        while self.threads[thread as usize].sums.len() < unit as usize {
            let tiles = self.tiles(thread);
            let (wanted, warp_slices) =
                (u64::from(tiles) * u64::from(base.k_blocks()), base.tiles.warps().k);
            let state = &mut self.threads[thread as usize];
            if state.multiplied != wanted {
                return Err(Fault::Unfinished { thread, multiplied: state.multiplied, wanted });
            }
            if thread < base.tiles.threads_per_warp_slice() && state.reduced + 1 != warp_slices {
                return Err(Fault::Unreduced { warp_slices, reduced: state.reduced + 1 });
            }
            state
                .sums
                .push(core::mem::replace(&mut state.accumulators, started.accumulators.clone()));
            (state.before, state.multiplied) = (state.before + tiles, 0);
            (state.reduced, state.written, state.read) = (0, 0, 0);
        }
        Ok(())
    }
}
