//! One suite for everything that runs a description: cases drawn from all that `check` accepts, at the edges of each
//! description's own tiles, whole numbers compared with `==` and then random ones under the bound of `falchion_lab::verify`.

mod common;

use common::{
    asked_for,
    case::{Runner, Tally, judge_one},
    descriptions::{self, coverage::Coverage},
    problems::{self, problem},
};
use falchion::{
    Error, Refusal,
    desc::GemmDesc,
    device::{HostMatrices, Shapes, Source, host::Mode, run_on_host},
};
use falchion_lab::verify::{Fill, draw};
use rayon::prelude::*;

/// How many cases of how many descriptions.
#[derive(Clone, Copy)]
struct Cases {
    descriptions: usize,
    problems_each: usize,
    /// Products of a problem at most.
    most_work: u64,
    wanted: descriptions::Wanted,
}

/// Runs `cases`, drawn from `seed`, and panics at the first that is wrong, with the line that reproduces it.
fn conforms(runner: &dyn Runner, cases: Cases, seed: u64) -> (Tally, Vec<GemmDesc>) {
    let wanted = problems::Wanted { most_work: cases.most_work, aligned: runner.needs_alignment() };
    let both = |desc: &GemmDesc, seeds: (u64, u64)| {
        let problem = problem(seeds.1, desc, wanted);
        let [integers, random] = [Fill::Integers, Fill::Random]
            .map(|fill| judge_one(runner, desc, &problem, fill, seeds).unwrap_or_else(|wrong| panic!("{wrong}")));
        Tally { cases: 1, ..integers.and(random) }
    };
    if let Some(seeds) = asked_for() {
        let desc = descriptions::description(seeds.0, cases.wanted);
        println!("{desc:#?}\n{:#?}", problem(seeds.1, &desc, wanted));
        return (both(&desc, seeds), vec![desc]);
    }
    let drawn: Vec<(u64, GemmDesc)> = (0..cases.descriptions)
        .map(|i| draw(seed, i as u64))
        .map(|seed| (seed, descriptions::description(seed, cases.wanted)))
        .collect();
    let tally = drawn
        .par_iter()
        .map(|(seed, desc)| {
            (0..cases.problems_each).map(|i| both(desc, (*seed, draw(*seed, i as u64)))).fold(Tally::default(), Tally::and)
        })
        .reduce(Tally::default, Tally::and);
    (tally, drawn.into_iter().map(|(_, desc)| desc).collect())
}

/// The host executor.
struct OnHost(Mode);

impl Runner for OnHost {
    fn name(&self) -> &'static str {
        if self.0 == Mode::Fast { "the host, fast" } else { "the host, checked" }
    }

    fn needs_alignment(&self) -> bool {
        false
    }

    fn run(&self, desc: &GemmDesc, shapes: &Shapes, whole: HostMatrices<'_>, first: [usize; 4]) -> Result<(), Error> {
        // Cut to the matrices, so that an access beyond them is one beyond the slice.
        let short = |operand| Refusal::MissingOperand { name: operand };
        let HostMatrices { a, b, c, d } = whole;
        let matrices = HostMatrices {
            a: a.get(first[0]..first[0] + shapes.a.length).ok_or(short("A"))?,
            b: b.get(first[1]..first[1] + shapes.b.length).ok_or(short("B"))?,
            c: match (c, shapes.c) {
                (Source::Matrix(c), Source::Matrix(shape)) => {
                    Source::Matrix(c.get(first[2]..first[2] + shape.length).ok_or(short("C"))?)
                }
                (Source::InPlace, _) => Source::InPlace,
                _ => Source::None,
            },
            d: d.get(first[3]..first[3] + shapes.d.length).ok_or(short("D"))?,
        };
        run_on_host(desc, self.0, shapes, matrices)
    }
}

fn distinct(descriptions: &[GemmDesc]) -> usize {
    descriptions.iter().collect::<std::collections::HashSet<_>>().len()
}

#[test]
fn the_fast_host_conforms() {
    let cases = Cases { descriptions: 360, problems_each: 15, most_work: 3_000_000, wanted: descriptions::Wanted::default() };
    let (tally, drawn) = conforms(&OnHost(Mode::Fast), cases, 0x0fa1_c410);
    println!("{tally:?}, {} descriptions", distinct(&drawn));
    if asked_for().is_none() {
        assert!(tally.cases >= 5000 && distinct(&drawn) >= 300);
        assert_eq!(Coverage::of(&drawn).missing(), Vec::<String>::new());
        // Something was decided in either lane, and a bound that is never nearly reached is not one to trust.
        assert!(tally.exact > tally.elements / 2 && tally.exact < tally.elements - tally.undecided);
        assert!(tally.largest > 0.05 && tally.largest <= 1.0, "the largest error is {} of its bound", tally.largest);
    }
}

