//! Host slices beside slices of a device, and slices that are not borrowed.

use cudarc::driver::CudaSlice;
use falchion::prelude::*;

fn run(a: &CudaSlice<f32>, on_device: &mut CudaSlice<f32>, b: Vec<f32>, d: &mut [f32]) {
    let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new();
    let _ = gemm.run(Arguments::new((2, 2, 2), a, &b, d));
    let _ = gemm.run(Arguments::new((2, 2, 2), &b, &b, on_device));
    let _ = gemm.run(Arguments::new((2, 2, 2), &b, b, d));
}

fn main() {}
