//! `mma.sync` kernels with the pipelined main loop, the only one of Turing.

mod multistage;
mod wgmma_ring;

use super::super::mma_sync::kernels::refused;
use crate::harness::prelude::*;
use falchion::numeric::ElementKind::{F16, F32};

#[test]
fn stages_and_instructions_that_turing_lacks_are_refused() {
    let halves = (F16, F32, F16);
    #[rustfmt::skip]
    let table = [
        (ArchKind::Sm75, halves, &[("instruction", "16x8x16")][..], "instruction K = 16 is not one of 8; try 8; no kernel was found with this instruction"),
    ];
    for (arch, types, knobs, wanted) in table {
        assert_eq!(refused(arch, types, knobs), wanted);
    }
}

/// The default configurations of `mma.sync` have enough registers for accesses of single elements,
/// some of them with smaller tiles.
#[test]
fn configurations_of_mma_sync_have_registers_for_single_elements() {
    let mut smaller = 0;
    for arch in ARCHS {
        for &types in TENSOR_OP_COMBINATIONS {
            let all =
                default_gemm_configurations(OpKind::TensorOp, arch, types).unwrap_or_default();
            for &knobs in all.iter().filter(|knobs| knobs.mma.kind() == WarpMmaKind::MmaSync) {
                for orders in [
                    [Order::Row, Order::Col, Order::Row],
                    [Order::Row; 3],
                    [Order::Col, Order::Row, Order::Row],
                ] {
                    let desc = GemmDesc::from_values(OpKind::TensorOp, arch, types, orders, knobs);
                    if desc.check().is_ok() {
                        let narrow = desc.narrowed([1; 3]);
                        assert_eq!(narrow.check(), Ok(()), "{desc:?}");
                        smaller += usize::from(narrow.threadblock() != desc.threadblock());
                    }
                }
            }
        }
    }
    assert!(smaller > 0);
}
