//! Pointer arrays of SIMT kernels.

use super::*;

type Floats<LC> = Gemm<f32, RowMajor, f32, ColMajor, f32, LC>;
type Integers = Gemm<i8, ColMajor, i8, RowMajor, i32, RowMajor>;

/// With and without split-K.
#[test]
fn simt_arrays_have_the_bits_of_separate_calls() {
    let with_vectors = Floats::<ColMajor>::new().epilogue::<WithVectors>().desc();
    compare::<f32, f32>(&Floats::<RowMajor>::DESC, (130, 5, 9), 3);
    compare::<f32, f32>(&with_vectors, (7, 129, 17), 2);
    compare::<f32, f32>(&Floats::<RowMajor>::DESC.cut(2), (5, 9, 40), 3);
    compare::<i8, i32>(&Integers::DESC, (3, 131, 33), 4);
}

#[test]
fn mutated_addresses_of_simt_kernels_are_found() {
    mutated_addresses_are_found::<f32>(&Floats::<RowMajor>::DESC);
}
