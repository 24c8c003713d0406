//! Launches of calls that a kernel has checked.

use crate::{operand::Problem, threadblock::Launch};
use std::sync::{Mutex, PoisonError};

/// Number of slots, a power of two.
const SLOTS: usize = 16;

/// Direct-mapped cache of launches. The key is the whole problem in the user's frame, with the
/// addresses of all matrices and of the workspace. A new launch replaces the launch in its slot. A
/// lookup allocates no memory.
pub(super) struct LaunchCache(Box<[KeptLaunch]>);

/// The last problem that came to a slot, and its launch.
type KeptLaunch = Mutex<Option<(Problem, Launch)>>;

impl LaunchCache {
    /// Creates an empty cache.
    pub fn new() -> Self {
        Self((0..SLOTS).map(|_| Mutex::new(None)).collect())
    }

    /// Returns the launch of a problem, if the cache has it.
    pub fn get(&self, problem: &Problem) -> Option<Launch> {
        let known = self.slot(problem).lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|(other, _)| same(other, problem)).map(|(_, launch)| *launch)
    }

    /// Keeps the launch of a problem.
    pub fn keep(&self, problem: &Problem, launch: &Launch) {
        let mut known = self.slot(problem).lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some((*problem, *launch));
    }

    /// Returns the slot of a problem, from its sizes and from the addresses of A, B, and D.
    fn slot(&self, problem: &Problem) -> &KeptLaunch {
        let Problem { m, n, k, a, b, d, .. } = problem;
        let words = [*m as u64, *n as u64, *k as u64];
        let addresses = [a, b, d].map(|view| view.memory.address);
        // A multiplication by 2^64 divided by the golden ratio spreads neighbors.
        let spread =
            |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = words.into_iter().chain(addresses).fold(0, spread);
        &self.0[(hash >> 32) as usize % SLOTS]
    }
}

/// Returns whether two problems have the same launch. Zeros of different signs equal each other.
fn same(one: &Problem, other: &Problem) -> bool {
    one == other && one.scalars.map(f64::to_bits) == other.scalars.map(f64::to_bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{nest::GemmDesc, prelude::*};

    fn desc() -> GemmDesc {
        Gemm::<Bf16, RowMajor, Bf16, ColMajor, f32, RowMajor, f32, TensorOp, Sm90>::DESC
    }

    fn problem(m: usize, address: u64) -> Problem {
        let scalars = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        Problem::new(&desc(), (m, 8, 8), [None; 3], scalars).at([address, 4096])
    }

    fn launch(problem: &Problem) -> Launch {
        desc().plan().unwrap().launch(problem, &desc().geometry(), 1).expect("a launch")
    }

    /// A problem that differs in a size, an address, or the sign of a zero has no launch of
    /// another. The number of launches is bounded.
    #[test]
    fn launches_belong_to_one_problem() {
        let (cache, first) = (LaunchCache::new(), problem(8, 1 << 20));
        assert!(cache.get(&first).is_none());
        cache.keep(&first, &launch(&first));
        let kept = cache.get(&first).expect("a launch");
        assert_eq!(kept.params.0, launch(&first).params.0);
        let mut negative = first;
        negative.scalars[1] = -0.0;
        let mut moved = first;
        moved.d.memory.address += 16;
        for other in [problem(9, 1 << 20), problem(8, 1 << 21), negative, moved] {
            assert!(cache.get(&other).is_none());
        }
        let many: Vec<Problem> = (0..100).map(|i| problem(8 + i, 1 << 20)).collect();
        many.iter().for_each(|problem| cache.keep(problem, &launch(problem)));
        let known = many.iter().filter(|problem| cache.get(problem).is_some()).count();
        assert!((SLOTS / 2..=SLOTS).contains(&known), "{known}");
        for problem in &many {
            let kept = cache.get(problem);
            assert!(kept.is_none_or(|kept| kept.params.0 == launch(problem).params.0));
        }
    }
}
