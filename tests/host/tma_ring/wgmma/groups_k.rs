//! Groups along K of kernels with `wgmma`.

use crate::harness::prelude::*;

type Weights = Gemm<Bf16, ColMajor, Bf16, RowMajor, f32, RowMajor, f32, TensorOp, Sm90>;

/// The k-tiles of a group begin at whole vectors of each operand that the kernel reads along K.
#[test]
fn k_tiles_of_groups_begin_at_vectors_along_k() {
    type Bytes = Gemm<i8, RowMajor, i8, ColMajor, i32, RowMajor, i32, TensorOp, Sm90>;
    type Mixed = Gemm<Bf16, RowMajor, Bf16, RowMajor, f32, RowMajor, f32, TensorOp, Sm90>;
    let steps = [Weights::DESC, Bytes::DESC, Mixed::DESC].map(|desc| {
        let grouped = desc.for_groups(Axis::K);
        assert_eq!((grouped.check(), desc.group_step()), (Ok(()), 1));
        grouped.group_step()
    });
    assert_eq!(steps, [1, 16, 8]);
    let orders = [Weights::DESC, HopperColumns::<Bf16, f32>::DESC];
    assert!(orders.iter().all(|desc| desc.for_groups(Axis::K).work.mode.name() == "grouped-k"));
}

#[test]
fn emulated_groups_along_k_are_refused() {
    let emulated = described(
        ["f32:col", "f32:row", "f32:row"],
        (OpKind::TensorOp, ArchKind::Sm90),
        &[("emulation", "bf16x3")],
    );
    assert_eq!(
        emulated.for_groups(Axis::K).check().message(),
        "emulation = bf16x3 is not supported by groups along K, because the k-tiles of a term cover all groups; use exact f32 (op simt), or tf32"
    );
}
