//! On Hopper, `mma.sync` kernels compute what `wgmma` kernels do not.

use super::kernels::refused;
use crate::harness::prelude::*;
use falchion::numeric::ElementKind::{Bf16, F16, *};

/// On Hopper, only `mma.sync` kernels convert integer accumulators to narrow types.
#[test]
fn int_accumulators_narrow_only_with_mma_sync() {
    for (ab, c) in [(I8, I8), (I8, F16), (I8, F32), (U8, U8)] {
        let types = element_types(ab, I32, c);
        let sums = default_gemm_configurations(
            OpKind::TensorOp,
            ArchKind::Sm90,
            Combined { c: I32, ..types },
        )
        .expect("a row");
        let orders = [Order::Row, Order::Col, Order::Row];
        let refusal =
            GemmDesc::from_values(OpKind::TensorOp, ArchKind::Sm90, types, orders, sums[0])
                .check()
                .expect_err("not stored by TMA");
        let sentence = refusal.to_string();
        let nearest = MULTISTAGE_OR_OTHER[0].name();
        assert!(sentence.contains(nearest), "{sentence}");
        let sentence = refused(ArchKind::Sm90, (ab, I32, c), &[("mainloop", "warpspecialized")]);
        assert!(sentence.contains("warpspecialized") && sentence.contains(nearest), "{sentence}");
    }
}

/// On Hopper, 16-bit GEMMs are warp-specialized by default.
#[test]
fn kernels_of_16_bits_on_hopper_are_warp_specialized_by_default() {
    let types = element_types(Bf16, F32, Bf16);
    let resolved = |knobs: &[(&str, &str)]| {
        let orders = [Order::Row, Order::Col, Order::Row];
        let request = request_of(OpKind::TensorOp, types, orders, knobs);
        request.resolve(ArchKind::Sm90).expect("a kernel").desc
    };
    assert!(resolved(&[]).has_producer());
    let halves = element_types(F16, F32, F16);
    let halves = default_gemm_configurations(OpKind::TensorOp, ArchKind::Sm90, halves);
    assert!(halves.expect("a row")[0].has_producer());
    assert!(resolved(&[("instruction", "64x128x16")]).has_producer());
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

#[test]
fn emulation_by_a_pass_is_refused_by_mma_sync() {
    assert_eq!(
        refused(ArchKind::Sm80, (F32, F32, F32), &[("emulation", "bf16x6")]),
        "emulation = bf16x6 is not supported by mma.sync kernels; try mainloop = warpspecialized on sm90, or emulation = tf32x3; no kernel was found with this emulation"
    );
}

/// The pinned kernel multiplies fp8, so it has no occupancy knob.
#[test]
fn a_knob_of_another_main_loop_is_named() {
    let a = Some(MatrixType { element: ElementKind::E4m3, order: Order::Row });
    let (op, knobs) = (Some(OpKind::TensorOp), knobs(&[("blocks_per_sm", "2")]));
    let sentence = Request { a, op, knobs, ..Request::default() }.resolve(ArchKind::Sm90).message();
    let other = MULTISTAGE_OR_OTHER[0];
    assert_eq!(
        sentence,
        format!(
            "blocks_per_sm is not a knob of the warpspecialized main loop; try mainloop = {other}"
        )
    );
}
