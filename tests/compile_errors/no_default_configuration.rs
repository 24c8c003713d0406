//! Types that the units do not multiply.

use falchion::prelude::*;

const _: GemmDesc = Gemm::<f64, RowMajor, f64, RowMajor, f64, RowMajor, f64, TensorOp, Sm80>::checked();

fn main() {}
