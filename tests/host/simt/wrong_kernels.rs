//! The acceptance rule rejects every wrong kernel in every trial. Other rules, such as one global
//! tolerance or a tolerance that grows with K, accept some of them at these sizes.
//!
//! As everywhere, a kernel is judged with integers and with random data. It is rejected if either
//! run rejects it.

use crate::harness::{prelude::*, problems::packed};
use falchion::numeric::ElementKind::{self, Bf16, F16, *};
use falchion_lab::verify;

/// Error that is applied to the result of a kernel.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Wrong {
    /// All elements are zero.
    AllZero,
    /// The last 8 k are omitted.
    LastOfK,
    /// Every element is 15 percent too large.
    TooLarge,
    /// One element has the value of the next row.
    NextRow,
    /// One element is NaN, or the smallest integer in a type without NaN.
    OneNan,
    /// No error.
    Nothing,
}

const TYPES: [[ElementKind; 3]; 9] = [
    [F32, F32, F32],
    [F64, F64, F64],
    [F16, F32, F16],
    [F16, F32, F32],
    [F16, F16, F16],
    [Bf16, F32, Bf16],
    [Bf16, F32, F32],
    [I8, I32, I32],
    [I8, I32, I8],
];

/// Returns the whole buffer as a slice.
fn all(buffer: &HostBuffer) -> HostSlice<'_> {
    buffer.slice(0..buffer.length()).expect("the host supports these types")
}

struct Case {
    desc: GemmDesc,
    guarded: Guarded,
}

impl Case {
    fn new([a, accumulator, c]: [ElementKind; 3], (m, n, k): (usize, usize, usize)) -> Self {
        let types = element_types(a, accumulator, c);
        let desc = default_of(OpKind::Simt, ArchKind::Sm80, types, [Order::Row; 3]);
        // f16 sums are slow on the host, so small tiles save time.
        let tile = Mnk::new(32, 32, 16);
        let (mainloop, stages, blocks_per_sm) = (THROUGH_REGISTERS[0], 2, 1);
        let desc = but!(desc, threadblock: tile, warp: tile, mainloop, stages, blocks_per_sm);
        let problem = packed([m, n, k]);
        Self { desc, guarded: Guarded { problem, first: [0; 4], behind: [0; 4], poisoned: false } }
    }

    /// Returns D of a kernel with an error. If the error affects one element, it is element `at`.
    fn run(&self, buffers: &Buffers, wrong: Wrong, at: usize) -> HostBuffer {
        let mut problem = self.guarded.problem;
        if wrong == Wrong::LastOfK {
            problem.k -= 8;
        }
        let mut d = buffers.d.clone();
        let (a, b, length) = (all(&buffers.a), all(&buffers.b), d.length());
        let matrices = matrices(a, b, d.slice_mut(0..length).expect("as before"));
        run_in_mode(&self.desc, Mode::Fast, problem.with(matrices)).expect("it fits");
        let get = |place| d.get(place).expect("as before");
        let changed: Vec<(usize, f64)> = match wrong {
            Wrong::Nothing | Wrong::LastOfK => Vec::new(),
            Wrong::AllZero => (0..d.length()).map(|place| (place, 0.0)).collect(),
            Wrong::TooLarge => (0..d.length()).map(|place| (place, 1.15 * get(place))).collect(),
            Wrong::NextRow => vec![(at, get(at + problem.n))],
            Wrong::OneNan => vec![(at, if d.kind().is_integer() { -128.0 } else { f64::NAN })],
        };
        changed.into_iter().for_each(|(place, x)| d.set(place, x).expect("as before"));
        d
    }

    fn claim<'a>(&'a self, buffers: &'a Buffers, d: &'a HostBuffer) -> Claim<'a> {
        let [a, b, d] = [&buffers.a, &buffers.b, d].map(all);
        Claim {
            desc: &self.desc,
            problem: &self.guarded.problem,
            a,
            b,
            c: None,
            d,
            operands: Default::default(),
        }
    }

    fn judge(&self, buffers: &Buffers, d: &HostBuffer) -> Verdict {
        verify::check(&self.claim(buffers, d)).expect("it fits")
    }
}

