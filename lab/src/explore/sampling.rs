//! A few of many, drawn from a seed.

use crate::verify::draw;

/// `wanted` of `points`, each at most once, in the order drawn; all of them where there are no
/// more. Of one seed, a smaller sample is the beginning of a larger one: a run that asks for more
/// trials goes on.
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
