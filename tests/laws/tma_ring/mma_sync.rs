//! The pair of the TMA ring and `mma.sync`, which has kernels only for f64.

use super::super::mma_sync::kernels::refused;
use crate::harness::prelude::*;

#[test]
fn a_ring_feeds_mma_sync_only_for_f64() {
    let pins = [("mainloop", MainloopKind::TmaRing.name())];
    let units = (OpKind::TensorOp, ArchKind::Sm90);
    let desc = described(["f64:row", "f64:col", "f64:row"], units, &pins);
    assert_eq!((desc.check(), desc.mma.kind()), (Ok(()), WarpMmaKind::MmaSync));
    let bf16 = element_types(ElementKind::Bf16, ElementKind::F32, ElementKind::Bf16);
    let other = default_of(units.0, units.1, bf16, [Order::Row, Order::Col, Order::Row]);
    let refusal = GemmDesc { mma: desc.mma, ..other }.check().expect_err("no kernel").to_string();
    assert!(refusal.contains(desc.mma.kind().name()), "{refusal}");
}

#[test]
fn emulation_in_registers_is_refused_by_the_ring() {
    let (f32, nearest) = (ElementKind::F32, MULTISTAGE_OR_OTHER[0]);
    let knobs = [("emulation", "tf32x3"), ("mainloop", "warpspecialized")];
    assert_eq!(
        refused(ArchKind::Sm90, (f32, f32, f32), &knobs),
        format!(
            "emulation = tf32x3 is not supported by the warpspecialized main loop; try mainloop = {nearest}, or emulation = bf16x6; no kernel was found with this mainloop and this emulation"
        )
    );
}
