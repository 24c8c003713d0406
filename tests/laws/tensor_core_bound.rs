//! Tensor-core sums on the host and their error bound: the bound holds, it is less than four times
//! too wide, and integer sums are exact.

use crate::harness::prelude::*;
use falchion::numeric::SumRounding;
use proptest::prelude::*;

/// Returns every floating-point instruction on every architecture that has it, with and without
/// promotion.
fn rows() -> Vec<Instruction> {
    let mut rows = Vec::new();
    for &types in TENSOR_OP_COMBINATIONS {
        for arch in ArchKind::ALL {
            rows.extend(Instruction::for_types(types, arch));
        }
    }
    let fp8: Vec<_> = rows
        .iter()
        .filter(|row| row.operands()[0].is_fp8())
        .map(|row| row.promoted_every(128))
        .collect();
    rows.extend(fp8);
    let mut distinct = Vec::new();
    rows.into_iter().for_each(|row| {
        if !distinct.contains(&row) {
            distinct.push(row)
        }
    });
    distinct
}

fn is_f16(row: &Instruction) -> bool {
    row.sum_rounding() == SumRounding::NearestF16
}

/// Returns a finite number of a type from 32 random bits. All bit patterns without large exponents
/// are equally likely, so that sums stay finite and subnormals are common.
fn element(kind: ElementKind, bits: u32) -> f32 {
    let x: f32 = match kind {
        ElementKind::F16 => F16::from_bits(bits as u16 & 0xbfff).widen(),
        ElementKind::Bf16 => Bf16::from_bits(bits as u16 & 0xbfff).widen(),
        ElementKind::E4m3 => E4m3::from_bits(bits as u8).widen(),
        ElementKind::E5m2 => E5m2::from_bits(bits as u8).widen(),
        _ => f32::from_bits(bits & 0xbfff_ffff),
    };
    if x.is_finite() { x } else { 1.0 }
}

/// Returns whether a number is a normal number of the type.
fn is_of(kind: ElementKind, x: f32) -> bool {
    let mut one = HostBuffer::poisoned(kind, 1).expect("one element");
    one.set(0, f64::from(x)).expect("one element");
    one.get(0).expect("one element") == f64::from(x) && factor(kind, x).1 == f64::from(x)
}

/// Returns the factor that tensor cores multiply, and its magnitude in the bound.
fn factor(kind: ElementKind, x: f32) -> (f64, f64) {
    let least = match kind {
        ElementKind::F16 | ElementKind::E5m2 => 2f64.powi(-14),
        ElementKind::E4m3 => 2f64.powi(-6),
        _ => 2f64.powi(-126),
    };
    let x = f64::from(if kind == ElementKind::Tf32 { Tf32::as_read(x) } else { x });
    (x, if x == 0.0 { 0.0 } else { x.abs().max(least) })
}

/// Returns the sum in f64, and the sum of magnitudes.
fn reference(row: &Instruction, a: &[f32], b: &[f32]) -> (f64, f64) {
    let [of_a, of_b] = row.operands();
    a.iter().zip(b).fold((0.0, 0.0), |(sum, magnitude), (&a, &b)| {
        let ((a, size_a), (b, size_b)) = (factor(of_a, a), factor(of_b, b));
        (a.mul_add(b, sum), size_a.mul_add(size_b, magnitude))
    })
}

