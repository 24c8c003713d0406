//! Batches of `mma.sync` kernels with the pipelined main loop, the only one of Turing.

use super::super::batches::compare;
use crate::harness::{prelude::*, product::small};

/// `mma.sync` kernels of Turing, which copy through registers: MN-major operands by transposed
/// `ldmatrix`, and bytes one by one.
#[test]
fn mma_sync_batches_of_turing_have_the_bits_of_separate_gemms() {
    type Transposed = MnMajor<F16, f32, ColMajor, f32, TensorOp, Sm75>;
    type BytesApart = MnMajor<u8, i32, RowMajor, i32, TensorOp, Sm75>;
    compare::<F16, F16, f32>(&small(Transposed::DESC), (9, 67, 35));
    compare::<u8, u8, i32>(&small(BytesApart::DESC), (66, 3, 17));
}
