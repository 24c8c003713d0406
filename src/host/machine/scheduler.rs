//! Who moves next, and where each warp is in its schedule.

use super::sync::Clock;
use crate::schedule::{Fault, Schedule, Section, Spelled};

/// What moves: warps first, then what is under way beside them.
pub(super) trait Movers {
    /// How many there are now.
    fn count(&self) -> u32;
    /// Which of the sets that are left behind together a mover is of.
    fn set(&self, mover: u32) -> u32;
    /// One mover moves, if it can.
    fn moves(&mut self, mover: u32) -> Result<bool, Fault>;
    /// Nobody can move: either all have ended, or they wait for each other.
    fn stuck(&mut self) -> Result<(), Fault>;
}

/// Draws numbers, and leaves some behind on purpose.
///
/// A uniform draw seldom lets a producer run to the end of its ring, or a copy land last. So now
/// and then a set of movers is drawn that move only when nobody else can; and whoever moved may go
/// on for a while.
pub(super) struct Scheduler {
    state: u64,
    /// Movers left behind, a bit each.
    lazy: u64,
    /// Moves until others are left behind, and of how many that is a power of two times.
    left: u32,
    few: u32,
    /// Whether the last mover goes on, in 256ths.
    sticky: u64,
}

/// The set of all that is under way but C.
pub(super) const FLIGHTS: u32 = 63;
/// The set of C on its way, which nobody waits for before a tile's products are done.
pub(super) const SOURCES: u32 = 62;

/// The set of a warp: one of its own, but for warps so many apart.
#[inline]
pub(super) fn set_of_warp(warp: u32) -> u32 {
    warp % SOURCES
}

impl Scheduler {
    /// Of so many warps: the more there are, the longer some of them are left behind.
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

    /// A number below `most`, which is not 0.
    fn below(&mut self, most: u32) -> u32 {
        (((self.draw() >> 32) * u64::from(most)) >> 32) as u32
    }

    /// Begins a move: whether the last mover goes on.
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

    /// Moves them until nobody can move.
    ///
    /// # Errors
    /// The first fault of the order that is drawn.
    pub fn run(&mut self, movers: &mut impl Movers) -> Result<(), Fault> {
        let mut last = 0;
        loop {
            if self.stays() && movers.moves(last)? {
                continue;
            }
            let count = movers.count();
            let first = self.below(count);
            let mut moved = None;
            // The lazy ones move when nobody else can.
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

/// The place of a warp in the schedule of its role.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    /// Which list of steps; `None` behind the last.
    section: Option<Section>,
    index: usize,
    /// Times that the body has been performed for the current tile of D.
    trips: u32,
    /// Which tile of D.
    pub tile: u32,
    /// From one of its tiles of D to the next.
    stride: u32,
    /// K-tiles of the current unit that are behind.
    pub k: u32,
    /// Whether another has the sum of the current unit's tile, and goes on to its epilogue.
    pub leaves_sum: bool,
}

impl Cursor {
    /// Before the opening, of who computes every `stride`-th tile of D from `tile` on.
    pub fn new(tile: u32, stride: u32) -> Self {
        Self { section: Some(Section::Opening), tile, stride, ..Self::default() }
    }

    /// The list of steps in which it is.
    pub fn section(&self) -> Option<Section> {
        self.section
    }

    /// The step of a schedule over units of so many k-tiles; empty lists and lists that are over
    /// are passed by.
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

    /// Whether it computes another of so many tiles of D.
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

    /// The step is performed.
    pub fn performed(&mut self) {
        self.index += 1;
    }
}

/// How far a warp has come.
#[derive(Default)]
pub(super) struct Progress {
    pub cursor: Cursor,
    pub clock: Clock,
    /// The meeting that it waits for.
    pub waits: Option<u64>,
}
