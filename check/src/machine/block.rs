//! A CTA whose warps all follow one schedule: of a GEMM on CUDA cores or `mma.sync`, or of a
//! transpose.

use super::{
    memory::{By, Conflict, SharedMemory},
    observer::{Access, Observer, Purpose, Touched},
    scheduler::{Cursor, Movers, Progress, Scheduler, set_of_warp},
    sync::{Clock, Meeting, Moved},
};
use falchion::{
    arch::WARP,
    internals::{
        schedule::{Fault, Schedule, Step},
        shape::OperandKind,
    },
};

/// The content of a cell: a number or the name of a matrix element, and a tag that identifies it.
#[derive(Clone, Copy, Default)]
pub(super) struct Content {
    pub word: u64,
    pub tag: u32,
}

/// The bytes of shared memory that hold one element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub byte: u64,
    pub bytes: u32,
}

impl Place {
    /// Returns the access to `elements` contiguous elements from this one on.
    pub fn neighbours(self, elements: u32) -> Touched {
        Touched::Shared { byte: self.byte, bytes: self.bytes * elements }
    }
}

/// The effect of each step except barriers on a thread.
pub(super) trait LaneSteps {
    /// Performs a step for one thread.
    fn perform(&mut self, lane: &mut Lane<'_, '_>, step: Step) -> Result<(), Fault>;
}

/// The size and the schedule of a CTA.
pub(super) struct BlockShape<'s> {
    pub schedule: &'s Schedule,
    /// k-tiles of each unit of work: how often the body of the schedule runs.
    pub k_tiles: &'s [u32],
    pub threads: u32,
    /// Bytes of shared memory, and the bytes of a cell, which is the smallest access: a power of
    /// two.
    pub bytes: u32,
    pub granule: u32,
}

/// A CTA while it runs.
struct OneRole<'a, 'o> {
    shape: BlockShape<'a>,
    steps: &'a mut dyn LaneSteps,
    warps: Vec<Progress>,
    /// Steps of each warp since its last barrier.
    numbers: Vec<u32>,
    meeting: Meeting,
    memory: SharedMemory<Content>,
    observer: Option<&'a mut (dyn Observer + 'o)>,
    /// State of the generator of lane orders.
    seed: u64,
}

/// Runs a CTA. The order of warps, and of lanes within each step, follows from `seed`.
pub(super) fn run<'a>(
    shape: BlockShape<'a>,
    steps: &'a mut dyn LaneSteps,
    seed: u64,
    observer: Option<&'a mut (dyn Observer + '_)>,
) -> Result<(), Fault> {
    let warps = shape.threads.div_ceil(WARP);
    let agents = warps as usize;
    let progress =
        |own| Progress { cursor: Cursor::new(0, 1), clock: Clock::new(own, agents), waits: None };
    let mut block = OneRole {
        memory: SharedMemory::new((shape.bytes / shape.granule) as usize, agents),
        shape,
        steps,
        warps: (0..agents).map(progress).collect(),
        numbers: vec![0; agents],
        meeting: Meeting::new(warps, agents),
        observer,
        seed,
    };
    Scheduler::new(seed, warps).run(&mut block)
}

impl Movers for OneRole<'_, '_> {
    fn count(&self) -> u32 {
        self.warps.len() as u32
    }

    fn set(&self, mover: u32) -> u32 {
        set_of_warp(mover)
    }

    fn moves(&mut self, mover: u32) -> Result<bool, Fault> {
        let warp = mover as usize;
        let Progress { cursor, clock, waits } = &mut self.warps[warp];
        let Some(step) = cursor.step(self.shape.schedule, self.shape.k_tiles) else {
            return Ok(false);
        };
        if step == Step::Barrier {
            let last = waits.is_none();
            let moved = self.meeting.pass(waits, clock);
            if moved == Moved::Done {
                cursor.performed();
                self.numbers[warp] = 0;
                if let (true, Some(observer)) = (last, &mut self.observer) {
                    observer.barrier();
                }
            }
            return Ok(moved != Moved::Blocked);
        }
        let unit = cursor.tile;
        // An odd factor permutes the lanes of a warp.
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (factor, first) = ((self.seed >> 33) as u32 | 1, (self.seed >> 59) as u32);
        let granule_log2 = self.shape.granule.trailing_zeros();
        for i in 0..WARP {
            let lane = i.wrapping_mul(factor).wrapping_add(first) % WARP;
            let thread = mover * WARP + lane;
            if thread < self.shape.threads {
                let number = self.numbers[warp];
                let (memory, observer) = (&mut self.memory, self.observer.as_deref_mut());
                self.steps.perform(
                    &mut Lane { thread, unit, number, clock, memory, granule_log2, observer },
                    step,
                )?;
            }
        }
        self.numbers[warp] += 1;
        cursor.performed();
        Ok(true)
    }

