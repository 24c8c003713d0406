//! Conformance suite for every executor of descriptions. It draws descriptions that `check` accepts
//! and problems at the edges of their tiles. Integer data are compared with `==`, and random data
//! under an a-priori bound per element.

use super::{
    asked_for,
    case::{Tally, judge_one},
    descriptions, problems,
};
use crate::harness::prelude::*;
use rayon::prelude::*;

/// Size of a suite.
#[derive(Clone, Copy)]
pub struct Cases {
    pub descriptions: usize,
    pub problems_each: usize,
    /// Maximum number of multiplications of a problem.
    pub most_work: u64,
    pub wanted: descriptions::Wanted,
}

/// Runs random `cases` from `seed`. Panics at the first wrong case with the line that reproduces
/// it.
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

/// Returns the filter for warp-specialized kernels on tensor cores.
pub fn warp_specialized_only() -> descriptions::Wanted {
    descriptions::Wanted {
        family: descriptions::Family::WarpSpecialized,
        ..descriptions::Wanted::default()
    }
}

/// Returns the filter for `mma.sync` kernels of one architecture, or of all.
pub fn mma_sync(arch: Option<falchion::arch::ArchKind>) -> descriptions::Wanted {
    descriptions::Wanted {
        family: descriptions::Family::MmaSync,
        arch,
        ..descriptions::Wanted::default()
    }
}

/// Returns the filter for TMA-fed SIMT kernels.
pub fn by_threads() -> descriptions::Wanted {
    descriptions::Wanted {
        family: descriptions::Family::Threads,
        ..descriptions::Wanted::default()
    }
}
