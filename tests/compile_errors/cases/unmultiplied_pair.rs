//! A pair of element types that no kernel multiplies fails in `cargo check`.

use falchion::prelude::*;

fn main() {
    let _ = Gemm::<f32, RowMajor, F16>::new();
}