/// Returns the error of the host's sum relative to its bound.
fn share(row: &Instruction, a: &[f32], b: &[f32]) -> f64 {
    let (want, magnitude) = reference(row, a, b);
    let error = (f64::from(row.sum(a, b)) - want).abs();
    let own = a.len() as f64 * 2f64.powi(-52) * magnitude;
    let bound = Accumulation::by(row, a.len());
    let bound = bound.relative * magnitude + bound.absolute;
    if error <= own { 0.0 } else { (error - own) / bound }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// `|sum - exact| <= gamma_T(u) |A||B| + T h` for factors of any size, sign, and number, for
    /// every instruction.
    #[test]
    fn no_sum_exceeds_its_error_bound(
        at in any::<prop::sample::Index>(),
        bits in prop::collection::vec(any::<(u32, u32)>(), 1..400),
        zeros in 0u32..4,
    ) {
        let rows = rows();
        let row = at.get(&rows);
        let [of_a, of_b] = row.operands();
        let (mut a, b): (Vec<f32>, Vec<f32>) = bits.iter().map(|&(x, y)| (element(of_a, x), element(of_b, y))).unzip();
        for (i, x) in a.iter_mut().enumerate() {
            if bits[i].1 >> 30 < zeros {
                *x = 0.0;
            }
        }
        // Sums of f16 accumulators may overflow. The bound then claims nothing.
        let (_, magnitude) = reference(row, &a, &b);
        prop_assume!(!is_f16(row) || magnitude < 60_000.0);
        let share = share(row, &a, &b);
        prop_assert!(share <= 1.0, "{row:?}: {share}");
    }

    /// A step equals its documented formula, evaluated in binary64 with exponents from logarithms.
    #[test]
    fn a_step_equals_its_formula(
        at in any::<prop::sample::Index>(),
        bits in prop::collection::vec(any::<(u32, u32)>(), 32),
        accumulator in -1e4f32..1e4,
    ) {
        let rows = rows();
        let row = at.get(&rows);
        let [of_a, of_b] = row.operands();
        let products = row.products() as usize;
        // Exponents are close to each other, so every bit matters and binary64 represents all of
        // them.
        let near = |kind, x| element(kind, x).abs().clamp(0.01, 100.0) * if x & 1 == 0 { 1.0 } else { -1.0 };
        let round = |kind, x: f32| factor(kind, match kind {
            ElementKind::F16 => F16::from_f32(x).to_f32(),
            ElementKind::Bf16 => Bf16::from_f32(x).to_f32(),
            ElementKind::E4m3 => E4m3::from_f32(x).to_f32(),
            ElementKind::E5m2 => E5m2::from_f32(x).to_f32(),
            _ => x,
        }).0 as f32;
        let a: Vec<f32> = bits[..products].iter().map(|pair| round(of_a, near(of_a, pair.0))).collect();
        let b: Vec<f32> = bits[..products].iter().map(|pair| round(of_b, near(of_b, pair.1))).collect();
        let accumulator = if is_f16(row) { F16::from_f32(accumulator).to_f32() } else { accumulator };
        let least = |kind| factor(kind, 1e-37).1.log2();
        let exponent = |x: f32, kind| f64::from(x.abs()).log2().floor().max(least(kind));
        let mut terms = vec![(f64::from(accumulator), exponent(accumulator, ElementKind::F32))];
        terms.extend(a.iter().zip(&b).map(|(&a, &b)| (f64::from(a) * f64::from(b), exponent(a, of_a) + exponent(b, of_b))));
        let top = terms.iter().filter(|term| term.0 != 0.0).map(|term| term.1).fold(-126.0, f64::max);
        let quantum = (top - f64::from(row.aligned_bits())).exp2();
        let sum: f64 = terms.iter().map(|term| (term.0 / quantum).trunc() * quantum).sum();
        let want = match row.sum_rounding() {
            // Without a conversion from binary64, which may drop the bit that decides a tie.
            SumRounding::NearestF16 => {
                let unit = (sum.abs().log2().floor().max(-14.0) - 10.0).exp2();
                let nearest = (sum / unit).round_ties_even() * unit;
                if nearest.abs() > 65504.0 { f64::INFINITY.copysign(sum) } else { nearest }
            }
            SumRounding::Truncated { fraction_bits } => {
                let unit = (sum.abs().log2().floor() - f64::from(fraction_bits)).exp2();
                if sum == 0.0 { 0.0 } else { (sum / unit).trunc() * unit }
            }
        };
        prop_assert_eq!(f64::from(row.step(accumulator, &a, &b)), want, "{:?}", row);
    }

    /// Sums of integer products are exact up to `largest_whole`, in any order.
    #[test]
    fn integers_are_exact(at in any::<prop::sample::Index>(), seed in prop::collection::vec((-8i32..=8, -8i32..=8), 1..600)) {
        let rows = rows();
        let row = at.get(&rows);
        let (mut a, mut b, mut magnitude, mut want) = (Vec::new(), Vec::new(), 0.0, 0.0);
        for (x, y) in seed {
            let product = f64::from(x * y);
            if magnitude + product.abs() <= row.largest_whole() {
                (magnitude, want) = (magnitude + product.abs(), want + product);
                a.push(x as f32);
                b.push(y as f32);
            }
        }
        prop_assert_eq!(f64::from(row.sum(&a, &b)), want, "{:?}", row);
    }
}

