//! One block of a product whose threads all follow one schedule: what each step means to a thread and its registers.

use super::{
    block::{BlockShape, Content, Lane, LaneSteps, Place, run},
    observer::{Observer, Purpose, Touched},
};
use crate::{
    arch::WARP,
    host::{
        accumulated::{Accumulated, Held},
        composition::stored_once,
        vectors::whole,
    },
    index::at,
    numeric::{Instruction, emulation::RegisterParts},
    operand::OperandKind,
    plan::Program,
    schedule::{Fault, Spelled, Step},
    threadblock::{MmaBase, mma::accesses},
    warp::{mma_simt::FragmentMap, mma_tensor_op::MATRICES},
};
use std::collections::VecDeque;

/// The tag of partial accumulators, so that no tile is mistaken for them.
const PARTIALS: u32 = 1 << 31;

/// What a block begins with.
pub(in crate::host) struct Started<'a> {
    /// Element (mn, k) of an operand's tile: a number, or its name.
    pub source: &'a dyn Fn(OperandKind, u32, u32, u32) -> u64,
    /// The accumulators of a thread before it has multiplied anything.
    pub accumulators: Accumulated,
    /// K-tiles.
    pub tiles: u32,
    /// What the order is drawn from in which warps and lanes move.
    pub seed: u64,
}

/// The registers of one thread.
#[derive(Clone)]
struct Thread {
    staging: [Vec<u64>; 2],
    staged_tile: u32,
    fragments: [[Vec<Held>; 2]; 2],
    accumulators: Accumulated,
    multiplied: u64,
    reduced: u32,
    /// K-tiles that it has written, and read.
    written: u32,
    read: u32,
    /// Where copies go that belong to no group yet; groups under way.
    issued: Vec<Place>,
    groups: VecDeque<Vec<Place>>,
}

/// A block while it runs.
struct Block<'a> {
    program: &'a Program,
    started: &'a Started<'a>,
    threads: Vec<Thread>,
    /// Where warps multiply, of A and of B: the lane and its element that an instruction takes for (row or column of the warp's tile, k of a k-block).
    holders: Option<[Vec<(u32, u32)>; 2]>,
    /// How their instruction adds, and what of fragments.
    arithmetic: Option<(Instruction, RegisterParts)>,
}

/// The lane and the element of its fragment that an instruction takes for (mn, k) of a warp's tile, row by row.
fn holders(base: &MmaBase) -> Option<[Vec<(u32, u32)>; 2]> {
    let instruction = base.instruction?;
    let step = instruction.shape().k;
    Some(OperandKind::BOTH.map(|operand| {
        let (extent, per_word) = (instruction.extent(operand), instruction.per_word());
        let (own, elements) = (instruction.words(operand) * per_word, base.fragment_elements(operand));
        let mut held = vec![(0, 0); (base.operand(operand).warp_mn * step) as usize];
        for lane in 0..WARP {
            for element in 0..elements {
                let (mn, k) = instruction.coordinate(operand, lane, (element % own / per_word, element % per_word));
                held[((element / own * extent + mn) * step + k) as usize] = (lane, element);
            }
        }
        held
    }))
}

/// Runs block 0 over `tiles` k-tiles with someone looking on. Returns how many products were added up.
///
/// # Errors
/// The first fault.
pub fn observe(program: &Program, tiles: u32, observer: &mut dyn Observer) -> Result<u64, Fault> {
    stored_once(program)?;
    whole(program)?;
    let source = |_: OperandKind, _: u32, _: u32, _: u32| 0;
    let started = Started { source: &source, accumulators: Accumulated::Names(Default::default()), tiles, seed: 0 };
    // Each name of A is multiplied by a fragment of B.
    let columns = u64::from(program.base.operands[1].thread_mn());
    let threads = run_block(program, &started, Some(observer))?;
    Ok(threads.iter().map(|of| of.names(OperandKind::A).len() as u64 * columns).sum())
}

