//! Accesses of three elements.

use falchion::{nest::AlignmentA, prelude::*};

type Odd = With<Auto, AlignmentA<3>>;
const _: GemmDesc =
    Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm80, Odd>::checked();

fn main() {}
