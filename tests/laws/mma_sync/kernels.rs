//! Valid `mma.sync` kernels. Requests that an architecture, type, or layout does not support are
//! refused with advice.

use crate::harness::{
    descriptions::{self, mma_sync::instructions},
    prelude::*,
};
use falchion::numeric::ElementKind::{self, Bf16, E4m3, F16, *};

pub(crate) fn refused(
    arch: ArchKind,
    (ab, accumulator, c): (ElementKind, ElementKind, ElementKind),
    knobs: &[(&str, &str)],
) -> String {
    let (types, orders) = (element_types(ab, accumulator, c), [Order::Row, Order::Col, Order::Row]);
    let request = request_of(OpKind::TensorOp, types, orders, knobs);
    let request = Request { arch: Some(arch), ..request };
    match request.resolve(arch) {
        Ok(resolved) => panic!("{:?}", resolved.desc),
        Err(error) => error.to_string(),
    }
}

#[test]
fn missing_instructions_are_refused_with_supported_ones() {
    let (f64s, halves) = ((F64, F64, F64), (F16, F32, F16));
    #[rustfmt::skip]
    let table = [
        (ArchKind::Sm80, f64s, &[("instruction", "16x8x8")][..], "instruction M = 16 is not one of 8; try 8; no kernel was found with this instruction"),
        (ArchKind::Sm90, f64s, &[("instruction", "16x16x8")], "instruction N = 16 is not one of 8; try 8; no kernel was found with this instruction"),
        (ArchKind::Sm90, f64s, &[("instruction", "16x8x12")], "instruction K = 12 is not one of 16, 8, 4; try 16; no kernel was found with this instruction"),
        (ArchKind::Sm80, halves, &[("align_b", "3")], "align_b = 3 is not one of 1, 2, 4, 8; try 4; no kernel was found with this align_b"),
        (ArchKind::Sm80, halves, &[("warp", "40x64x32")], "warp M = 40 is not a multiple of 16; try 48; no kernel was found with this warp"),
        (ArchKind::Sm80, halves, &[("warp", "64x144x32")], "warp N = 144 is outside 8 to 128; no kernel was found with this warp"),
        (ArchKind::Sm80, halves, &[("warp", "64x64x8"), ("instruction", "16x8x16")], "warp K = 8 is not a multiple of 16; try 16; no kernel was found with this warp and this instruction"),
        (ArchKind::Sm75, (E4m3, F32, F16), &[], "no kernel multiplies e4m3 by e4m3 accumulating in f32 into f16 on tensor cores (sm75); try arch = sm89"),
        (ArchKind::Sm80, halves, &[("emulation", "tf32x3")], "emulation = tf32x3 is not supported by f16; try none; no kernel was found with this emulation"),
        (ArchKind::Sm80, (F32, F32, F32), &[("emulation", "tf32x3"), ("saturate", "on")], "saturate = on is not supported by f32 (accumulators are not integers); try off; no kernel was found with this saturate"),
        (
            ArchKind::Sm80,
            (F32, F32, F32),
            &[("emulation", "none")],
            "emulation = none is not supported by f32 on tensor cores; try bf16x6 (all 24 bits), bf16x3 (16 bits), f16x3 (limited exponents), or tf32x3 (22 bits, mma.sync); no kernel was found with this emulation",
        ),
        (ArchKind::Sm80, (F32, F32, F32), &[("instruction", "16x8x16")], "instruction K = 16 is not one of 8, 4; try 8; no kernel was found with this instruction"),
        (ArchKind::Sm75, (F32, F32, F32), &[("emulation", "tf32x3")], "no kernel multiplies f32 by f32 accumulating in f32 into f32 on tensor cores (sm75); try arch = sm80"),
        (ArchKind::Sm80, halves, &[("saturate", "on")], "saturate = on is not supported by f32 (accumulators are not integers); try off; no kernel was found with this saturate"),
        (ArchKind::Sm90, f64s, &[("saturate", "on")], "saturate = on is not supported by f64 (accumulators are not integers); try off; no kernel was found with this saturate"),
    ];
    for (arch, types, knobs, wanted) in table {
        let sentence = refused(arch, types, knobs);
        assert_eq!(sentence, wanted);
    }
}

/// Every type combination of tensor cores has a kernel in every order of A, B, and D.
#[test]
fn every_layout_of_supported_types_has_a_kernel() {
    let mut kernels = 0;
    for arch in descriptions::ARCHS {
        for &types in falchion::nest::TENSOR_OP_COMBINATIONS {
            if default_gemm_configurations(OpKind::TensorOp, arch, types).is_err() {
                continue;
            }
            for bits in 0..8 {
                let order = |bit: u32| if bits >> bit & 1 == 1 { Order::Col } else { Order::Row };
                request_of(OpKind::TensorOp, types, [0, 1, 2].map(order), &[])
                    .resolve(arch)
                    .unwrap_or_else(|error| panic!("{arch} {types:?} {bits}: {error}"));
                kernels += 1;
            }
        }
    }
    assert!(kernels >= 600, "{kernels}");
}

/// `mma.sync` kernels convert integer accumulators to narrow types on every architecture.
#[test]
fn int_accumulators_narrow_with_mma_sync() {
    for (ab, c) in [(I8, I8), (I8, F16), (I8, F32), (U8, U8)] {
        let types = element_types(ab, I32, c);
        let first = first_tensor_cores(I8).expect("tensor cores");
        for arch in descriptions::ARCHS.into_iter().filter(|arch| *arch >= first) {
            let configurations = default_gemm_configurations(OpKind::TensorOp, arch, types)
                .unwrap_or_else(|refusal| panic!("{arch}: {refusal}"));
            assert!(
                configurations.iter().all(|knobs| knobs.mma.kind() == WarpMmaKind::MmaSync),
                "{arch} {types:?}"
            );
        }
    }
}

/// On Hopper, a pinned instruction or main loop selects `mma.sync`.
#[test]
fn pins_select_mma_sync_on_hopper() {
    let types = element_types(Bf16, F32, Bf16);
    assert_eq!(instructions(types, ArchKind::Sm90).len(), 2);
    let resolved = |knobs: &[(&str, &str)]| {
        let orders = [Order::Row, Order::Col, Order::Row];
        let request = request_of(OpKind::TensorOp, types, orders, knobs);
        request.resolve(ArchKind::Sm90).expect("a kernel").desc
    };
    for knobs in [
        [("instruction", "16x8x16")],
        [("instruction", "16x8x8")],
        [("mainloop", "multistage")],
        [("mainloop", "pipelined")],
    ] {
        assert!(resolved(&knobs).mma.kind() == WarpMmaKind::MmaSync, "{knobs:?}");
    }
}
