//! A and B of different types; the constant is evaluated in the library, and the line that names it
//! comes second.

use falchion::prelude::*;

const _: GemmDesc = Gemm::<f32, RowMajor, F16, RowMajor, f32, RowMajor>::DESC;

fn main() {}
