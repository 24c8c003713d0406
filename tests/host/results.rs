//! Results of an epilogue beside D: auxiliary matrices, and maxima of absolute values.

use crate::harness::{
    epilogue_operands::judge_on_host,
    prelude::*,
    problems,
    results::{compare, descriptions, descriptions_to_fp8},
};

/// The fast host writes the values of the reference, for every main loop and MMA.
#[test]
fn the_fast_host_writes_each_result() {
    let tally = judge_on_host(&descriptions(0xa0d1, 160));
    assert!(tally.cases == 160 && tally.exact > tally.elements / 4, "{tally:?}");
}

/// The checked machine gives the bits of the fast mode.
#[test]
fn the_checked_machine_writes_each_result() {
    descriptions(0xa0d2, 60).par_iter().for_each(|(seed, desc)| {
        compare(desc, *seed, &OnHost(Mode::Fast), &OnHost(Mode::Checked { seed: *seed }));
    });
}

/// Results of fp8 have the values of the reference, and the checked machine gives the bits of the
/// fast mode.
#[test]
fn scaled_results_of_fp8_conform() {
    let descriptions = descriptions_to_fp8(0xa0d5, 64);
    let tally = judge_on_host(&descriptions);
    assert!(tally.cases == 64 && tally.exact > tally.elements / 4, "{tally:?}");
    descriptions[..24].par_iter().for_each(|(seed, desc)| {
        compare(desc, *seed, &OnHost(Mode::Fast), &OnHost(Mode::Checked { seed: *seed }));
    });
}

/// Returns the bits of the number of e4m3 that is nearest to `x`. Ties go to an even code, and
/// larger numbers become the largest.
fn nearest_e4m3(x: f64) -> u8 {
    let value = |code: u8| match (i32::from(code >> 3), f64::from(code & 7)) {
        (0, fraction) => fraction * 2f64.powi(-9),
        (exponent, fraction) => (8.0 + fraction) * 2f64.powi(exponent - 10),
    };
    let distance = |code: u8| (value(code) - x.abs().min(448.0)).abs();
    let nearer = |p: &u8, q: &u8| distance(*p).total_cmp(&distance(*q)).then((p & 1).cmp(&(q & 1)));
    (0..=0x7e).min_by(nearer).expect("a code") | u8::from(x.is_sign_negative()) << 7
}

