//! Emulated `f32` with terms that warps compute from fragments: the exact bits of D, the error
//! bound, and non-finite numbers.

use crate::harness::{on_tensor_cores::*, prelude::*};
use falchion_lab::verify;

pub(super) const ARCHS: [ArchKind; 2] = [ArchKind::Sm80, ArchKind::Sm90];
const IN_REGISTERS: [EmulationKind; 2] = [EmulationKind::Tf32x3, EmulationKind::Bf16x1];
const SIZES: [usize; 3] = [66, 70, 100];

pub(super) fn resolve(
    op: OpKind,
    arch: ArchKind,
    orders: [Order; 3],
    knobs: &[(&str, &str)],
) -> GemmDesc {
    let types = orders.map(|order| format!("f32:{order}"));
    described(types.each_ref().map(|types| &types[..]), (op, arch), knobs)
}

/// Returns a small kernel.
pub(super) fn desc(emulation: EmulationKind, arch: ArchKind, orders: [Order; 3]) -> GemmDesc {
    let stages = MULTISTAGE_OR_OTHER[0].fixed_stages().unwrap_or(3).to_string();
    let knobs = [
        ("threadblock", "32x32x32"),
        ("warp", "16x32x32"),
        ("stages", &stages),
        ("emulation", emulation.name()),
        ("align_a", "1"),
        ("align_b", "1"),
        ("align_c", "1"),
    ];
    resolve(OpKind::TensorOp, arch, orders, &knobs)
}

/// Independent definition of the terms.
fn terms(emulation: EmulationKind, x: f32) -> [f32; 2] {
    if emulation == EmulationKind::Bf16x1 {
        let unit = if x == 0.0 {
            1.0
        } else {
            2f64.powi((f64::from(x).abs().log2().floor() as i32).max(-126) - 7)
        };
        return [((f64::from(x) / unit).round_ties_even() * unit) as f32, 0.0];
    }
    let first = f32::from_bits(x.to_bits() >> 13 << 13);
    let rest = f64::from(x) - f64::from(first);
    // Rounds to nearest, ties away from 0: adds half a unit and truncates.
    let unit = if rest == 0.0 {
        1.0
    } else {
        2f64.powi((rest.abs().log2().floor() as i32).max(-126) - 10)
    };
    [first, (((rest.abs() / unit + 0.5).floor() * unit).copysign(rest)) as f32]
}

/// Every element in both modes, bit by bit: D is the instruction's result for the products of terms
/// in sequence, for each instruction depth along K.
#[test]
fn every_element_is_a_sum_of_products_of_terms() {
    let [m, n, k] = SIZES;
    let (tf32x3, bf16x1) = (EmulationKind::Tf32x3, EmulationKind::Bf16x1);
    for (emulation, arch, depth) in [
        (tf32x3, ArchKind::Sm80, 8),
        (tf32x3, ArchKind::Sm80, 4),
        (tf32x3, ArchKind::Sm90, 8),
        (tf32x3, ArchKind::Sm90, 4),
        (bf16x1, ArchKind::Sm80, 16),
        (bf16x1, ArchKind::Sm86, 8),
        (bf16x1, ArchKind::Sm90, 16),
    ] {
        for data in [Data::Normal, Data::Tiny] {
            let of = desc(emulation, arch, ORDERS[0]);
            let desc = of.pinned(Pins { instruction: Some(Mnk::new(16, 8, depth)), ..Pins::NONE });
            let (a, b) = (draws(data, 1, m, k), draws(data, 2, n, k));
            let term = emulation.term_type().expect("a term");
            let types = element_types(term, ElementKind::F32, ElementKind::F32);
            let own =
                Instruction::for_types(types, arch).expect("it multiplies tf32").within(depth);
            let line = |of: &[f32], at: usize| {
                let mut terms: Vec<_> =
                    of[at * k..][..k].iter().map(|&x| terms(emulation, x)).collect();
                terms.resize(k.next_multiple_of(32), [0.0; 2]);
                terms
            };
            let mut wanted = Vec::new();
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let (row, column) = (line(&a, i), line(&b, j));
                // tf32 sums over a tile of 32 start at 0, and the tile sums are added in f32.
                let mut sum = 0.0f32;
                for (row, column) in row.chunks(32).zip(column.chunks(32)) {
                    let mut term = if emulation == tf32x3 { 0.0 } else { sum };
                    for (row, column) in
                        row.chunks(depth as usize).zip(column.chunks(depth as usize))
                    {
                        let products: &[[usize; 2]] =
                            if emulation == tf32x3 { &[[1, 0], [0, 1], [0, 0]] } else { &[[0, 0]] };
                        for &[p, q] in products {
                            let side = |of: &[[f32; 2]], term: usize| {
                                of.iter().map(|x| x[term]).collect::<Vec<_>>()
                            };
                            term = own.step(term, &side(row, p), &side(column, q));
                        }
                    }
                    sum = if emulation == tf32x3 { sum + term } else { term };
                }
                wanted.push(sum);
            }
            for mode in [Mode::Fast, Mode::Checked { seed: 5 }] {
                let d = computed(&desc, mode, SIZES, (&a, &b)).expect("a product");
                assert!(bits(&d) == bits(&wanted), "{arch} {depth} {data:?} {mode:?}");
            }
        }
    }
}

/// D does not depend on the layouts of A, B, and D, because the products of terms have the order of
/// the user's A and B.
#[test]
fn layouts_of_register_terms_do_not_change_d() {
    for (arch, emulation) in ARCHS.into_iter().flat_map(|arch| IN_REGISTERS.map(|of| (arch, of))) {
        check_all_layouts(SIZES, |orders| desc(emulation, arch, orders));
    }
}

