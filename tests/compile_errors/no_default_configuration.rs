//! Types and units that the default table has no row for.

use falchion::prelude::*;

fn main() {
    Gemm::<f64, RowMajor, f64, RowMajor, f64, RowMajor, f64, TensorOp, Sm80>::new();
}