/// Kernels whose warpgroups have roles.
fn with_roles() -> descriptions::Wanted {
    descriptions::Wanted { family: descriptions::Family::WarpSpecialized, ..descriptions::Wanted::default() }
}

#[test]
fn the_fast_host_conforms_where_warpgroups_have_roles() {
    let cases = Cases { descriptions: 200, problems_each: 6, most_work: 24_000_000, wanted: with_roles() };
    let (tally, drawn) = conforms(&OnHost(Mode::Fast), cases, 0x0fa1_c490);
    println!("{tally:?}, {} descriptions", distinct(&drawn));
    if asked_for().is_none() {
        assert!(tally.cases >= 900 && distinct(&drawn) >= 150);
        assert_eq!(Coverage::missing_roles(&drawn), Vec::<String>::new());
        assert!(tally.exact > tally.elements / 2 && tally.exact < tally.elements - tally.undecided);
        assert!(tally.largest > 0.02 && tally.largest <= 1.0, "the largest error is {} of its bound", tally.largest);
    }
}

/// Kernels whose threads multiply what the copy engine brings.
fn by_threads() -> descriptions::Wanted {
    descriptions::Wanted { family: descriptions::Family::Threads, ..descriptions::Wanted::default() }
}

#[test]
fn the_fast_host_conforms_where_threads_multiply() {
    let cases = Cases { descriptions: 100, problems_each: 6, most_work: 8_000_000, wanted: by_threads() };
    let (tally, drawn) = conforms(&OnHost(Mode::Fast), cases, 0x0fa1_c4f3);
    println!("{tally:?}, {} descriptions", distinct(&drawn));
    if asked_for().is_none() {
        assert!(tally.cases >= 600 && distinct(&drawn) >= 90);
        assert_eq!(Coverage::missing_threads(&drawn), Vec::<String>::new());
        assert!(tally.exact > tally.elements / 2 && tally.exact < tally.elements - tally.undecided);
        assert!(tally.largest > 0.05 && tally.largest <= 1.0, "the largest error is {} of its bound", tally.largest);
    }
}

#[cfg(feature = "cuda")]
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn the_device_conforms_where_threads_multiply() {
    let cases = Cases { descriptions: 60, problems_each: 12, most_work: 24_000_000, wanted: by_threads() };
    let (tally, drawn) = conforms(&common::on_cuda::OnCuda::new(), cases, 0x0c0d_a0f3);
    println!("{tally:?}, {} descriptions", distinct(&drawn));
    if asked_for().is_none() {
        assert!(tally.cases >= 700 && distinct(&drawn) >= 50);
        assert!(tally.largest > 0.05 && tally.largest <= 1.0, "the largest error is {} of its bound", tally.largest);
    }
}

#[cfg(feature = "cuda")]
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn the_device_conforms_where_warpgroups_have_roles() {
    let cases = Cases { descriptions: 90, problems_each: 12, most_work: 24_000_000, wanted: with_roles() };
    let (tally, drawn) = conforms(&common::on_cuda::OnCuda::new(), cases, 0x0c0d_a090);
    println!("{tally:?}, {} descriptions", distinct(&drawn));
    if asked_for().is_none() {
        assert!(tally.cases >= 1000 && distinct(&drawn) >= 80);
        assert!(tally.largest > 0.02 && tally.largest <= 1.0, "the largest error is {} of its bound", tally.largest);
    }
}

#[cfg(feature = "cuda")]
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_device_conforms() {
    let wanted = descriptions::Wanted::default();
    let cases = Cases { descriptions: 160, problems_each: 15, most_work: 3_000_000, wanted };
    let (tally, drawn) = conforms(&common::on_cuda::OnCuda::new(), cases, 0x0c0d_a001);
    println!("{tally:?}, {} descriptions", distinct(&drawn));
    if asked_for().is_none() {
        assert!(tally.cases >= 2000 && distinct(&drawn) >= 100);
        assert!(tally.largest > 0.05 && tally.largest <= 1.0, "the largest error is {} of its bound", tally.largest);
    }
}

