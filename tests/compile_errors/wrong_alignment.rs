//! Accesses of three elements.

use falchion::{desc::WithAlignmentA, prelude::*};
use typenum::U3;

type Odd = WithAlignmentA<Auto, U3>;
const _: GemmDesc = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm80, Odd>::DESC;

fn main() {}