    /// Accepts the end of all warps: warps that follow one schedule pass the same barriers and
    /// cannot deadlock.
    fn stuck(&mut self) -> Result<(), Fault> {
        if let Some(observer) = &mut self.observer {
            observer.barrier();
        }
        Ok(())
    }
}

/// A thread that performs a step.
pub(super) struct Lane<'b, 'o> {
    pub thread: u32,
    /// Number of its unit of work.
    pub unit: u32,
    /// Number of the step since the last barrier.
    number: u32,
    clock: &'b Clock,
    memory: &'b mut SharedMemory<Content>,
    granule_log2: u32,
    observer: Option<&'b mut (dyn Observer + 'o)>,
}

impl Lane<'_, '_> {
    /// Reports an access to the observer.
    pub fn sees(
        &mut self,
        purpose: Purpose,
        operand: Option<OperandKind>,
        which: [u32; 2],
        touched: Touched,
    ) {
        if let Some(observer) = &mut self.observer {
            let which = [self.number, which[0], which[1]];
            observer.saw(&Access { thread: self.thread, purpose, operand, which, touched });
        }
    }

    /// Applies an operation to each cell of a place. The place must be in bounds.
    fn each(
        &mut self,
        place: Place,
        mut what: impl FnMut(&mut SharedMemory<Content>, usize, &Clock, u32) -> Result<(), Conflict>,
    ) -> Result<(), Fault> {
        let first = (place.byte >> self.granule_log2) as usize;
        let cells = first..first + (place.bytes >> self.granule_log2) as usize;
        if cells.end > self.memory.len() {
            let size = (self.memory.len() as u64) << self.granule_log2;
            return Err(Fault::OutOfBounds { thread: self.thread, byte: place.byte, size });
        }
        for cell in cells {
            let done = what(self.memory, cell, self.clock, self.thread % WARP);
            done.map_err(|conflict| fault(self.thread, place, conflict))?;
        }
        Ok(())
    }

    pub fn write(&mut self, place: Place, content: Content) -> Result<(), Fault> {
        self.each(place, |memory, cell, clock, lane| memory.write(cell, clock, lane, content))
    }

    /// Issues an asynchronous copy. It lands when its thread has waited for it.
    pub fn send(&mut self, place: Place, content: Content) -> Result<(), Fault> {
        self.each(place, |memory, cell, clock, lane| memory.send(cell, clock, lane, content))
    }

    pub fn land(&mut self, place: Place) -> Result<(), Fault> {
        self.each(place, |memory, cell, clock, lane| {
            memory.land(cell, By { agent: clock.own as u32, lane }, clock.epoch());
            Ok(())
        })
    }

    pub fn read(&mut self, place: Place) -> Result<Content, Fault> {
        let mut content = Content::default();
        self.each(place, |memory, cell, clock, lane| {
            content = *memory.read(cell, clock, lane)?;
            Ok(())
        })?;
        Ok(content)
    }
}

/// Returns the fault for a conflict of a thread at a place.
fn fault(thread: u32, Place { byte, .. }: Place, conflict: Conflict) -> Fault {
    let number = |by: By| by.agent * WARP + by.lane;
    match conflict {
        Conflict::Uninitialized => Fault::Uninitialized { thread, byte },
        Conflict::Unlanded(by) => Fault::Unlanded { thread, byte, by: number(by) },
        Conflict::Unordered(by) => Fault::ReadOfUnordered { thread, byte, by: number(by) },
        Conflict::OverRead(by) => {
            Fault::WriteOverRead { thread, byte, by: by.map_or(u32::MAX, number) }
        }
        Conflict::OverWrite(by) => Fault::WriteOverWrite { thread, byte, by: number(by) },
    }
}
