//! Host time of a small GEMM after the first call.

use crate::harness::prelude::*;
use falchion::arch::TensorOp;

/// Returns the minimum time of a call. Repeats until one call is below the limit, for at most ten
/// seconds.
pub(super) fn least(limit: Duration, mut call: impl FnMut()) -> Duration {
    call();
    let (begun, mut least) = (Instant::now(), Duration::MAX);
    while least >= limit && begun.elapsed() < Duration::from_secs(10) {
        let begun = Instant::now();
        call();
        least = least.min(begun.elapsed());
    }
    least
}

/// A 64^3 GEMM on tensor cores takes less than 2 ms after the first call. The host computes the
/// steps of tensor cores one by one, so they take longer than CUDA cores.
#[test]
fn a_repeated_gemm_of_64_is_fast() {
    const N: usize = 64;
    let limit = Duration::from_millis(2);
    let (a, b, mut d) = (
        vec![Bf16::from_f32(1.0); N * N],
        vec![Bf16::from_f32(2.0); N * N],
        vec![Bf16::ZERO; N * N],
    );
    let gemm = Gemm::<Bf16, RowMajor, Bf16, ColMajor, Bf16, RowMajor, f32, TensorOp>::new();
    let time = least(limit, || gemm.run(Arguments::new((N, N, N), &a, &b, &mut d)).unwrap());
    assert!(d.iter().all(|&x| x.to_f32() == 128.0));
    println!("64 x 64 x 64 after the first: {time:?} on tensor cores");
    assert!(time < limit, "{time:?}");
}
