//! Progress of long computations, for display in a terminal.

use core::sync::atomic::{AtomicU64, Ordering};

/// Counts the known steps and the finished steps of all work of one kind in this process.
#[derive(Debug, Default)]
pub struct Gauge {
    all: AtomicU64,
    done: AtomicU64,
}

/// Progress of the host executor. One step is one packing step of one CTA.
pub static BLOCKS: Gauge = Gauge::new();

impl Gauge {
    /// Returns a gauge without steps.
    pub const fn new() -> Self {
        Self { all: AtomicU64::new(0), done: AtomicU64::new(0) }
    }

    /// Adds `steps` to the known steps.
    pub fn expect(&self, steps: u64) {
        self.all.fetch_add(steps, Ordering::Relaxed);
    }

    /// Counts one step as finished.
    pub fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the finished steps and the known steps.
    pub fn now(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed))
    }
}
