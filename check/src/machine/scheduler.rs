//! The scheduler of the checked machine, and the position of each warp in its schedule.

use super::sync::Clock;
use falchion::internals::schedule::{Fault, Schedule, Section, Spelled};

/// A set of movers: the warps first, then the asynchronous operations in progress.
pub(super) trait Movers {
    /// Returns the current number of movers.
    fn count(&self) -> u32;
    /// Returns the set of a mover. All movers of a set are delayed together.
    fn set(&self, mover: u32) -> u32;
    /// Lets a mover make one move. Returns whether it could.
    fn moves(&mut self, mover: u32) -> Result<bool, Fault>;
    /// Called when no mover can move. Returns a fault if some have not ended.
    fn stuck(&mut self) -> Result<(), Fault>;
}

/// A seeded scheduler that delays some movers on purpose.
///
/// A uniform choice rarely lets a producer fill its whole ring, or a copy land last. The scheduler
/// therefore selects sets of movers that move only if no other mover can. The last mover may also
/// continue for several moves.
pub(super) struct Scheduler {
    state: u64,
    /// The delayed sets, one bit per set.
    lazy: u64,
    /// Moves until other sets are delayed. It starts at `few` times a power of two.
    left: u32,
    few: u32,
    /// Probability that the last mover continues, in 256ths.
    sticky: u64,
}

/// The set of all asynchronous operations in progress, except copies of C.
pub(super) const FLIGHTS: u32 = 63;
/// The set of copies of C in progress, which no warp waits for before the products of a tile are
/// done.
pub(super) const SOURCES: u32 = 62;

/// Returns the set of a warp. Warps whose numbers differ by a multiple of [`SOURCES`] share a set.
#[inline]
pub(super) fn set_of_warp(warp: u32) -> u32 {
    warp % SOURCES
}

impl Scheduler {
    /// Returns a scheduler for `warps` warps. More warps mean longer delays.
    pub fn new(seed: u64, warps: u32) -> Self {
        Self { state: seed ^ 0x9e37_79b9_7f4a_7c15, lazy: 0, left: 0, few: warps.max(8), sticky: 0 }
    }

    fn draw(&mut self) -> u64 {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `most`, which must not be 0.
    fn below(&mut self, most: u32) -> u32 {
        (((self.draw() >> 32) * u64::from(most)) >> 32) as u32
    }

    /// Begins a move, and returns whether the last mover continues.
    fn stays(&mut self) -> bool {
        if self.left == 0 {
            self.left = self.few << self.below(6);
            self.lazy = match self.below(7) {
                0 => 0,
                1 => 1 << FLIGHTS,
                6 => 1 << SOURCES,
                2 => self.draw() & self.draw(),
                3 => !(1 << self.below(24)),
                4 => 1 << self.below(24),
                _ => self.draw(),
            };
            self.sticky = [0, 128, 250][self.below(3) as usize];
        }
        self.left -= 1;
        self.draw() % 256 < self.sticky
    }

    /// Moves the movers until none can move.
    ///
    /// # Errors
    /// The first fault in the order that follows from the seed.
    pub fn run(&mut self, movers: &mut impl Movers) -> Result<(), Fault> {
        let mut last = 0;
        loop {
            if self.stays() && movers.moves(last)? {
                continue;
            }
            let count = movers.count();
            let first = self.below(count);
            let mut moved = None;
            // Delayed movers move only if no other mover can.
            'all: for lazy in if self.lazy == 0 { 0..1 } else { 0..2 } {
                for mover in (first..count).chain(0..first) {
                    if self.lazy >> movers.set(mover) & 1 == lazy && movers.moves(mover)? {
                        moved = Some(mover);
                        break 'all;
                    }
                }
            }
            match moved {
                Some(mover) => last = mover,
                None => return movers.stuck(),
            }
        }
    }
}

/// The position of a warp in the schedule of its role.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    /// The current list of steps; `None` after the last list.
    section: Option<Section>,
    index: usize,
    /// Completed executions of the body for the current unit of work.
    trips: u32,
    /// Number of the current unit of work.
    pub tile: u32,
    /// Distance from one of the warp's units of work to the next.
    stride: u32,
    /// k-tiles of the current unit that the warp has passed.
    pub k: u32,
    /// Whether another consumer has the sum of the current unit's tile and runs its epilogue.
    pub leaves_sum: bool,
}

impl Cursor {
    /// Returns the position before the opening, for a warp that computes every `stride`-th unit
    /// from `tile` on.
    pub fn new(tile: u32, stride: u32) -> Self {
        Self { section: Some(Section::Opening), tile, stride, ..Self::default() }
    }

    /// Returns the current list of steps.
    pub fn section(&self) -> Option<Section> {
        self.section
    }

    /// Returns the current step of a schedule, for units of `k_tiles` k-tiles each. Skips empty and
    /// completed lists.
    #[inline]
    pub fn step<S: Spelled>(&mut self, schedule: &Schedule<S>, k_tiles: &[u32]) -> Option<S> {
        loop {
            let section = self.section?;
            if let Some(step) = schedule.steps(section).get(self.index) {
                return Some(*step);
            }
            self.index = 0;
            self.section = match section {
                Section::Prologue => self.body(k_tiles),
                Section::Body => {
                    self.trips += 1;
                    self.body(k_tiles)
                }
                Section::Tail if !self.leaves_sum => Some(Section::Epilogue),
                Section::Closing => None,
                Section::Opening | Section::Tail | Section::Epilogue => {
                    if section != Section::Opening {
                        (self.tile, self.k, self.trips, self.leaves_sum) =
                            (self.tile + self.stride, 0, 0, false);
                    }
                    Some(if (self.tile as usize) < k_tiles.len() {
                        Section::Prologue
                    } else {
                        Section::Closing
                    })
                }
            };
        }
    }

    /// Returns whether the warp computes another of `tiles` units.
    pub fn goes_on_in(&self, tiles: usize) -> bool {
        ((self.tile + self.stride) as usize) < tiles
    }

    fn body(&self, k_tiles: &[u32]) -> Option<Section> {
        Some(if k_tiles.get(self.tile as usize).is_some_and(|&count| self.trips < count) {
            Section::Body
        } else {
            Section::Tail
        })
    }

    /// Advances past a performed step.
    pub fn performed(&mut self) {
        self.index += 1;
    }
}

/// The progress of a warp.
#[derive(Default)]
pub(super) struct Progress {
    pub cursor: Cursor,
    pub clock: Clock,
    /// Number of the meeting that the warp waits for.
    pub waits: Option<u64>,
}