/// Runs a block. Returns the accumulators of each of its threads.
pub(in crate::host) fn run_block(
    program: &Program,
    started: &Started<'_>,
    observer: Option<&mut dyn Observer>,
) -> Result<Vec<Accumulated>, Fault> {
    let base = &program.base;
    let operands = &base.operands;
    let thread = Thread {
        staging: operands.map(|o| vec![0; (o.thread_map().accesses() * o.access) as usize]),
        staged_tile: u32::MAX,
        fragments: OperandKind::BOTH.map(|operand| {
            let empty = vec![Held { word: 0, tile: u32::MAX, k_block: u32::MAX }; base.fragment_elements(operand) as usize];
            [empty.clone(), empty]
        }),
        accumulators: started.accumulators.clone(),
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
    let mut block = Block { program, started, threads, holders: holders(base), arithmetic: program.arithmetic() };
    run(shape, &mut block, started.seed, observer)?;
    block.finished()?;
    Ok(block.threads.into_iter().map(|thread| thread.accumulators).collect())
}

impl LaneSteps for Block<'_> {
    fn perform(&mut self, lane: &mut Lane<'_, '_>, step: Step) -> Result<(), Fault> {
        let base = &self.program.base;
        let (copies, counts) =
            (base.mainloop.copies_asynchronously(), base.operands.map(|operand| operand.thread_map().accesses()));
        let mut transfer = |purpose, part, of| {
            accesses(counts, u32::from(part), u32::from(of))
                .try_for_each(|(operand, access)| self.transfer(lane, purpose, operand, access))
        };
        match step {
            Step::Fetch if !copies => return transfer(Purpose::Fetch, 0, 1),
            Step::Store if !copies => transfer(Purpose::Store, 0, 1)?,
            Step::Copy { part, of } if copies => return transfer(Purpose::Copy, part, of),
            Step::Load { k_block } => return self.load(lane, &OperandKind::BOTH, u32::from(k_block)),
            Step::LoadA { k_block } => return self.load(lane, &[OperandKind::A], u32::from(k_block)),
            Step::Multiply { k_block } => return self.multiply(lane.thread, u32::from(k_block)),
            // Lanes come here one after the other, and each multiplies what others hold: the fragments stay two.
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
            Step::StorePartials { slice } => return self.store_partials(lane, u32::from(slice)),
            Step::ReducePartials { slice } => return self.reduce_partials(lane, u32::from(slice)),
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
                    thread.groups.pop_front().into_iter().flatten().try_for_each(|place| lane.land(place))?;
                }
            }
            Step::Advance => thread.read += 1,
            // A product's accumulators are stored when its schedule is over.
            step => return Err(Fault::ForeignStep { step: step.name() }),
        }
        Ok(())
    }
}

