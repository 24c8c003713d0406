//! Batches of SIMT kernels.

use super::super::batches::{compare, compare_in, small_batches, wrong_units_are_found};
use crate::harness::prelude::*;

type Floats<LC> = Gemm<f32, RowMajor, f32, ColMajor, f32, LC>;
type Integers = Gemm<i8, ColMajor, i8, RowMajor, i32, RowMajor>;

#[test]
fn each_gemm_of_a_batch_has_the_bits_of_a_separate_gemm() {
    let with_vectors = Floats::<ColMajor>::new().epilogue::<WithVectors>().desc();
    compare::<f32, f32, f32>(&Floats::<RowMajor>::DESC, (130, 5, 9));
    compare::<f32, f32, f32>(&with_vectors, (7, 129, 17));
    compare::<i8, i8, i32>(&Integers::DESC, (3, 131, 33));
}

/// Batches of small GEMMs whose tiles several threads compute.
#[test]
fn batches_of_small_gemms_have_the_bits_of_separate_gemms() {
    let with_vectors = Floats::<ColMajor>::new().epilogue::<WithVectors>().desc();
    for call in small_batches() {
        for desc in [Floats::<RowMajor>::DESC, with_vectors] {
            compare_in::<f32, f32, f32>(&[Mode::Fast], &desc, call);
        }
    }
}

#[test]
fn wrong_units_of_a_batch_are_found() {
    wrong_units_are_found::<f32>(&Floats::<RowMajor>::DESC);
}
