//! Batches of `mma.sync` kernels.

use super::super::batches::{compare, wrong_units_are_found};
use crate::harness::{prelude::*, product::small};

/// `mma.sync` kernels by `ldmatrix` and element by element, with sliced K.
#[test]
fn mma_sync_batches_have_the_bits_of_separate_gemms() {
    type Halves<LC> = KMajor<F16, F16, LC, f32, TensorOp, Sm80>;
    type Bytes = KMajor<i8, i8, RowMajor, i32, TensorOp, Sm80>;
    type Doubles<LC> = Gemm<f64, ColMajor, f64, ColMajor, f64, LC, f64, TensorOp, Sm90>;
    compare::<F16, F16, F16>(&small(Halves::<RowMajor>::DESC), (130, 5, 33));
    compare::<F16, F16, F16>(
        &small(Halves::<ColMajor>::new().epilogue::<WithVectors>().desc()),
        (7, 129, 40),
    );
    compare::<i8, i8, i8>(&small(Bytes::DESC), (3, 131, 66));
    compare::<f64, f64, f64>(&small(Doubles::<RowMajor>::DESC), (33, 7, 19));
    compare::<f64, f64, f64>(
        &small(Doubles::<ColMajor>::new().epilogue::<WithVectors>().desc()).cut(2),
        (5, 65, 40),
    );
}

#[test]
fn wrong_units_of_a_batch_are_found() {
    wrong_units_are_found::<Bf16>(&KMajor::<Bf16, f32, RowMajor, f32, TensorOp, Sm80>::DESC);
}