impl Block<'_> {
    /// Where element (mn, k) of the tile numbered `tile` lies.
    fn place(&self, operand: OperandKind, tile: u32, (mn, k): (u32, u32)) -> Result<Place, Fault> {
        let (base, side) = (&self.program.base, operand.index());
        let left_out = Fault::LeftOut { map: "smem", row: mn, column: k };
        let offset = self.program.maps.smem[side].at(at(mn, k)).ok_or(left_out)?;
        let behind_a = if operand == OperandKind::B { u64::from(base.operands[0].stage_bytes()) } else { 0 };
        let first = u64::from(tile % base.stages) * u64::from(base.stage_bytes()) + behind_a;
        let bytes = base.operands[side].element.bytes_of(1);
        Ok(Place { byte: first + u64::from(offset) * u64::from(bytes), bytes })
    }

    /// Vector `access` of the tile that is written: one part of its way from global to shared memory.
    fn transfer(&mut self, lane: &mut Lane<'_, '_>, purpose: Purpose, operand: OperandKind, access: u32) -> Result<(), Fault> {
        let (side, id, source) = (operand.index(), lane.thread as usize, self.started.source);
        let (facts, tile) = (&self.program.base.operands[side], self.threads[id].written);
        let vector = self.program.maps.copy[side].at(at(lane.thread, access));
        let Some(number) = vector.filter(|_| tile < self.started.tiles) else { return Ok(()) };
        let contiguous = facts.thread_map().contiguous;
        let vector = (number / contiguous, number % contiguous);
        // Elements that an instruction moves to shared memory.
        let piece = if purpose == Purpose::Store { facts.shared_access() } else { facts.access };
        for i in 0..facts.access {
            let (mn, k) = facts.coordinate(vector, i);
            if i == 0 && purpose != Purpose::Store {
                let column = i64::from(tile) * i64::from(self.program.base.tiles.block.k) + i64::from(k);
                let touched = Touched::Global { row: mn.into(), column, elements: facts.access };
                lane.sees(Purpose::Fetch, Some(operand), [access, 0], touched);
            }
            let register = (access * facts.access + i) as usize;
            if purpose == Purpose::Fetch {
                self.threads[id].staging[side][register] = source(operand, tile, mn, k);
                self.threads[id].staged_tile = tile;
                continue;
            }
            let place = self.place(operand, tile, (mn, k))?;
            if i.is_multiple_of(piece) {
                lane.sees(purpose, Some(operand), [access, i], place.neighbours(piece));
            }
            let thread = &mut self.threads[id];
            if purpose == Purpose::Copy {
                lane.send(place, Content { word: source(operand, tile, mn, k), tag: tile })?;
                thread.issued.push(place);
            } else {
                lane.write(place, Content { word: thread.staging[side][register], tag: thread.staged_tile })?;
            }
        }
        Ok(())
    }

    /// Fragments of a k-block of the tile that is read.
    fn load(&mut self, lane: &mut Lane<'_, '_>, operands: &[OperandKind], k_block: u32) -> Result<(), Fault> {
        let (id, tile) = (lane.thread, self.threads[lane.thread as usize].read);
        if tile >= self.started.tiles {
            return Ok(());
        }
        let (maps, base) = (&self.program.maps, &self.program.base);
        let left_out = |map, column| Fault::LeftOut { map, row: id, column };
        for &operand in operands {
            let side = operand.index();
            let (width, _) = base.fragment_access(operand);
            let first = maps.depth.at(at(id, k_block)).ok_or(left_out("depth", k_block))?;
            let of_tile = |offset: u32| (offset / base.step(), first + offset % base.step());
            let rows = maps.rows[side].as_ref().zip(base.matrix_loads(operand));
            for load in 0..rows.as_ref().map_or(0, |(rows, _)| rows.domain().column) {
                // What a lane says is a row that others receive.
                if let Some(row) = rows.as_ref().and_then(|(rows, _)| rows.at(at(id, load))) {
                    let row = self.place(operand, tile, of_tile(row))?;
                    lane.sees(Purpose::Load, Some(operand), [k_block, load], row.neighbours(width));
                }
            }
            for element in 0..base.fragment_elements(operand) {
                let coordinate = match &rows {
                    None => of_tile(maps.fragment[side].at(at(id, element)).ok_or(left_out("fragment", element))?),
                    Some((rows, loads)) => {
                        let per_word = base.instruction.map_or(1, |instruction| instruction.per_word());
                        let (from, within) = loads.source(id, (element / per_word, element % per_word));
                        let load = element / per_word / MATRICES;
                        let (mn, k) = of_tile(rows.at(at(from, load)).ok_or(left_out("rows", load))?);
                        if loads.transposed() { (mn + within, k) } else { (mn, k + within) }
                    }
                };
                let place = self.place(operand, tile, coordinate)?;
                if rows.is_none() && element.is_multiple_of(width) {
                    lane.sees(Purpose::Load, Some(operand), [k_block, element], place.neighbours(width));
                }
                let Content { word, tag: found } = lane.read(place)?;
                if found != tile {
                    return Err(Fault::Stale { thread: id, operand, wanted: tile, found });
                }
                let buffer = self.buffer(operand, tile, k_block);
                self.threads[id as usize].fragments[side][buffer][element as usize] = Held { word, tile, k_block };
            }
        }
        Ok(())
    }

    /// Which of two fragments of an operand a k-block is in: the next one is in the other, as it is in the device's registers. Of B, where a warp has one and lanes here go one after the other, that is so
    /// from tile to tile, too.
    fn buffer(&self, operand: OperandKind, tile: u32, k_block: u32) -> usize {
        let base = &self.program.base;
        let one = operand == OperandKind::B && base.instruction.is_some();
        (if one { tile.wrapping_mul(base.k_blocks()).wrapping_add(k_block) } else { k_block }) as usize % 2
    }

    fn multiply(&mut self, thread: u32, k_block: u32) -> Result<(), Fault> {
        let groups = u64::from(self.program.base.k_blocks());
        let tile = (self.threads[thread as usize].multiplied / groups) as u32;
        let buffers = OperandKind::BOTH.map(|operand| self.buffer(operand, tile, k_block));
        let state = &mut self.threads[thread as usize];
        if state.multiplied % groups != u64::from(k_block) {
            return Err(Fault::OutOfOrder { thread, tile, k_block, found: state.multiplied });
        }
        let [a, b] = &state.fragments;
        let fragments = [&a[buffers[0]], &b[buffers[1]]];
        for operand in OperandKind::BOTH {
            if fragments[operand.index()].iter().any(|held| (held.tile, held.k_block) != (tile, k_block)) {
                return Err(Fault::StaleFragment { thread, operand, tile, k_block });
            }
        }
        state.multiplied += 1;
        if self.holders.is_none() {
            state.accumulators.multiply(fragments[0], fragments[1]);
            return Ok(());
        }
        let [a, b] = OperandKind::BOTH.map(|operand| self.given(thread, operand, buffers[operand.index()]));
        self.threads[thread as usize].accumulators.add_steps(self.arithmetic.as_ref(), &a, &b);
        Ok(())
    }

    /// What an instruction takes of the registers of a thread's warp for the thread's accumulators: for each k of a k-block their rows of A, or columns of B.
    fn given(&self, thread: u32, operand: OperandKind, buffer: usize) -> Vec<Vec<Held>> {
        let (base, side) = (&self.program.base, operand.index());
        let (map, step) = (FragmentMap::of(base.tiles, operand), base.step());
        let warp_mn = base.operand(operand).warp_mn;
        let held = |i: u32, k: u32| {
            let at = map.mn(thread, i) % warp_mn * step + k;
            let (lane, element) = self.holders.as_ref().map_or((0, 0), |holders| holders[side][at as usize]);
            self.threads[(thread / WARP * WARP + lane) as usize].fragments[side][buffer][element as usize]
        };
        (0..step).map(|k| (0..base.operand(operand).thread_mn()).map(|i| held(i, k)).collect()).collect()
    }

    /// The slice of K of a thread, and its number in that.
    fn slice(&self, thread: u32) -> (u32, u32) {
        let threads = self.program.base.tiles.threads_per_slice();
        (thread / threads, thread % threads)
    }

    /// Where a thread's partial accumulator lies.
    fn partials_place(&self, lane: &mut Lane<'_, '_>, index: u32, purpose: Purpose) -> Result<Place, Fault> {
        let row = self.slice(lane.thread).1;
        let left_out = Fault::LeftOut { map: "partials", row, column: index };
        let offset = self.program.maps.partials.at(at(row, index)).ok_or(left_out)?;
        let bytes = self.program.base.accumulator.bytes_of(1);
        let place = Place { byte: u64::from(offset) * u64::from(bytes), bytes };
        lane.sees(purpose, None, [index, 0], place.neighbours(1));
        Ok(place)
    }

    fn store_partials(&mut self, lane: &mut Lane<'_, '_>, slice: u32) -> Result<(), Fault> {
        let all = if self.slice(lane.thread).0 == slice { self.program.base.tiles.accumulators() } else { 0 };
        for index in 0..all {
            let place = self.partials_place(lane, index, Purpose::EpilogueStore)?;
            let word = self.threads[lane.thread as usize].accumulators.word(index);
            lane.write(place, Content { word, tag: PARTIALS | slice })?;
        }
        Ok(())
    }

    fn reduce_partials(&mut self, lane: &mut Lane<'_, '_>, slice: u32) -> Result<(), Fault> {
        if self.slice(lane.thread).0 != 0 {
            return Ok(());
        }
        for index in 0..self.program.base.tiles.accumulators() {
            let place = self.partials_place(lane, index, Purpose::EpilogueLoad)?;
            let Content { word, tag } = lane.read(place)?;
            if tag != PARTIALS | slice {
                return Err(Fault::PartialsNotStored { thread: lane.thread, slice });
            }
            self.threads[lane.thread as usize].accumulators.add(index, word);
        }
        self.threads[lane.thread as usize].reduced += 1;
        Ok(())
    }

    /// Whether every product was made and every slice added.
    fn finished(&self) -> Result<(), Fault> {
        let tiles = &self.program.base.tiles;
        let k_blocks = u64::from(self.program.base.k_blocks());
        let (wanted, slices) = (u64::from(self.started.tiles) * k_blocks, tiles.warps().k);
        for (thread, state) in (0..).zip(&self.threads) {
            if state.multiplied != wanted {
                return Err(Fault::Unfinished { thread, multiplied: state.multiplied, wanted });
            }
            if thread < tiles.threads_per_slice() && state.reduced + 1 != slices {
                return Err(Fault::Unreduced { slices, reduced: state.reduced + 1 });
            }
        }
        Ok(())
    }
}
