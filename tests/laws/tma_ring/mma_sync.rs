//! The pair of the TMA ring and `mma.sync`, which has kernels only for f64.

use crate::harness::prelude::*;

#[test]
fn a_ring_feeds_mma_sync_only_for_f64() {
    let pins = [("mainloop", MainloopKind::TmaRing.name())];
    let units = (OpKind::TensorOp, ArchKind::Sm90);
    let desc = described(["f64:row", "f64:col", "f64:row"], units, &pins);
    assert_eq!((desc.check(), desc.mma.kind()), (Ok(()), WarpMmaKind::MmaSync));
    let pins = [("mainloop", MULTISTAGE_OR_OTHER[0].name())];
    let other = described(["bf16:row", "bf16:col", "bf16:row"], units, &pins);
    assert_eq!(other.mma.kind(), WarpMmaKind::MmaSync);
    let (mainloop, mma) = (desc.mainloop, desc.mma);
    let refusal = GemmDesc { mainloop, mma, ..other }.check().expect_err("no kernel").to_string();
    assert!(refusal.contains(desc.mma.kind().name()), "{refusal}");
}
