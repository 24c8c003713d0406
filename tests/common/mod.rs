//! What the test suites share: descriptions and problems drawn from a seed, and buffers with guard zones around them.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod case;
pub mod descriptions;
#[cfg(feature = "cuda")]
pub mod on_cuda;
pub mod problems;
pub mod transposes;

use falchion::verify::draw;

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

/// Asks for the seed of one case: `FALCHION_CASE=<description>:<problem>`, as a failure prints it.
pub fn asked_for() -> Option<(u64, u64)> {
    let text = std::env::var("FALCHION_CASE").ok()?;
    let (description, problem) = text.split_once(':').expect("FALCHION_CASE is <description>:<problem>");
    let number = |text: &str| text.parse().expect("FALCHION_CASE holds two numbers");
    Some((number(description), number(problem)))
}

/// The line that reproduces one case.
pub fn reproduce(binary: &str, (description, problem): (u64, u64)) -> String {
    format!("FALCHION_CASE={description}:{problem} cargo test --test {binary}")
}
