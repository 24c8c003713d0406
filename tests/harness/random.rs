//! Numbers from a seed.

use falchion_lab::verify::draw;

/// A sequence of numbers from a seed.
#[derive(Clone, Copy, Debug)]
pub struct Random {
    seed: u64,
    index: u64,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        // Neighbouring seeds are to have nothing in common.
        Self { seed: draw(seed, 0x5eed), index: 0 }
    }

    pub fn next(&mut self) -> u64 {
        self.index += 1;
        draw(self.seed, self.index)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}
