//! Random numbers from a seed.

use falchion_lab::verify::draw;

/// Sequence of random numbers from a seed.
#[derive(Clone, Copy, Debug)]
pub struct Random {
    seed: u64,
    index: u64,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        // Neighboring seeds must give unrelated sequences.
        Self { seed: draw(seed, 0x5eed), index: 0 }
    }

    pub fn next(&mut self) -> u64 {
        self.index += 1;
        draw(self.seed, self.index)
    }

    /// Returns a number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// Returns one of several values.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Returns true with probability 1/`n`.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}
