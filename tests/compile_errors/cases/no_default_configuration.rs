//! Types that the units do not multiply.

use falchion::prelude::*;

const _: GemmDesc =
    Gemm::<i32, RowMajor, i32, RowMajor, i32, RowMajor, i32, TensorOp, Sm80>::checked();

fn main() {}
