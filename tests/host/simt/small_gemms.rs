//! Host time of a small GEMM on CUDA cores after the first call.

use super::super::small_gemms::least;
use crate::harness::prelude::*;

/// A 64^3 GEMM after the first call takes less than 0.2 ms on CUDA cores, because the results of
/// its description are cached.
#[test]
fn a_repeated_gemm_of_64_is_fast() {
    const N: usize = 64;
    let limit = Duration::from_micros(200);
    let (a, b, mut d) = (vec![1.0f32; N * N], vec![2.0f32; N * N], vec![0.0f32; N * N]);
    let gemm = Gemm::<f32, ColMajor, f32, ColMajor, f32, ColMajor>::new();
    let time = least(limit, || gemm.run(Arguments::new((N, N, N), &a, &b, &mut d)).unwrap());
    assert!(d.iter().all(|&x| x == 128.0));
    println!("64 x 64 x 64 after the first: {time:?} on CUDA cores");
    assert!(time < limit, "{time:?}");
}