/// Returns the number of trials in which a kernel was rejected.
fn rejections(case: &Case, wrong: Wrong, trials: u64, random: &mut Random) -> u64 {
    let Problem { m, n, .. } = case.guarded.problem;
    (0..trials)
        .map(|_| {
            let seed = random.next();
            let lanes = [Fill::Integers, Fill::Random].map(|fill| {
                Buffers::filled(&case.desc, &case.guarded, fill, seed)
                    .expect("the host supports these types")
            });
            // A correct element is not an error, so the test selects an element whose neighbor is
            // another integer.
            let right = case.run(&lanes[0], Wrong::Nothing, 0);
            let at = loop {
                let at = random.below((m - 1) * n);
                if right.get(at).ok() != right.get(at + n).ok() {
                    break at;
                }
            };
            let rejected = lanes.iter().any(|buffers| {
                let verdict = case.judge(buffers, &case.run(buffers, wrong, at));
                verdict.elements_wrong > 0
            });
            u64::from(rejected)
        })
        .sum()
}

#[test]
fn every_wrong_kernel_is_rejected_and_the_correct_one_is_accepted() {
    const TRIALS: u64 = 12;
    let mut random = Random::new(0x005e_ed00);
    let mut kernels = 0;
    for types in TYPES {
        for size in [(24, 24, 1024), (24, 24, 64), (17, 9, 3000)] {
            let case = Case::new(types, size);
            assert_eq!(
                rejections(&case, Wrong::Nothing, TRIALS, &mut random),
                0,
                "{types:?} {size:?}: the correct kernel"
            );
            for wrong in
                [Wrong::AllZero, Wrong::LastOfK, Wrong::TooLarge, Wrong::NextRow, Wrong::OneNan]
            {
                let rejected = rejections(&case, wrong, TRIALS, &mut random);
                assert_eq!(rejected, TRIALS, "{types:?} {size:?}: {wrong:?} passed");
                kernels += TRIALS;
            }
        }
    }
    println!("{kernels} wrong kernels rejected");
}

#[test]
fn long_f16_sums_are_decided_by_integers_only() {
    let case = Case::new([F16, F16, F16], (24, 24, 1024));
    let verdict = |fill| {
        let buffers = Buffers::filled(&case.desc, &case.guarded, fill, 1)
            .expect("the host supports these types");
        case.judge(&buffers, &case.run(&buffers, Wrong::Nothing, 0))
    };
    let (whole, random) = (verdict(Fill::Integers), verdict(Fill::Random));
    assert!(whole.is_right() && whole.is_exact(), "{whole}");
    assert!(!random.is_right() && random.elements_undecided == 24 * 24, "{random}");
}

#[test]
fn sampled_rows_find_a_wrong_tile_of_a_large_gemm() {
    let case = Case::new([F32, F32, F32], (4096, 4096, 64));
    let buffers = Buffers::filled(&case.desc, &case.guarded, Fill::Random, 5)
        .expect("the host supports these types");
    let mut d = case.run(&buffers, Wrong::Nothing, 0);
    let sampled = |d: &HostBuffer, seed| {
        verify::sampled(&case.claim(&buffers, d), 64, seed).expect("it fits")
    };
    let verdict = sampled(&d, 1);
    assert!(
        verdict.is_right() && (64 * 4096..=66 * 4096).contains(&verdict.elements_checked),
        "{verdict}"
    );
    // One 128 x 128 tile has the values of its right neighbor.
    let (row, column) = (17 * 128, 5 * 128);
    for place in (row..row + 128).flat_map(|i| (column..column + 128).map(move |j| i * 4096 + j)) {
        let x = d.get(place + 128).expect("as before");
        d.set(place, x).expect("as before");
    }
    for seed in 0..8 {
        let verdict = sampled(&d, seed);
        assert!(
            !verdict.is_right()
                && verdict.first_wrong.is_some_and(|e| (row..row + 128).contains(&e.row)),
            "{verdict}"
        );
    }
}
