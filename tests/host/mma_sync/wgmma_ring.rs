//! Knobs of `mma.sync` kernels that `wgmma` kernels do not have.

use crate::{harness::prelude::*, tma_ring::transform_refusals::check_refusals};

#[test]
fn tma_rings_refuse_a_transform_by_name() {
    check_refusals(OpKind::TensorOp);
}
