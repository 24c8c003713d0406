//! The host executor conforms for SIMT kernels, and the suite finds wrong executors.

use crate::harness::{conformance::*, prelude::*, problems};

suites! {
    the_fast_host_conforms: run_decisively of OnHost(Mode::Fast),
        Wanted::default(), (360, 15), 3_000_000, 0x0fa1_c410, (5000, 300), 0.05,
        |all| with_vectors(all, Coverage::from_descriptions(all).missing());
}

#[test]
fn random_problems_keep_the_promised_alignments() {
    for i in 0..2000 {
        let seed = draw(0xa119, i);
        let desc = description(seed, Wanted::default());
        let Problem { m, n, k, a, b, c, d, .. } =
            guarded(seed, &desc, problems::Wanted { most_work: 3_000_000, aligned: true }).problem;
        let first =
            guarded(seed, &desc, problems::Wanted { most_work: 3_000_000, aligned: true }).first;
        let pins = desc.user_pins();
        let [align_a, align_b] =
            [pins.align_a, pins.align_b].map(|align| align.expect("every kernel has alignments"));
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

/// Host executor that runs a modified problem.
struct Modified(&'static str, fn(&mut Problem, &mut [usize; 4]));

impl Runner for Modified {
    fn name(&self) -> &'static str {
        self.0
    }

    fn needs_alignment(&self) -> bool {
        false
    }

    fn run(&self, desc: &GemmDesc, mut placed: Placed<'_>) -> Result<(), Error> {
        (self.1)(&mut placed.problem, &mut placed.first);
        OnHost(Mode::Fast).run(desc, placed)
    }
}

#[test]
fn the_suite_finds_wrong_executors() {
    let wrong = [
        Modified("nothing is written", |problem, _| problem.m = 0),
        Modified("the last k is omitted", |problem, _| problem.k = problem.k.saturating_sub(1)),
        Modified("C is ignored", |problem, _| problem.scalars[1] = 0.0),
        Modified("the last row is omitted", |problem, _| problem.m = problem.m.saturating_sub(1)),
        Modified("the last column is omitted", |problem, _| {
            problem.n = problem.n.saturating_sub(1)
        }),
        Modified("vectors are transposed", |problem, _| {
            problem.operands.iter_mut().for_each(|(_, vector)| vector.strides.reverse());
        }),
        Modified("D begins one element too early", |_, first| {
            first[3] = first[3].saturating_sub(1)
        }),
        Modified("A begins one element too early", |_, first| {
            first[0] = first[0].saturating_sub(1)
        }),
    ];
    let wanted = problems::Wanted { most_work: 200_000, aligned: false };
    for runner in wrong {
        let mut found = 0;
        for i in 0..40u64 {
            let desc = description(i, Wanted { largest_tile: 100_000, ..Wanted::default() });
            let guarded = guarded(i, &desc, wanted);
            found +=
                usize::from(judge_one(&runner, &desc, &guarded, Fill::Integers, (i, i)).is_err());
        }
        println!("{}: found in {found} of 40 cases", runner.name());
        assert!(found >= 8, "{}: found in {found} of 40 cases", runner.name());
    }
}
