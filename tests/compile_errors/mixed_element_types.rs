//! A and B of different types.

use falchion::prelude::*;

const _: GemmDesc = Gemm::<f32, RowMajor, F16, RowMajor, f32, RowMajor>::DESC;

fn main() {}
