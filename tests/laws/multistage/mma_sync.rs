//! Stages and warp tiles of `mma.sync` kernels with the multistage main loop.

use super::super::mma_sync::kernels::refused;
use crate::harness::prelude::*;
use falchion::numeric::ElementKind::{F16, F32};

#[test]
fn too_many_stages_are_refused() {
    let knobs = [("stages", "9"), ("threadblock", "128x128x32")];
    assert_eq!(
        refused(ArchKind::Sm86, (F16, F32, F16), &knobs),
        "shared memory of a block = 147456 bytes exceeds 101376 bytes (9 stages of 16384; sm_86 with 1 block per multiprocessor); try stages = 6; no kernel was found with this threadblock and this stages"
    );
}

/// If an operand is MN-major, the warp tile is a power of two along it. If it is K-major, the warp
/// tile is a multiple of 16.
#[test]
fn warp_tiles_of_48_rows_need_k_major_operands() {
    let types = element_types(F16, F32, F16);
    let knobs =
        default_gemm_configurations(OpKind::TensorOp, ArchKind::Sm80, types).expect("a row")[1];
    let of = |a, b, block, warp| {
        let desc = GemmDesc::from_values(
            OpKind::TensorOp,
            ArchKind::Sm80,
            types,
            [a, b, Order::Row],
            knobs,
        );
        desc.pinned(Pins { threadblock: Some(block), warp: Some(warp), ..Pins::NONE })
            .check()
            .map_err(|refusal| refusal.to_string())
    };
    let (row, col) = (Order::Row, Order::Col);
    for (block, warp) in [
        ((96, 128), (48, 64)),
        ((128, 96), (64, 48)),
        ((192, 96), (96, 48)),
        ((112, 80), (112, 16)),
    ] {
        let [block, warp] = [block, warp].map(|(m, n)| Mnk::new(m, n, 32));
        assert_eq!(of(row, col, block, warp), Ok(()));
        let refused = of(col, row, block, warp).expect_err("operands lie along M and N");
        assert!(
            refused.starts_with("warp ")
                && refused.contains("is not one of 8, 16, 32, 64, 128; try "),
            "{refused}"
        );
    }
}
