//! The default of `f32`, a SIMT kernel with the multistage main loop.

use crate::harness::prelude::*;

#[test]
fn an_operator_is_named_after_its_configuration() {
    let gemm = Gemm::<f32, RowMajor, f32, ColMajor, f32, RowMajor>::new();
    assert_eq!(gemm.desc().to_string(), "256x128x8_64x64x8_s4_b1_1");
}
