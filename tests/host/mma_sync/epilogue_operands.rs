//! Operands of the epilogues of `mma.sync` kernels, which alone narrow integers to f16.

use crate::harness::prelude::*;

/// A vector of f32 keeps numbers that D's type cannot represent.
#[test]
fn a_vector_of_f32_scales_integers() {
    type Scale = EpilogueTree<Multiply<Acc, ScaleN<f32>>>;
    let gemm = Gemm::<i8, RowMajor, i8, RowMajor, F16>::new().with::<Scale>();
    let (a, b, mut d) = ([100i8; 2], [100i8, 50, 100, 50], [F16::ZERO; 2]);
    gemm.run(Arguments::new((1, 2, 2), &a, &b, &mut d).scale_n(&[1e-8f32, 2e-8]))
        .expect("a result");
    assert_eq!(d, [F16::from_f32(2e-4), F16::from_f32(2e-4)]);
}
