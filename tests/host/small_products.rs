//! What a small product costs on the host once its kernel is known.

use crate::harness::prelude::*;
use falchion::arch::TensorOp;

/// The least time of a call after the first, over as many as it takes to see one below the limit on
/// a busy machine, for ten seconds at the most.
fn least(limit: Duration, mut call: impl FnMut()) -> Duration {
    call();
    let (begun, mut least) = (Instant::now(), Duration::MAX);
    while least >= limit && begun.elapsed() < Duration::from_secs(10) {
        let begun = Instant::now();
        call();
        least = least.min(begun.elapsed());
    }
    least
}

/// A product of 64^3 after the first takes less than 0.2 ms on CUDA cores: what follows from its
/// description is remembered. The steps of tensor cores are computed one by one, and take longer.
#[test]
fn a_product_of_64_takes_little_after_the_first() {
    const N: usize = 64;
    let (of_threads, of_tensor_cores) = (Duration::from_micros(200), Duration::from_millis(2));
    let (a, b, mut d) = (vec![1.0f32; N * N], vec![2.0f32; N * N], vec![0.0f32; N * N]);
    let gemm = Gemm::<f32, ColMajor, f32, ColMajor, f32, ColMajor>::new();
    let simt = least(of_threads, || gemm.run(Arguments::new((N, N, N), &a, &b, &mut d)).unwrap());
    assert!(d.iter().all(|&x| x == 128.0));
    let (a, b, mut d) = (
        vec![Bf16::from_f32(1.0); N * N],
        vec![Bf16::from_f32(2.0); N * N],
        vec![Bf16::ZERO; N * N],
    );
    let gemm = Gemm::<Bf16, RowMajor, Bf16, ColMajor, Bf16, RowMajor, f32, TensorOp>::new();
    let tensor =
        least(of_tensor_cores, || gemm.run(Arguments::new((N, N, N), &a, &b, &mut d)).unwrap());
    assert!(d.iter().all(|&x| x.to_f32() == 128.0));
    println!("64 x 64 x 64 after the first: {simt:?} on CUDA cores, {tensor:?} on tensor cores");
    assert!(simt < of_threads && tensor < of_tensor_cores, "{simt:?}, {tensor:?}");
}
