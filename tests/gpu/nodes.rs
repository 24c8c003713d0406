//! User functions in epilogues on a device use the math type of the epilogue.

use crate::harness::prelude::*;

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_function_of_f64_computes_in_f64_on_a_device() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    let (m, n, k) = (33, 17, 5);
    let mut random = Random::new(12);
    let mut numbers = |count: usize| -> Vec<f64> {
        (0..count).map(|_| random.below(1 << 30) as f64 / f64::from(1 << 29) - 1.0).collect()
    };
    let (a, b, mut want) = (numbers(m * k), numbers(k * n), vec![f64::NAN; m * n]);
    let gemm = Gemm::<f64, RowMajor, f64, RowMajor, f64, RowMajor, f64, Simt>::new()
        .with::<EpilogueTree<Apply<NearSquare, LinearCombination>>>();
    gemm.run(Arguments::new((m, n, k), &a, &b, &mut want)).expect("the host computes it");
    let [a, b, mut d] = [a, b, vec![f64::NAN; m * n]].map(|x| stream.clone_htod(&x).unwrap());
    gemm.run(Arguments::new((m, n, k), &a, &b, &mut d)).expect("a product");
    let mut beyond_f32 = 0;
    for (got, want) in stream.clone_dtoh(&d).unwrap().into_iter().zip(want) {
        assert_eq!(got.to_bits(), want.to_bits(), "{got:e} {want:e}");
        beyond_f32 += usize::from(got != f64::from(got as f32));
    }
    assert!(beyond_f32 > m * n / 2, "{beyond_f32} numbers that f32 cannot represent");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn an_integer_gemm_applies_an_f64_function_on_a_device() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    let (m, n, k) = (31, 19, 7);
    let mut random = Random::new(13);
    let mut numbers = |count: usize| -> Vec<i32> {
        (0..count).map(|_| random.below(30_001) as i32 - 15_000).collect()
    };
    let (a, b, mut want) = (numbers(m * k), numbers(k * n), vec![i32::MIN; m * n]);
    let gemm = Gemm::<i32, RowMajor, i32, RowMajor, i32, RowMajor, i32, Simt>::new()
        .with::<EpilogueTree<Apply<HalvedInBoth, LinearCombination>>>();
    gemm.run(Arguments::new((m, n, k), &a, &b, &mut want)).expect("the host computes it");
    let sum = |at: usize| {
        (0..k)
            .map(|x| a[at / n * k + x].wrapping_mul(b[x * n + at % n]))
            .fold(0i32, i32::wrapping_add)
    };
    assert!(
        (0..m * n).all(|at| f64::from(want[at]) == (0.5 * f64::from(sum(at))).round_ties_even())
    );
    let (a, b, mut d) = (
        stream.clone_htod(&a).unwrap(),
        stream.clone_htod(&b).unwrap(),
        stream.clone_htod(&vec![7; m * n]).unwrap(),
    );
    gemm.run(Arguments::new((m, n, k), &a, &b, &mut d)).expect("a product");
    assert_eq!(stream.clone_dtoh(&d).unwrap(), want);
}
