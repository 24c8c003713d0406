//! Inputs with overlapping rows: kernels read them in place, and TMA reads a copy.

use crate::{harness::prelude::*, run::device};
use bytemuck::Pod;
use cudarc::driver::DeviceRepr;

/// Strides of rows and of columns: repeated lines, lines one element apart, and lines of 32 bytes.
const OVERLAPPING: [[isize; 2]; 6] = [[0, 1], [1, 0], [1, 1], [2, 1], [1, 16], [16, 1]];

/// Multiplies overlapping matrices of integers, which are exact, on the device and on the host.
fn check<T>(stream: &Arc<CudaStream>, convert: fn(f32) -> T)
where
    T: Element + Pod + DeviceRepr,
{
    let host = GemmUniversal::<f32>::new();
    let gemm = GemmUniversal::<T, RowMajor, T, ColMajor, f32, RowMajor>::new();
    let numbers: Vec<f32> = (0..40_000).map(|i| ((i * 7 + i / 11) % 5) as f32 - 2.0).collect();
    let memory = numbers.iter().map(|&x| convert(x)).collect::<Vec<T>>();
    let memory = stream.clone_htod(&memory).expect("device memory");
    for (m, n, k) in [(67, 129, 250), (512, 1024, 512)] {
        for (a, b) in OVERLAPPING.iter().flat_map(|a| OVERLAPPING.map(|b| (*a, b))) {
            let mut wanted = vec![f32::NAN; m * n];
            let of_host = |shape, [down, across]: [isize; 2]| {
                MatRef::new(&numbers, shape).strides(down, across)
            };
            let of_device = |shape, [down, across]: [isize; 2]| {
                MatRef::new(&memory, shape).strides(down, across)
            };
            host.run(Arguments::new(
                (m, n, k),
                of_host((m, k), a),
                of_host((k, n), b),
                &mut wanted,
            ))
            .expect("a GEMM on the host");
            let mut d = stream.clone_htod(&vec![f32::NAN; m * n]).expect("device memory");
            let (of_a, of_b) = (of_device((m, k), a), of_device((k, n), b));
            let bytes = gemm.workspace_size(&Arguments::new((m, n, k), of_a, of_b, &mut d));
            let bytes = bytes.expect("a size") as usize;
            let mut workspace = stream.alloc_zeros::<u8>(bytes.max(1)).expect("device memory");
            gemm.run(Arguments::new((m, n, k), of_a, of_b, &mut d).workspace(&mut workspace))
                .expect("a product");
            assert!(stream.clone_dtoh(&d).expect("D") == wanted, "{m} {n} {k} {a:?} {b:?}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn lines_of_inputs_may_overlap() {
    let (_, stream) = device();
    check::<f32>(&stream, |x| x);
    check::<Bf16>(&stream, Bf16::from_f32);
}