/// D of fp8 is the scaled value, rounded once and saturated. The maximum is of the value before the
/// scale. NaN and infinities reach both.
#[test]
fn a_scaled_d_of_fp8_saturates_beside_its_maximum() {
    falchion::epilogue! { struct Quantized = alpha_ptr:f32 * amax(gelu_tanh(acc + bias_n:bf16)) }
    let (m, n, scales) = (6, 40, [8.0f32, 0.0, -16.0]);
    let a = [-3.0f32, -0.75, 0.01, 0.5, 2.0, 100.0].map(Bf16::from_f32);
    let b: Vec<_> = (0..n).map(|j| Bf16::from_f32(j as f32 / 16.0 - 1.0)).collect();
    let plain: Vec<_> = (0..n).map(|j| Bf16::from_f32(j as f32 / 8.0 - 2.0)).collect();
    let mut special = plain.clone();
    (special[3], special[7]) = (Bf16::NAN, Bf16::INFINITY);
    for bias in [&plain, &special] {
        let mut d = vec![E4m3::from_bits(0x55); scales.len() * m * n];
        let (mut wide, mut amax, mut amax_wide) = (vec![7.0f32; d.len()], [7.0f32; 3], [7.0f32; 3]);
        macro_rules! run {
            ($type:ty, $d:expr, $amax:expr) => {
                HopperRows::<Bf16, $type>::new()
                    .epilogue::<Quantized>()
                    .run(
                        Arguments::new((m, n, 1), &a, &b, $d)
                            .batch(scales.len())
                            .batch_stride_a(0)
                            .batch_stride_b(0)
                            .bias_n(bias)
                            .alpha_ptr(&scales)
                            .amax($amax),
                    )
                    .expect("a result")
            };
        }
        run!(E4m3, &mut d, &mut amax);
        run!(f32, &mut wide, &mut amax_wide);
        let (mut saturated, mut special) = ([0; 2], 0);
        for (at, (d, wide)) in d.iter().zip(&wide).enumerate() {
            let (product, i, j) = (at / (m * n), at / n % m, at % n);
            let x =
                f64::from(a[i].to_f32()) * f64::from(b[j].to_f32()) + f64::from(bias[j].to_f32());
            let inner = (2.0 / core::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
            let scale = f64::from(scales[product]);
            let value = if scale == 0.0 { 0.0 } else { scale * (0.5 * x * (1.0 + inner.tanh())) };
            let error = (f64::from(*wide) - value).abs();
            let is_near =
                value == f64::from(*wide) || error <= 1e-5 * value.abs() + 1e-5 * scale.abs();
            assert!(is_near || value.is_nan() && wide.is_nan(), "{at}: {wide}, not {value}");
            let wanted = if wide.is_nan() { 0x7f } else { nearest_e4m3(f64::from(*wide)) };
            assert_eq!(d.to_bits(), wanted, "{at}: {wide}");
            saturated[usize::from(*wide < 0.0)] += usize::from(wide.abs() > 448.0);
            special += usize::from(!wide.is_finite());
        }
        let nonfinite = if bias == &plain { 0 } else { 2 * 2 * m };
        assert!(saturated.iter().all(|count| *count > 8) && special == nonfinite, "{saturated:?}");
        // All GEMMs have the same values before the scale.
        let largest = wide[..m * n].iter().fold(0.0f32, |largest, x| largest.max(x.abs())) / 8.0;
        let wanted = if bias == &plain { largest } else { f32::NAN };
        for maximum in amax.iter().chain(&amax_wide) {
            assert!(*maximum == wanted || maximum.is_nan() && wanted.is_nan(), "{maximum}");
        }
    }
}

/// A wrong element of each kind of result is found by the reference.
#[test]
fn a_wrong_result_is_not_verified() {
    let wanted = problems::Wanted { most_work: 400_000, aligned: false };
    let mut found = BTreeSet::new();
    for (seed, desc) in descriptions(0xa0d3, 80) {
        let guarded = guarded(seed, &desc, wanted);
        let before = Buffers::filled(&desc, &guarded, Fill::Integers, seed).expect("buffers");
        let mut after = before.clone();
        after.run(&OnHost(Mode::Fast), &desc, &guarded).expect("a result");
        let (m, n) = (guarded.problem.m, guarded.problem.n);
        if m == 0 || n == 0 || !after.judge(&before, &desc, &guarded).expect("a verdict").is_exact()
        {
            continue;
        }
        let epilogue = desc.epilogue.leave(desc.frame);
        for operand in epilogue.written() {
            let view = guarded.problem.operands.get(operand).expect("a result");
            let place = view.offset(m - 1, n / 2);
            let mut wrong = after.clone();
            let buffer = wrong.operands.slot(operand).as_mut().expect("a result");
            let right = buffer.get(place).expect("a number");
            buffer.set(place, if right == 3.0 { 4.0 } else { 3.0 }).expect("a number");
            let verdict = wrong.judge(&before, &desc, &guarded).expect("a verdict");
            assert!(verdict.elements_wrong >= 1, "{operand} of {epilogue}: {right}");
            found.insert(operand.name());
        }
    }
    assert!(found.len() >= 5, "{found:?}");
}

/// The value of a result is the value that the rest of the epilogue reads, before it is rounded.
#[test]
fn results_are_written_beside_d() {
    falchion::epilogue! { struct Linear = aux1 = acc + bias_n:f32; y = amax(relu(aux1)); y * 2 }
    let (a, b, bias) = ([Bf16::ONE; 6], [Bf16::ONE; 6], [0.25f32, -5.0]);
    let (mut before, mut d, mut amax) = ([Bf16::ZERO; 6], [0.0f32; 6], [9.0f32]);
    let gemm = HopperRows::<Bf16, f32>::new().epilogue::<Linear>();
    let call = Arguments::new((3, 2, 2), &a, &b, &mut d).bias_n(&bias);
    let refused = gemm.run(call.amax(&mut amax).aux_out::<1>(&mut before)).expect_err("a type");
    assert_eq!(refused.to_string(), "element type of aux1 = bf16 is not f32");
    let mut before = [0.0f32; 6];
    let call = Arguments::new((3, 2, 2), &a, &b, &mut d).bias_n(&bias);
    gemm.run(call.amax(&mut amax).aux_out::<1>(&mut before)).expect("a result");
    assert_eq!(before, [2.25, -3.0, 2.25, -3.0, 2.25, -3.0]);
    assert_eq!((d, amax), ([4.5, 0.0, 4.5, 0.0, 4.5, 0.0], [2.25]));
}

/// Each GEMM of a batch has results of its own. Groups of rows share the results of columns and of
/// D.
#[test]
fn results_of_batches_and_groups() {
    falchion::epilogue! { struct Largest = row_amax(col_amax(amax(acc))) }
    let gemm = Gemm::<f32>::new().epilogue::<Largest>();
    let (a, b) = ([1.0f32, 2.0, -3.0, 4.0], [1.0f32, -2.0]);
    let (mut d, mut amax, mut rows, mut columns) =
        ([0.0f32; 8], [0.0f32; 2], [0.0f32; 4], [0.0f32; 4]);
    let call = Arguments::new((2, 2, 1), &a, &b, &mut d).batch(2).batch_stride_b(0);
    let call = call.amax(&mut amax).row_amax(&mut rows).col_amax(&mut columns);
    gemm.run(call).expect("a result");
    assert_eq!(d, [1.0, -2.0, 2.0, -4.0, -3.0, 6.0, 4.0, -8.0]);
    assert_eq!((amax, rows), ([4.0, 8.0], [2.0, 4.0, 6.0, 8.0]));
    assert_eq!(columns, [2.0, 4.0, 4.0, 8.0]);
    let (mut d, b) = ([0.0f32; 4], [1.0f32, 10.0]);
    let call = Arguments::new((4, 1, 1), &a, &b, &mut d).groups(&[0, 3, 4]);
    let (mut amax, mut column) = ([7.0f32], [7.0f32]);
    gemm.run(call.amax(&mut amax).row_amax(&mut rows).col_amax(&mut column)).expect("a result");
    assert_eq!((d, rows), ([1.0, 2.0, -3.0, 40.0], [1.0, 2.0, 3.0, 40.0]));
    assert_eq!((amax, column), ([40.0], [40.0]));
}

/// A scattered D, and a D of any strides, have results at the places of their elements.
#[test]
fn matrices_beside_a_scattered_d_are_scattered() {
    falchion::epilogue! { struct Stores = aux1:f32 = acc; row_amax(aux1) + 0.5 }
    let gemm = Gemm::<f32>::new().epilogue::<Stores>();
    let (a, b, list) = ([1.0f32, -2.0], [1.0f32, 10.0], [2u32, 0]);
    let (mut d, mut aux, mut rows) = ([0.0f32; 6], [7.0f32; 6], [0.0f32; 2]);
    let call = Arguments::new((2, 2, 1), &a, &b, MatMut::new(&mut d, (3, 2)));
    let call = call.aux_out::<1>(MatMut::new(&mut aux, (3, 2))).row_amax(&mut rows);
    gemm.run(call.scatter_d(&list)).expect("a result");
    assert_eq!(d, [-1.5, -19.5, 0.0, 0.0, 1.5, 10.5]);
    assert_eq!((aux, rows), ([-2.0, -20.0, 7.0, 7.0, 1.0, 10.0], [10.0, 20.0]));
    let (mut d, mut aux) = ([0.0f32; 8], [7.0f32; 5]);
    let call = Arguments::new((2, 2, 1), &a, &b, MatMut::new(&mut d, (2, 2)).strides(1, 5));
    let call = call.aux_out::<1>(MatMut::new(&mut aux, (2, 2)).strides(3, 1));
    gemm.run(call.row_amax(&mut rows)).expect("a result");
    assert_eq!((d[0], d[1], d[5], d[6]), (1.5, -1.5, 10.5, -19.5));
    assert_eq!(aux, [1.0, 10.0, 7.0, -2.0, -20.0]);
}

/// NaN in a value makes its maximum NaN.
#[test]
fn maxima_are_nan_if_a_value_is_nan() {
    falchion::epilogue! { struct Largest = row_amax(acc) }
    let (a, mut d, mut rows) = ([1.0f32, f32::NAN, -7.0], [0.0f32; 3], [0.0f32; 3]);
    let call = Arguments::new((3, 1, 1), &a, &[1.0f32], &mut d).row_amax(&mut rows);
    Gemm::<f32>::new().epilogue::<Largest>().run(call).expect("a result");
    assert!(rows[0] == 1.0 && rows[1].is_nan() && rows[2] == 7.0);
}

/// A view of a maximum has one row and one column.
#[test]
fn a_view_receives_the_maximum() {
    falchion::epilogue! { struct Largest = amax(row_amax(acc)) }
    let (x, mut d, mut amax, mut rows) = ([1.0f32, -3.0], [0.0f32; 4], [0.0f32], [0.0f32; 2]);
    let call = Arguments::new((2, 2, 1), &x, &x, &mut d).amax(MatMut::new(&mut amax, (1, 1)));
    let call = call.row_amax(MatMut::new(&mut rows, (2, 1)));
    Gemm::<f32>::new().epilogue::<Largest>().run(call).expect("a result");
    assert_eq!((amax, rows), ([9.0], [3.0, 9.0]));
}

/// Missing, short, unwritten, and misplaced results are refused by name.
#[test]
fn wrong_results_are_refused_by_name() {
    falchion::epilogue! { struct Stores = aux1 = acc; amax(aux1) + bias_n }
    let gemm = Gemm::<f32>::new().epilogue::<Stores>();
    let (x, mut d, mut aux, mut amax) = ([1.0f32; 4], [0.0f32; 4], [0.0f32; 4], [0.0f32]);
    let mut vector = [0.0f32; 2];
    macro_rules! told {
        ($($setter:tt)*) => {
            gemm.run(Arguments::new((2, 2, 2), &x, &x, &mut d).bias_n(&x[..2])$($setter)*)
                .expect_err("refused")
                .to_string()
        };
    }
    assert_eq!(told!(.amax(&mut amax)), "aux1 is missing (the kernel writes it)");
    assert_eq!(
        told!(.amax(&mut amax).aux_out::<1>(&mut aux[..3])),
        "length of aux1 = 3 elements is less than 4 elements"
    );
    assert_eq!(
        told!(.amax(&mut amax[..0]).aux_out::<1>(&mut aux)),
        "length of amax = 0 elements is less than 1 element"
    );
    assert_eq!(
        told!(.amax(&mut amax).aux::<1>(&aux)),
        "aux1 is not read by the epilogue; pass it as a result"
    );
    assert_eq!(
        told!(.row_amax(&mut vector)),
        "row_amax is not written by the epilogue; write it in the epilogue, or do not pass it"
    );
    assert_eq!(
        told!(.amax(&mut amax).aux_out::<1>(MatMut::new(&mut aux, (2, 2)).strides(1, 1))),
        "strides of aux1 = 1 and 1 place two elements at one address; let one stride exceed the reach of the other"
    );
    for (text, because) in [
        ("aux1 = acc; aux1 = aux1; acc", "an operand that is written twice"),
        ("aux1 + (aux1 = acc)", "an operand that is written twice, or read and written"),
        ("c = acc; c", "the name of a value is not a number"),
        ("amax + acc", "`(` was expected here"),
    ] {
        let told = text.parse::<EpilogueDesc>().expect_err(text).to_string();
        assert!(told.contains(because), "{text}: {told}");
    }
}
