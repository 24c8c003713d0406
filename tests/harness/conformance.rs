//! One suite for everything that runs a description: cases drawn from all that `check` accepts, at
//! the edges of each description's own tiles, whole numbers compared with `==` and then random ones
//! under the a-priori bound.

use super::{
    asked_for,
    case::{Runner, Tally, judge_one},
    descriptions,
    problems::{self, guarded},
};
use falchion::desc::GemmDesc;
use falchion_lab::verify::{Fill, draw};
use rayon::prelude::*;

/// How many cases of how many descriptions.
#[derive(Clone, Copy)]
pub struct Cases {
    pub descriptions: usize,
    pub problems_each: usize,
    /// Products of a problem at most.
    pub most_work: u64,
    pub wanted: descriptions::Wanted,
}

/// Runs `cases`, drawn from `seed`, and panics at the first that is wrong, with the line that
/// reproduces it.
pub fn conforms(runner: &dyn Runner, cases: Cases, seed: u64) -> (Tally, Vec<GemmDesc>) {
    let wanted = problems::Wanted { most_work: cases.most_work, aligned: runner.needs_alignment() };
    let both = |desc: &GemmDesc, seeds: (u64, u64)| {
        let guarded = guarded(seeds.1, desc, wanted);
        let [integers, random] = [Fill::Integers, Fill::Random].map(|fill| {
            judge_one(runner, desc, &guarded, fill, seeds).unwrap_or_else(|wrong| panic!("{wrong}"))
        });
        Tally { cases: 1, ..integers.and(random) }
    };
    if let Some(seeds) = asked_for() {
        let desc = descriptions::description(seeds.0, cases.wanted);
        println!("{desc:#?}\n{:#?}", guarded(seeds.1, &desc, wanted));
        return (both(&desc, seeds), vec![desc]);
    }
    let descriptions: Vec<(u64, GemmDesc)> = (0..cases.descriptions)
        .map(|i| draw(seed, i as u64))
        .map(|seed| (seed, descriptions::description(seed, cases.wanted)))
        .collect();
    let tally = descriptions
        .par_iter()
        .map(|(seed, desc)| {
            (0..cases.problems_each)
                .map(|i| both(desc, (*seed, draw(*seed, i as u64))))
                .fold(Tally::default(), Tally::and)
        })
        .reduce(Tally::default, Tally::and);
    (tally, descriptions.into_iter().map(|(_, desc)| desc).collect())
}

pub fn distinct(descriptions: &[GemmDesc]) -> usize {
    descriptions.iter().collect::<std::collections::HashSet<_>>().len()
}

/// Warp-specialized kernels.
pub fn warp_specialized_only() -> descriptions::Wanted {
    descriptions::Wanted {
        family: descriptions::Family::WarpSpecialized,
        ..descriptions::Wanted::default()
    }
}

/// Kernels whose warps multiply by `mma.sync`, of one architecture or of any.
pub fn mma_sync(arch: Option<falchion::arch::ArchKind>) -> descriptions::Wanted {
    descriptions::Wanted {
        family: descriptions::Family::MmaSync,
        arch,
        ..descriptions::Wanted::default()
    }
}

/// Kernels whose threads multiply what TMA brings.
pub fn by_threads() -> descriptions::Wanted {
    descriptions::Wanted {
        family: descriptions::Family::Threads,
        ..descriptions::Wanted::default()
    }
}
