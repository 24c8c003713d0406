//! The choices that a prepared kernel remembers: a program has few problems, and each of them often.

use crate::family::ProblemSize;
use std::sync::Mutex;

/// The number of a configuration, and into how many parts it cuts K, where those are others than it has.
pub(super) type Choice = (usize, Option<u32>);

/// Places for problems, each of which has one of them by its size: the last one that had it is remembered.
const PLACES: usize = 64;

/// What was chosen for problems.
pub(super) struct Chosen([Mutex<Option<(ProblemSize, Choice)>>; PLACES]);

impl Chosen {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self([const { Mutex::new(None) }; PLACES])
    }

    /// The choice for a problem, made by `choose` where it is not remembered. Where another thread looks at its place, nobody waits.
    pub fn of(&self, size: &ProblemSize, choose: impl FnOnce() -> Choice) -> Choice {
        let Ok(mut place) = self.0[place_of(size)].try_lock() else { return choose() };
        match &*place {
            Some((known, choice)) if known == size => *choice,
            _ => place.insert((*size, choose())).1,
        }
    }
}

/// The place of a problem.
fn place_of(size: &ProblemSize) -> usize {
    let (m, n, k) = size.extents;
    let mixed = [m, n, k, size.batch]
        .iter()
        .fold(0u64, |mixed, &x| (mixed ^ x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
    (mixed % PLACES as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_problem_is_chosen_for_once_while_it_has_its_place() {
        let (chosen, sizes) = (Chosen::new(), [64, 65, 128, 4096].map(|m| ProblemSize::of((m, 256, 1024))));
        for (number, size) in sizes.iter().enumerate() {
            assert_eq!(chosen.of(size, || (number, Some(2))), (number, Some(2)));
        }
        let places: std::collections::HashSet<_> = sizes.iter().map(place_of).collect();
        assert_eq!(places.len(), 4);
        for (number, size) in sizes.iter().enumerate() {
            assert_eq!(chosen.of(size, || unreachable!("it is known")), (number, Some(2)));
            // Another workspace is another problem in the same place.
            let other = ProblemSize { workspace: 7, ..*size };
            assert_eq!((place_of(&other), chosen.of(&other, || (9, None))), (place_of(size), (9, None)));
            assert_eq!(chosen.of(size, || (number, None)), (number, None));
        }
    }

    #[test]
    fn nobody_waits() {
        let (chosen, size) = (Chosen::new(), ProblemSize::of((8, 8, 8)));
        let held = chosen.0[place_of(&size)].lock().unwrap();
        assert_eq!(chosen.of(&size, || (3, None)), (3, None));
        drop(held);
        assert_eq!(chosen.of(&size, || (4, None)), (4, None));
    }
}