/// What compute-sanitizer's tools run: they slow a kernel down a hundredfold.
#[cfg(feature = "cuda")]
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_few_cases_for_a_sanitizer() {
    let cases = Cases { descriptions: 60, problems_each: 1, most_work: 300_000, wanted: descriptions::Wanted::default() };
    let (tally, drawn) = conforms(&common::on_cuda::OnCuda::new(), cases, 0x5a41_712e);
    println!("{tally:?}, {} descriptions", distinct(&drawn));
    assert!(tally.cases >= 60);
}

/// The same where warpgroups have roles.
#[cfg(feature = "cuda")]
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_few_cases_with_roles_for_a_sanitizer() {
    let cases = Cases { descriptions: 40, problems_each: 1, most_work: 6_000_000, wanted: with_roles() };
    let (tally, drawn) = conforms(&common::on_cuda::OnCuda::new(), cases, 0x5a41_7290);
    println!("{tally:?}, {} descriptions", distinct(&drawn));
    assert!(tally.cases >= 40);
}

/// The same where threads multiply what the copy engine brings.
#[cfg(feature = "cuda")]
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_few_cases_by_threads_for_a_sanitizer() {
    let cases = Cases { descriptions: 20, problems_each: 1, most_work: 6_000_000, wanted: by_threads() };
    let (tally, drawn) = conforms(&common::on_cuda::OnCuda::new(), cases, 0x5a41_7291);
    println!("{tally:?}, {} descriptions", distinct(&drawn));
    assert!(tally.cases >= 20);
}

#[test]
fn drawn_problems_keep_the_promised_alignments() {
    for i in 0..2000 {
        let seed = draw(0xa119, i);
        let desc = descriptions::description(seed, descriptions::Wanted::default());
        let Shapes { m, n, k, a, b, c, d, .. } =
            problem(seed, &desc, problems::Wanted { most_work: 3_000_000, aligned: true }).shapes;
        let first = problem(seed, &desc, problems::Wanted { most_work: 3_000_000, aligned: true }).first;
        let (align_a, align_b) = if desc.exchanged { (desc.align_b, desc.align_a) } else { (desc.align_a, desc.align_b) };
        let of_c = if let Source::Matrix(c) = c { c } else { d };
        let all = [(a, m, k, align_a), (b, k, n, align_b), (of_c, m, n, desc.align_c), (d, m, n, desc.align_c)];
        for (which, (shape, rows, columns, align)) in all.into_iter().enumerate() {
            let numbers = [shape.leading, shape.order.packed(rows, columns), first[which]];
            assert!(numbers.iter().all(|x| x.is_multiple_of(align as usize)), "{numbers:?} {align} {desc:?}");
        }
    }
}

/// A host executor with something wrong in what it is told.
struct Misled(&'static str, fn(&mut Shapes, &mut [usize; 4]));

impl Runner for Misled {
    fn name(&self) -> &'static str {
        self.0
    }

    fn needs_alignment(&self) -> bool {
        false
    }

    fn run(&self, desc: &GemmDesc, shapes: &Shapes, whole: HostMatrices<'_>, first: [usize; 4]) -> Result<(), Error> {
        let (mut shapes, mut first) = (*shapes, first);
        (self.1)(&mut shapes, &mut first);
        OnHost(Mode::Fast).run(desc, &shapes, whole, first)
    }
}

#[test]
fn the_suite_finds_what_is_wrong() {
    let wrong = [
        Misled("nothing is written", |shapes, _| shapes.m = 0),
        Misled("the last product is left out", |shapes, _| shapes.k = shapes.k.saturating_sub(1)),
        Misled("C counts for nothing", |shapes, _| shapes.scalars[1] = 0.0),
        Misled("the last row is left out", |shapes, _| shapes.m = shapes.m.saturating_sub(1)),
        Misled("the last column is left out", |shapes, _| shapes.n = shapes.n.saturating_sub(1)),
        Misled("D begins an element early", |_, first| first[3] = first[3].saturating_sub(1)),
        Misled("A begins an element early", |_, first| first[0] = first[0].saturating_sub(1)),
    ];
    let wanted = problems::Wanted { most_work: 200_000, aligned: false };
    for runner in wrong {
        let mut found = 0;
        for i in 0..40u64 {
            let desc =
                descriptions::description(i, descriptions::Wanted { largest_tile: 100_000, ..descriptions::Wanted::default() });
            let problem = problem(i, &desc, wanted);
            found += usize::from(judge_one(&runner, &desc, &problem, Fill::Integers, (i, i)).is_err());
        }
        println!("{}: found in {found} of 40 cases", runner.name());
        assert!(found >= 8, "{}: found in {found} of 40 cases", runner.name());
    }
}
