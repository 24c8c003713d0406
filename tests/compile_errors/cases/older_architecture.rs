//! Tensor cores of an architecture that has no kernel for them.

use falchion::prelude::*;

const _: GemmDesc =
    Gemm::<F16, RowMajor, F16, ColMajor, F16, RowMajor, f32, TensorOp, Sm70>::checked();

fn main() {}