/// The worst case of a sum: one large product, followed by products just below the last aligned
/// bit. The error exceeds a quarter of the bound for every instruction, so no bound could be four
/// times smaller. Without promotion, it grows with K as the bound does.
#[test]
fn a_quarter_of_the_bound_fails_for_every_instruction() {
    for row in rows() {
        let [of_a, of_b] = row.operands();
        for steps in [1usize, 4, 16] {
            let k = steps * row.products() as usize;
            if !Accumulation::by(&row, k).relative.is_finite() {
                continue;
            }
            // The largest number whose product with another is just below the last aligned bit.
            // With f16, the products of a step together are just below half of the last bit.
            let lost = -(if is_f16(&row) { 11 + row.products().ilog2() } else { row.aligned_bits() }
                as i32);
            let below = |kind| {
                f32::from_bits(match kind {
                    ElementKind::F16 | ElementKind::Tf32 => 0x3fff_e000,
                    ElementKind::Bf16 => 0x3fff_0000,
                    ElementKind::E4m3 => 0x3ff0_0000,
                    _ => 0x3fe0_0000,
                })
            };
            // Both factors of 2^8 are normal numbers, with half of the exponent each.
            let (half, rest) = ((lost + 8) / 2, lost + 8 - (lost + 8) / 2);
            let (x, y) = (below(of_a) * 2f32.powi(half - 1), 2f32.powi(rest));
            assert!(is_of(of_a, x) && is_of(of_b, y), "{row:?} {x} {y}");
            let (mut a, mut b) = (vec![x; k], vec![y; k]);
            for at in (0..k).step_by(row.promotion().map_or(k, |every| every as usize)) {
                (a[at], b[at]) = (16.0, 16.0);
            }
            let share = share(&row, &a, &b);
            assert!(share <= 1.0 && share > 0.25, "{row:?} {steps}: {share}");
        }
    }
}

/// The unit roundoff does not grow from one architecture to the next, except for fp8, whose `wgmma`
/// adds twice as many products.
#[test]
fn bounds_do_not_grow_with_newer_architectures() {
    // No instruction multiplies f32, only terms of f32. Sums of f64 are chains.
    let other = |types: &&Combined| {
        types.a.is_fp8() || matches!(types.a, ElementKind::F32 | ElementKind::F64)
    };
    for &types in TENSOR_OP_COMBINATIONS.iter().filter(|types| !other(types)) {
        let units: Vec<f64> = ArchKind::ALL
            .iter()
            .filter_map(|&arch| Instruction::for_types(types, arch))
            .map(|row| row.unit())
            .collect();
        assert!(units.windows(2).all(|pair| pair[1] <= pair[0]), "{types:?} {units:?}");
        assert!(units.len() >= 4 || types.a.is_integer(), "{types:?}");
    }
    let types = |a, accumulator, c| element_types(a, accumulator, c);
    let (f32s, i32s) = (ElementKind::F32, ElementKind::I32);
    assert_eq!(Instruction::for_types(types(ElementKind::I8, i32s, i32s), ArchKind::Sm90), None);
    assert_eq!(Instruction::for_types(types(ElementKind::E4m3, f32s, f32s), ArchKind::Sm80), None);
    assert_eq!(Instruction::for_types(types(f32s, f32s, f32s), ArchKind::Sm90), None);
    assert!(types(f32s, f32s, f32s).is_of(OpKind::Simt));
}

