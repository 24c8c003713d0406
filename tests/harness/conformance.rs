//! Conformance suite for every executor of descriptions. It draws descriptions that `check` accepts
//! and problems at the edges of their tiles. Integer data are compared with `==`, and random data
//! under an a-priori bound per element.

use super::{
    case::{Tally, judge_one},
    problems, requested_case,
};
use crate::harness::prelude::*;

/// Random suite: its cases, and what they must cover.
#[derive(Clone, Copy)]
pub struct Suite {
    pub wanted: Wanted,
    /// Number of descriptions, and number of problems of each.
    pub cases: (usize, usize),
    /// Maximum number of multiplications of a problem.
    pub most_work: u64,
    pub seed: u64,
    /// Minimum numbers of cases and of distinct descriptions.
    pub least: (usize, usize),
    /// Minimum of the largest ratio of an error to its bound. A bound that no result approaches
    /// finds few faults.
    pub least_error: f64,
    /// Returns what the descriptions do not cover.
    pub missing: fn(&[GemmDesc]) -> Vec<String>,
}

impl Suite {
    /// Runs the suite, and checks what it covers. Panics at the first wrong case with the line that
    /// reproduces it.
    pub fn run(&self, runner: &dyn Runner) -> Tally {
        let (tally, descriptions) = self.results(runner);
        let distinct = descriptions.iter().collect::<HashSet<_>>().len();
        println!("{}: {tally:?}, {distinct} descriptions", runner.name());
        if requested_case().is_none() {
            assert!(tally.cases >= self.least.0 && distinct >= self.least.1, "{tally:?}");
            assert_eq!((self.missing)(&descriptions), Vec::<String>::new());
            let largest = tally.largest;
            assert!(largest > self.least_error && largest <= 1.0, "error over bound: {largest}");
        }
        tally
    }

    /// Runs the suite as [`Suite::run`] does, and checks that integers and random data both decided
    /// elements.
    pub fn run_decisively(&self, runner: &dyn Runner) {
        let Tally { elements, exact, undecided, .. } = self.run(runner);
        let decided = exact > elements / 2 && exact < elements - undecided;
        assert!(
            requested_case().is_some() || decided,
            "{exact} of {elements}, {undecided} undecided"
        );
    }

    fn results(&self, runner: &dyn Runner) -> (Tally, Vec<GemmDesc>) {
        let wanted =
            problems::Wanted { most_work: self.most_work, aligned: runner.needs_alignment() };
        let both = |desc: &GemmDesc, seeds: (u64, u64)| {
            judge_both(runner, desc, &guarded(seeds.1, desc, wanted), seeds)
        };
        if let Some(seeds) = requested_case() {
            let desc = description(seeds.0, self.wanted);
            println!("{desc:#?}\n{:#?}", guarded(seeds.1, &desc, wanted));
            return (both(&desc, seeds), vec![desc]);
        }
        let seeds = (0..self.cases.0).map(|i| draw(self.seed, i as u64));
        let descriptions: Vec<_> =
            seeds.map(|seed| (seed, description(seed, self.wanted))).collect();
        let each = |(seed, desc): &(u64, GemmDesc)| {
            let cases = (0..self.cases.1).map(|i| both(desc, (*seed, draw(*seed, i as u64))));
            cases.fold(Tally::default(), Tally::and)
        };
        let tally = descriptions.par_iter().map(each).reduce(Tally::default, Tally::and);
        (tally, descriptions.into_iter().map(|(_, desc)| desc).collect())
    }
}

/// Runs one case with integers and with random data. Panics if D is wrong.
pub fn judge_both(
    runner: &dyn Runner,
    desc: &GemmDesc,
    guarded: &Guarded,
    seeds: (u64, u64),
) -> Tally {
    let [integers, random] = [Fill::Integers, Fill::Random].map(|fill| {
        judge_one(runner, desc, guarded, fill, seeds).unwrap_or_else(|wrong| panic!("{wrong}"))
    });
    Tally { cases: 1, ..integers.and(random) }
}

/// Defines the tests of a place: each runs one suite on a runner.
#[allow(unused_macros, reason = "two test binaries use it")]
macro_rules! suites {
    ($($(#[$meta:meta])* $name:ident: $run:ident of $runner:expr,
       $wanted:expr, $cases:expr, $most_work:expr, $seed:expr, $least:expr, $least_error:expr,
       $missing:expr;)*) => {
        $(#[test]
        $(#[$meta])*
        fn $name() {
            let suite = $crate::harness::conformance::Suite {
                wanted: $wanted,
                cases: $cases,
                most_work: $most_work,
                seed: $seed,
                least: $least,
                least_error: $least_error,
                missing: $missing,
            };
            suite.$run(&$runner);
        })*
    };
}
#[allow(unused_imports, reason = "two test binaries use it")]
pub(crate) use suites;

/// Returns no missing properties, for suites without requirements on coverage.
pub fn any(_: &[GemmDesc]) -> Vec<String> {
    Vec::new()
}

/// Returns the filter for warp-specialized kernels on tensor cores.
pub fn wgmma_ring() -> Wanted {
    Wanted { kernel_kind: KernelKind::WgmmaRing, ..Wanted::default() }
}

/// Returns the filter for `mma.sync` kernels of one architecture, or of all.
pub fn mma_sync(arch: Option<ArchKind>) -> Wanted {
    Wanted { kernel_kind: KernelKind::MmaSync, arch, ..Wanted::default() }
}

/// Returns the filter for TMA-fed `mma.sync` kernels.
pub fn mma_sync_ring() -> Wanted {
    Wanted { kernel_kind: KernelKind::MmaSyncRing, ..Wanted::default() }
}

/// Returns the filter for TMA-fed SIMT kernels.
pub fn simt_ring() -> Wanted {
    Wanted { kernel_kind: KernelKind::SimtRing, ..Wanted::default() }
}