/// Returns the errors relative to their bounds and to those of an f32 sum, and the largest error in
/// units of `2^-24 |A||B|`.
pub(super) fn judged(
    desc: &GemmDesc,
    [m, n, k]: [usize; 3],
    (a, b): (&[f32], &[f32]),
) -> (f64, f64) {
    let d = computed(desc, Mode::Fast, [m, n, k], (a, b)).expect("a product");
    let verdict = judge(desc, [m, n, k], (a, b), &d);
    assert!(verdict.is_right(), "{desc:?}: {verdict}");
    let units = |i: usize, j: usize| {
        let products = (0..k).map(|l| f64::from(a[i * k + l]) * f64::from(b[j * k + l]));
        let (sum, magnitude) =
            products.fold((0.0, 0.0), |(sum, magnitude), x| (sum + x, magnitude + f64::abs(x)));
        (f64::from(d[i * n + j]) - sum).abs() / magnitude * 2f64.powi(24)
    };
    let largest = (0..m)
        .flat_map(|i| (0..n).map(move |j| (i, j)))
        .map(|(i, j)| units(i, j))
        .fold(0.0, f64::max);
    (verdict.error_over_bound, largest)
}

/// Factors that are rounded to bf16 have a relative error of at most 2^-8.
#[test]
fn rounded_factors_are_within_their_bound() {
    let [m, n] = [20, 24];
    for arch in ARCHS {
        let (rounded, mut shares) =
            (desc(EmulationKind::Bf16x1, arch, ORDERS[0]), (0.0f64, 0.0f64));
        for data in DATA {
            for (seed, k) in [(1, 1), (2, 31), (3, 33), (4, 300)] {
                let (a, b) = (draws(data, seed, m, k), draws(data, seed + 50, n, k));
                let (share, units) = judged(&rounded, [m, n, k], (&a, &b));
                // The smallest numbers have a larger relative error.
                let units = if data == Data::Tiny { 0.0 } else { units };
                shares = (shares.0.max(share), shares.1.max(units));
            }
        }
        println!("{arch}: {:.3} of the bound, {:.0} units", shares.0, shares.1);
        // A product of two factors has a relative error of at most 2^-7, which is 2^17 units.
        assert!(
            shares.0 > 0.3 && shares.1 > 2f64.powi(14) && shares.1 < 2f64.powi(17) * 1.01,
            "{arch}: {shares:?}"
        );
    }
}

/// The bound is finite for every K, and near that of f32 sums: one rounding per tile, and the
/// errors of the steps within a tile.
#[test]
fn the_bound_is_near_that_of_sums_in_f32() {
    for (arch, times) in [(ArchKind::Sm80, 0.21), (ArchKind::Sm90, 0.12)] {
        for k in [1000usize, 4096, 8192] {
            let relative =
                Accumulation::for_description(&desc(EmulationKind::Tf32x3, arch, ORDERS[0]), k)
                    .relative;
            let plain = k as f64 * 2f64.powi(-24);
            assert!(
                relative > plain / 32.0 && relative < times * plain,
                "{arch} {k}: {}",
                relative / plain
            );
        }
    }
}

/// The largest numbers overflow only if they are rounded. Non-finite factors do not give finite
/// results.
#[test]
fn extreme_numbers_keep_their_range() {
    for emulation in IN_REGISTERS {
        let desc = desc(emulation, ArchKind::Sm80, ORDERS[0]);
        for mode in [Mode::Fast, Mode::Checked { seed: 2 }] {
            let one = |a: f32, b: f32| {
                computed(&desc, mode, [1, 1, 1], (&[a], &[b])).expect("a product")[0]
            };
            let largest = one(f32::MAX, 0.5);
            match emulation {
                EmulationKind::Bf16x1 => assert_eq!(largest, f32::INFINITY),
                _ => assert!(
                    (f64::from(largest) / (f64::from(f32::MAX) * 0.5) - 1.0).abs() < 2f64.powi(-20),
                    "{largest:e}"
                ),
            }
            for x in [
                f32::INFINITY,
                f32::NEG_INFINITY,
                f32::NAN,
                f32::from_bits(0x7fff_ffff),
                f32::from_bits(0xff80_0001),
            ] {
                for y in [1.0, -3.7, 0.0, 1e-30] {
                    assert!(
                        !one(x, y).is_finite() && !one(y, x).is_finite(),
                        "{x} by {y} {mode:?}"
                    );
                }
            }
        }
    }
}

/// Numbers of every exponent: both terms are tf32 numbers, and the remainder is within the stated
/// bound. Integers up to 2^22 are exact.
#[test]
fn two_tf32_terms_approximate_the_number() {
    let mut worst = 0f64;
    for i in 0..400_000u64 {
        let x = f32::from_bits(verify::draw(7, i) as u32);
        if !x.is_finite() {
            continue;
        }
        let [first, second] = EmulationKind::Tf32x3.in_registers_of(x);
        assert_eq!([first, second], terms(EmulationKind::Tf32x3, x), "{x:e}");
        assert_eq!([Tf32::as_read(first), Tf32::as_read(second)], [first, second]);
        let rest = (f64::from(x) - f64::from(first) - f64::from(second)).abs();
        let bound = (2f64.powi(-22) * f64::from(x).abs()).max(2f64.powi(-137));
        assert!(
            rest <= bound
                && f64::from(second).abs()
                    <= (2f64.powi(-10) * f64::from(x).abs()).max(2f64.powi(-136)),
            "{x:e}"
        );
        worst = worst.max(rest / bound);
    }
    assert!(worst > 0.9, "{worst}");
    for whole in (0..1 << 22).step_by(37) {
        let [first, second] = EmulationKind::Tf32x3.in_registers_of(whole as f32);
        assert_eq!(first + second, whole as f32);
    }
}
