//! The host executor conforms, and the suite finds what is wrong.

use crate::harness::{
    asked_for,
    case::judge_one,
    completions::conform,
    conformance::{Cases, by_threads, conforms, distinct, warp_specialized_only},
    descriptions::{self, coverage::Coverage},
    prelude::*,
    problems,
};

#[test]
fn the_fast_host_conforms() {
    let cases = Cases {
        descriptions: 360,
        problems_each: 15,
        most_work: 3_000_000,
        wanted: descriptions::Wanted::default(),
    };
    let (tally, descriptions) = conforms(&OnHost(Mode::Fast), cases, 0x0fa1_c410);
    println!("{tally:?}, {} descriptions", distinct(&descriptions));
    if asked_for().is_none() {
        assert!(tally.cases >= 5000 && distinct(&descriptions) >= 300);
        assert_eq!(Coverage::of(&descriptions).missing(), Vec::<String>::new());
        assert_eq!(Coverage::missing_vectors(&descriptions), Vec::<String>::new());
        // Something was decided in either lane, and a bound that is never nearly reached is not one
        // to trust.
        assert!(tally.exact > tally.elements / 2 && tally.exact < tally.elements - tally.undecided);
        assert!(
            tally.largest > 0.05 && tally.largest <= 1.0,
            "the largest error is {} of its bound",
            tally.largest
        );
    }
}

#[test]
fn the_fast_host_conforms_for_warp_specialized_kernels() {
    let cases = Cases {
        descriptions: 200,
        problems_each: 6,
        most_work: 24_000_000,
        wanted: warp_specialized_only(),
    };
    let (tally, descriptions) = conforms(&OnHost(Mode::Fast), cases, 0x0fa1_c490);
    println!("{tally:?}, {} descriptions", distinct(&descriptions));
    if asked_for().is_none() {
        assert!(tally.cases >= 900 && distinct(&descriptions) >= 150);
        assert_eq!(Coverage::missing_warp_specialized(&descriptions), Vec::<String>::new());
        assert_eq!(Coverage::missing_vectors(&descriptions), Vec::<String>::new());
        assert!(tally.exact > tally.elements / 2 && tally.exact < tally.elements - tally.undecided);
        assert!(
            tally.largest > 0.02 && tally.largest <= 1.0,
            "the largest error is {} of its bound",
            tally.largest
        );
    }
}

/// Whatever one knob is pinned to, what completes it computes the product.
#[test]
fn completions_of_single_knobs_conform() {
    for (op, most_work, least) in [(OpKind::TensorOp, 600_000, 1500), (OpKind::Simt, 100_000, 1400)]
    {
        let tally = conform(&OnHost(Mode::Fast), op, most_work);
        println!("{op}: {tally:?}");
        assert!(tally.cases >= least && tally.largest <= 1.0, "{op}: {tally:?}");
    }
}

#[test]
fn the_fast_host_conforms_where_threads_multiply() {
    let cases =
        Cases { descriptions: 100, problems_each: 6, most_work: 8_000_000, wanted: by_threads() };
    let (tally, descriptions) = conforms(&OnHost(Mode::Fast), cases, 0x0fa1_c4f3);
    println!("{tally:?}, {} descriptions", distinct(&descriptions));
    if asked_for().is_none() {
        assert!(tally.cases >= 600 && distinct(&descriptions) >= 90);
        assert_eq!(Coverage::missing_threads(&descriptions), Vec::<String>::new());
        assert_eq!(Coverage::missing_vectors(&descriptions), Vec::<String>::new());
        assert!(tally.exact > tally.elements / 2 && tally.exact < tally.elements - tally.undecided);
        assert!(
            tally.largest > 0.05 && tally.largest <= 1.0,
            "the largest error is {} of its bound",
            tally.largest
        );
    }
}

#[test]
fn random_problems_keep_the_promised_alignments() {
    for i in 0..2000 {
        let seed = draw(0xa119, i);
        let desc = descriptions::description(seed, descriptions::Wanted::default());
        let Problem { m, n, k, a, b, c, d, .. } =
            guarded(seed, &desc, problems::Wanted { most_work: 3_000_000, aligned: true }).problem;
        let first =
            guarded(seed, &desc, problems::Wanted { most_work: 3_000_000, aligned: true }).first;
        let pins = desc.user_pins();
        let [align_a, align_b] =
            [pins.align_a, pins.align_b].map(|align| align.expect("every family has it"));
        let orders = desc.orders();
        let of_c = if let Source::Matrix(c) = c { c } else { d };
        let align_c = desc.alignments()[2];
        let all = [
            (a, orders.a, (m, k), align_a),
            (b, orders.b, (k, n), align_b),
            (of_c, orders.c, (m, n), align_c),
            (d, orders.c, (m, n), align_c),
        ];
        for (which, (view, order, (rows, columns), align)) in all.into_iter().enumerate() {
            let numbers = [view.leading(order), order.packed(rows, columns), first[which]];
            assert!(
                numbers.iter().all(|x| x.is_multiple_of(align as usize)),
                "{numbers:?} {align} {desc:?}"
            );
        }
    }
}

/// A host executor with something wrong in what it is told.
struct Misled(&'static str, fn(&mut Problem, &mut [usize; 4]));

impl Runner for Misled {
    fn name(&self) -> &'static str {
        self.0
    }

    fn needs_alignment(&self) -> bool {
        false
    }

    fn run(
        &self,
        desc: &GemmDesc,
        problem: &Problem,
        whole: HostMatrices<'_>,
        first: [usize; 4],
    ) -> Result<(), Error> {
        let (mut problem, mut first) = (*problem, first);
        (self.1)(&mut problem, &mut first);
        OnHost(Mode::Fast).run(desc, &problem, whole, first)
    }
}

#[test]
fn the_suite_finds_what_is_wrong() {
    let wrong = [
        Misled("nothing is written", |problem, _| problem.m = 0),
        Misled("the last product is left out", |problem, _| {
            problem.k = problem.k.saturating_sub(1)
        }),
        Misled("C counts for nothing", |problem, _| problem.scalars[1] = 0.0),
        Misled("the last row is left out", |problem, _| problem.m = problem.m.saturating_sub(1)),
        Misled("the last column is left out", |problem, _| problem.n = problem.n.saturating_sub(1)),
        Misled("vectors lie across", |problem, _| {
            problem.vectors.iter_mut().for_each(|(_, vector)| vector.strides.reverse());
        }),
        Misled("D begins an element early", |_, first| first[3] = first[3].saturating_sub(1)),
        Misled("A begins an element early", |_, first| first[0] = first[0].saturating_sub(1)),
    ];
    let wanted = problems::Wanted { most_work: 200_000, aligned: false };
    for runner in wrong {
        let mut found = 0;
        for i in 0..40u64 {
            let desc = descriptions::description(
                i,
                descriptions::Wanted { largest_tile: 100_000, ..descriptions::Wanted::default() },
            );
            let guarded = guarded(i, &desc, wanted);
            found +=
                usize::from(judge_one(&runner, &desc, &guarded, Fill::Integers, (i, i)).is_err());
        }
        println!("{}: found in {found} of 40 cases", runner.name());
        assert!(found >= 8, "{}: found in {found} of 40 cases", runner.name());
    }
}
