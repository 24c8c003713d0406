//! Slices of another element type than the operand's.

use falchion::prelude::*;

fn main() {
    let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new();
    let half = Gemm::<F16, RowMajor, F16, RowMajor, F16, RowMajor>::new();
    let (x, mut d) = (vec![1.0f32; 4], vec![0.0f32; 4]);
    let (wide, mut written) = (vec![1.0f64; 4], vec![0.0f64; 4]);
    let _ = gemm.run(Arguments::new((2, 2, 2), &wide, &x, &mut d));
    let _ = gemm.run(Arguments::new((2, 2, 2), &x, &wide[..], &mut d));
    let _ = gemm.run(Arguments::new((2, 2, 2), &x, &x, &mut d).source(1.0, &wide));
    let _ = gemm.run(Arguments::new((2, 2, 2), &x, &x, &mut written));
    let _ = gemm.run(Arguments::new((2, 2, 2), &x, &x, &mut d).bias_m(&["1"; 2]));
    let arguments = Arguments::new((2, 2, 2), &x, &wide, &mut d);
    let _ = half.run(arguments);
    let _ = Transpose::<f32>::new().run(Arguments::transpose((2, 2), &wide, &mut d));
}