/// Promotion keeps a sum of equal products exact when the tensor core's accumulator stops growing:
/// 1 + 1/4 + 1/4 + .. stops at 4096 without promotion.
#[test]
fn long_sums_are_exact_only_with_promotion() {
    let types = element_types(ElementKind::E4m3, ElementKind::F32, ElementKind::F32);
    let row = Instruction::for_types(types, ArchKind::Sm90).expect("an instruction of Hopper");
    let k = 65_536;
    let (a, b) = (vec![0.5; k], vec![0.5; k]);
    assert_eq!(f64::from(row.promoted_every(128).sum(&a, &b)), 0.25 * k as f64);
    assert_eq!(f64::from(row.sum(&a, &b)), 4096.0);
    assert!(!Accumulation::by(&row, k).relative.is_finite());
    assert!(Accumulation::by(&row.promoted_every(128), k).relative < 0.03);
}

/// Hopper's behavior at the limits, as measured by the tests of MMA-Sim: zeros add up to +0,
/// nothing overflows below 2^128, numbers below the smallest one are truncated, a subnormal factor
/// is aligned like the smallest normal one, and tf32 ignores its low bits.
#[test]
fn extreme_sums_equal_those_of_the_hardware() {
    let types = |a, b| Combined { a, b, accumulator: ElementKind::F32, c: ElementKind::F32 };
    let row = |kind| {
        Instruction::for_types(types(kind, kind), ArchKind::Sm90).expect("an instruction of Hopper")
    };
    let (bf16, tf32) = (row(ElementKind::Bf16), row(ElementKind::Tf32));
    assert_eq!(bf16.step(-0.0, &[-0.0; 16], &[1.0; 16]).to_bits(), 0);
    let top = 2f32.powi(127);
    assert_eq!(bf16.step(0.25 * f32::MAX, &[0.75, 0.75], &[top, top]), f32::MAX);
    assert_eq!(bf16.step(0.0, &[-1.0, -1.0], &[top, top]), f32::NEG_INFINITY);
    assert_eq!(bf16.step(0.0, &[0.75 * 2f32.powi(-23)], &[2f32.powi(-126)]), 0.0);
    let least = 2f32.powi(-126);
    assert_eq!(
        bf16.step(0.0, &[least, least, least, least], &[2f32.powi(26), -2f32.powi(26), 1.0, 1.0]),
        0.0
    );
    assert_eq!(
        bf16.step(0.0, &[least, least, least, least], &[2f32.powi(25), -2f32.powi(25), 1.0, 1.0]),
        2.0 * least
    );
    let half = least / 2.0;
    assert_eq!(
        bf16.step(0.0, &[half, half, least, least], &[2f32.powi(26), -2f32.powi(26), 1.0, 1.0]),
        0.0
    );
    assert_eq!(tf32.step(0.0, &[-1.0 - 0.75 * 2f32.powi(-10)], &[1.0]), -1.0);
    assert_eq!(tf32.step(0.0, &[f32::from_bits(0x7f80_0001)], &[1.0]), f32::INFINITY);
}

/// Infinity and NaN propagate through any sum.
#[test]
fn nan_stays_nan() {
    for row in rows() {
        assert_eq!(row.step(f32::INFINITY, &[1.0], &[-1.0]), f32::INFINITY);
        assert_eq!(row.step(1.0, &[f32::NEG_INFINITY], &[1.0]), f32::NEG_INFINITY);
        for (accumulator, a, b) in [
            (f32::NAN, 1.0, 1.0),
            (0.0, f32::NAN, 0.0),
            (0.0, f32::INFINITY, 0.0),
            (f32::INFINITY, f32::NEG_INFINITY, 1.0),
        ] {
            assert!(row.step(accumulator, &[a], &[b]).is_nan(), "{row:?}");
        }
        assert_eq!(row.step(3.0, &[], &[]), 3.0);
        assert_eq!(row.sum(&[], &[]), 0.0);
    }
}
