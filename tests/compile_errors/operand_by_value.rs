//! A matrix that is given away where a reference is taken.

use falchion::prelude::*;

fn main() {
    let (a, b, mut d) = (vec![1.0f32; 4], vec![1.0f32; 4], vec![0.0f32; 4]);
    let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new();
    let _ = gemm.run(Arguments::new((2, 2, 2), a, &b, &mut d));
}
