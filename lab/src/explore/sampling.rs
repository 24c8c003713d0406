//! Random samples from a seed.

use crate::verify::draw;

/// Returns `wanted` of `points` in random order, each at most once, or all points if there are
/// fewer. A smaller sample of the same seed is the beginning of a larger one, so a run with more
/// trials continues an earlier run.
///
/// Source: Fisher and Yates's shuffle, stopped early (Knuth, The Art of Computer Programming,
/// volume 2, algorithm P).
#[must_use]
pub fn sample(points: &[u64], wanted: usize, seed: u64) -> Vec<u64> {
    let mut left = points.to_vec();
    let count = wanted.min(left.len());
    for at in 0..count {
        let among = (left.len() - at) as u64;
        left.swap(at, at + (draw(seed, at as u64) % among) as usize);
    }
    left.truncate(count);
    left
}
