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

/// A function whose host part differs from its CUDA text by one unit in the last place of 2.
struct Rounded;

impl Function for Rounded {
    const NAME: &'static str = "rounded";
    const CUDA: &'static str = "x == 2.0f ? 2.0000002f : x / (1.0f + fabsf(x))";
    fn host(x: f32) -> f32 {
        if x == 2.0 { x } else { x / (1.0 + x.abs()) }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_host_function_that_disagrees_with_its_text_is_found() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    let mut random = Random::new(14);
    let mut inputs: Vec<f32> =
        (0..10_000).map(|_| f32::from_bits(random.below(1 << 32) as u32)).collect();
    inputs.retain(|x| *x != 2.0);
    inputs.extend([-0.0, f32::NAN, f32::INFINITY, 1e-45]);
    let equal = Cuda::first_difference::<Rounded>(&stream, &inputs).expect("a comparison");
    assert_eq!(equal, None);
    inputs[77] = 2.0;
    let found = Cuda::first_difference::<Rounded>(&stream, &inputs).expect("a comparison");
    assert_eq!(found, Some((2.0, [2.0, 2.000_000_2])));
    assert_eq!(Cuda::first_difference::<Rounded>(&stream, &[]).expect("a comparison"), None);
}
