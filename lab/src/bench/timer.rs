//! Contenders, and the clock that times them.

use crate::{
    Error,
    sys::timing::{Recording, Stopwatch},
};
use cudarc::driver::CudaStream;
use std::{sync::Arc, time::Instant};

/// A contender, which can be launched on any of its buffer sets.
pub trait Launch {
    /// Enqueues one launch on buffers `set` and returns without waiting. It allocates nothing and
    /// synchronizes nothing.
    ///
    /// # Errors
    /// The error of the launch.
    fn launch(&mut self, set: usize) -> Result<(), Error>;

    /// Returns the name in a report.
    fn name(&self) -> &str;

    /// Returns the number of calls that the host enqueues per launch, or the number of GEMMs of a
    /// pointer array. Short calls are replayed from a graph.
    fn calls(&self) -> usize {
        1
    }
}

/// Back-to-back launches that rotate over buffer sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Set of the first launch.
    pub first_set: usize,
    /// Number of launches.
    pub launches: usize,
    /// Number of sets.
    pub sets: usize,
}

impl Stretch {
    /// Runs all launches.
    ///
    /// # Errors
    /// The first error of `candidate`.
    pub fn launch(self, candidate: &mut dyn Launch) -> Result<(), Error> {
        (0..self.launches).try_for_each(|i| candidate.launch((self.first_set + i) % self.sets))
    }
}

/// A clock for launches. [`EventTimer`] is the clock of a device, and tests have their own.
pub trait Timer {
    /// Returns the device time of `stretch`, in microseconds.
    ///
    /// # Errors
    /// The errors of the candidate and of the clock.
    fn looped(&mut self, candidate: &mut dyn Launch, stretch: Stretch) -> Result<f64, Error>;

    /// Records `stretch` in `slot`, and replaces its content. Returns `false` if `stretch` cannot
    /// be recorded.
    ///
    /// # Errors
    /// The errors of the clock that prevent further measurements.
    fn capture(
        &mut self,
        slot: usize,
        candidate: &mut dyn Launch,
        stretch: Stretch,
    ) -> Result<bool, Error>;

    /// Returns the device time of `replays` replays of `slot`, in microseconds.
    ///
    /// # Errors
    /// The errors of the timer; [`Error::Measurement`] if the slot is empty.
    fn replayed(&mut self, slot: usize, replays: usize) -> Result<f64, Error>;

    /// Returns seconds since an arbitrary origin, for time limits.
    fn seconds(&mut self) -> f64;
}

/// CUDA events on one stream, and graphs for launches that are too short to be enqueued one by one.
pub struct EventTimer {
    stopwatch: Stopwatch,
    slots: Vec<Option<Recording>>,
    began: Instant,
}

impl EventTimer {
    /// Returns a timer of the work on `stream`. Graphs need a stream other than the default one.
    ///
    /// # Errors
    /// The errors of the driver.
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
