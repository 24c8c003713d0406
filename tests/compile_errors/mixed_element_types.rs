//! A and B of different types.

use falchion::prelude::*;

fn main() {
    Gemm::<f32, RowMajor, F16, RowMajor, f32, RowMajor>::new();
}
