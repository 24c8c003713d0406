//! The knob `l2_promotion` of kernels with `wgmma`: their tensor maps, and the leaves.

use crate::{
    harness::{descriptions::tma_ring, prelude::*},
    tma_ring::l2_promotion::mapped,
};
use falchion::nest::{L2Promotion64, L2Promotion128, L2Promotion256, NoL2Promotion};

/// C and D also have tensor maps.
#[test]
fn every_matrix_of_a_wgmma_kernel_has_an_l2_promotion() {
    let desc = tma_ring::wgmma::plain([Row, Col, Row]);
    assert!(mapped(&desc).iter().all(Option::is_some));
}

#[test]
fn leaves_pin_the_l2_promotion() {
    fn pinned<L: falchion::nest::Leaf>() -> Option<L2PromotionKind> {
        type Of<L> = Gemm<
            Bf16,
            RowMajor,
            Bf16,
            ColMajor,
            Bf16,
            RowMajor,
            f32,
            TensorOp,
            Sm90,
            With<Auto, L>,
        >;
        Of::<L>::DESC.pins().l2_promotion
    }
    let all = [
        pinned::<NoL2Promotion>(),
        pinned::<L2Promotion64>(),
        pinned::<L2Promotion128>(),
        pinned::<L2Promotion256>(),
    ];
    assert_eq!(all, L2PromotionKind::ALL.map(Some));
}
