//! What is timed, and the clock that times it.

use crate::{
    Error,
    sys::timing::{Recording, Stopwatch},
};
use cudarc::driver::CudaStream;
use std::{sync::Arc, time::Instant};

/// One contender: it can be launched on any of its buffer sets.
pub trait Launch {
    /// Enqueues one product on buffers `set` and returns without waiting. It allocates nothing and
    /// synchronizes nothing.
    ///
    /// # Errors
    /// Whatever stopped it.
    fn launch(&mut self, set: usize) -> Result<(), Error>;

    /// What to call it in a report.
    fn name(&self) -> &str;

    /// How many calls the host enqueues one by one for it, or products that it tells of: what is
    /// short for each is replayed from a graph.
    fn calls(&self) -> usize {
        1
    }
}

/// Launches back to back, one buffer set after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The set of the first launch.
    pub first_set: usize,
    /// How many launches.
    pub launches: usize,
    /// How many sets there are.
    pub sets: usize,
}

impl Stretch {
    /// Launches all of it.
    ///
    /// # Errors
    /// The first error of `candidate`.
    pub fn launch(self, candidate: &mut dyn Launch) -> Result<(), Error> {
        (0..self.launches).try_for_each(|i| candidate.launch((self.first_set + i) % self.sets))
    }
}

/// A clock for launches. [`EventTimer`] is the one on a device; tests have their own.
pub trait Timer {
    /// Device time of all of `stretch`, in microseconds.
    ///
    /// # Errors
    /// The candidate's or the clock's.
    fn looped(&mut self, candidate: &mut dyn Launch, stretch: Stretch) -> Result<f64, Error>;

    /// Records `stretch` as `slot`, in place of what `slot` held; `false` when it cannot be
    /// recorded.
    ///
    /// # Errors
    /// The clock's, when it cannot go on.
    fn capture(
        &mut self,
        slot: usize,
        candidate: &mut dyn Launch,
        stretch: Stretch,
    ) -> Result<bool, Error>;

    /// Device time of `replays` times what `slot` holds, in microseconds.
    ///
    /// # Errors
    /// The errors of the timer; [`Error::Measurement`] if the slot is empty.
    fn replayed(&mut self, slot: usize, replays: usize) -> Result<f64, Error>;

    /// Seconds since some moment: what a budget is counted in.
    fn seconds(&mut self) -> f64;
}

/// CUDA events on one stream, and graphs for what is too short to be launched one by one.
pub struct EventTimer {
    stopwatch: Stopwatch,
    slots: Vec<Option<Recording>>,
    began: Instant,
}

impl EventTimer {
    /// A timer of the work on `stream`. Graphs need a stream other than the default one.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn new(stream: &Arc<CudaStream>) -> Result<Self, Error> {
        Ok(Self { stopwatch: Stopwatch::new(stream)?, slots: Vec::new(), began: Instant::now() })
    }
}

impl Timer for EventTimer {
    fn looped(&mut self, candidate: &mut dyn Launch, stretch: Stretch) -> Result<f64, Error> {
        self.stopwatch.time(|| stretch.launch(candidate))
    }

    fn capture(
        &mut self,
        slot: usize,
        candidate: &mut dyn Launch,
        stretch: Stretch,
    ) -> Result<bool, Error> {
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || None);
        }
        self.slots[slot] = None;
        self.slots[slot] =
            Recording::capture(self.stopwatch.stream(), || stretch.launch(candidate))?;
        Ok(self.slots[slot].is_some())
    }

    fn replayed(&mut self, slot: usize, replays: usize) -> Result<f64, Error> {
        let Some(Some(recording)) = self.slots.get(slot) else {
            return Err(Error::Measurement { because: format!("slot {slot} holds no recording") });
        };
        self.stopwatch.time(|| (0..replays).try_for_each(|_| recording.replay()))
    }

    fn seconds(&mut self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}
