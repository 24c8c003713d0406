//! A type that pins no knob.

use falchion::prelude::*;

fn main() {
    Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new().with::<GemmShape<128, 128, 8>>();
}
