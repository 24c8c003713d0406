//! Who moves next.

/// Draws numbers, and leaves some behind on purpose.
///
/// A uniform draw seldom lets a producer run to the end of its ring, or a copy land last. So now and then a set of movers is drawn
/// that move only when nobody else can; and whoever moved may go on for a while.
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

/// The mover that stands for all that is under way but C.
pub(super) const FLIGHTS: u32 = 63;
/// The mover that stands for C on its way, which nobody waits for before a tile's products are done.
pub(super) const SOURCES: u32 = 62;

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
    pub fn below(&mut self, most: u32) -> u32 {
        (((self.draw() >> 32) * u64::from(most)) >> 32) as u32
    }

    /// Begins a move: whether the last mover goes on.
    pub fn stays(&mut self) -> bool {
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

    /// Whether a mover is left behind.
    pub fn is_lazy(&self, mover: u32) -> bool {
        self.lazy >> mover.min(FLIGHTS) & 1 == 1
    }
}
