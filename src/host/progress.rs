//! How far work has come: what a terminal shows of a product that takes long.

use core::sync::atomic::{AtomicU64, Ordering};

/// Steps of all work of one kind in this process: those that are known, and those that are done.
#[derive(Debug, Default)]
pub struct Gauge {
    all: AtomicU64,
    done: AtomicU64,
}

/// Blocks of the host executor, over so many k-tiles as are packed at once.
pub static BLOCKS: Gauge = Gauge::new();

impl Gauge {
    /// Nothing to do yet.
    pub const fn new() -> Self {
        Self { all: AtomicU64::new(0), done: AtomicU64::new(0) }
    }

    /// So many more steps are to be done.
    pub fn expect(&self, steps: u64) {
        self.all.fetch_add(steps, Ordering::Relaxed);
    }

    /// One more is done.
    pub fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// The steps that are done, and all that are known.
    pub fn now(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed))
    }
}
