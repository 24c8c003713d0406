//! Pointer arrays of `mma.sync` kernels.

use super::super::arrays::{self, compare};
use crate::harness::{prelude::*, product::small};

#[test]
fn each_gemm_of_an_array_has_the_bits_of_a_separate_call() {
    type Halves<LC> = KMajor<F16, F16, LC, f32, TensorOp, Sm80>;
    type Doubles = Gemm<f64, ColMajor, f64, ColMajor, f64, RowMajor, f64, TensorOp, Sm90>;
    compare::<F16, F16>(&small(Halves::<RowMajor>::DESC), (130, 5, 33), 2);
    let with_vectors = Halves::<ColMajor>::new().epilogue::<WithVectors>().desc();
    compare::<F16, F16>(&small(with_vectors), (7, 129, 40), 3);
    compare::<f64, f64>(&small(Doubles::DESC), (33, 7, 19), 3);
}

#[test]
fn mutated_addresses_are_found() {
    type Ampere = KMajor<Bf16, f32, RowMajor, f32, TensorOp, Sm80>;
    arrays::mutated_addresses_are_found::<Bf16>(&small(Ampere::DESC));
}
