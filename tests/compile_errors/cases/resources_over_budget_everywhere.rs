//! A tile without a kernel. The resolver tries many warp tiles, instructions, and accesses.

use falchion::prelude::*;

type Deep = With<Auto, Threadblock<GemmShape<128, 128, 128>>>;
const _: GemmDesc =
    Gemm::<i8, ColMajor, i8, RowMajor, i32, RowMajor, i32, TensorOp, Sm75, Deep>::checked();

fn main() {}
