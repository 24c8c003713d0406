//! Kernels with `mma.sync`.

mod machine_code;
mod ptx;

use super::{
    a_wrong_fact_is_named, all_clean,
    descriptions::{ARCHS, KernelKind, Wanted, description},
    unit_of,
};
use crate::harness::prelude::*;

const ORDERS: [[Order; 3]; 3] = [
    [Order::Row, Order::Col, Order::Row],
    [Order::Row, Order::Row, Order::Row],
    [Order::Col, Order::Row, Order::Row],
];

/// Returns the default configurations with `mma.sync` for types on an architecture.
fn configurations(arch: ArchKind, types: Combined) -> Vec<Knobs> {
    let all = default_gemm_configurations(OpKind::TensorOp, arch, types)
        .map_or(&[][..], |configurations| configurations);
    let ours = all.iter().copied().filter(|knobs| knobs.mma.kind() == WarpMmaKind::MmaSync);
    // i32 accumulators that D converts to another type are stored in that type only.
    ours.take(if types.accumulator.is_integer() && types.c != types.accumulator {
        1
    } else {
        usize::MAX
    })
    .collect()
}

/// A third of the default configurations, the same third in each run. Every configuration compiles
/// for the machines of its architecture, and those of Ampere also for Hopper. Each compiles in one
/// valid layout, and the next type uses the next layout. All configurations in all layouts would
/// take three times the time that continuous integration has.
#[test]
#[ignore = "needs NVRTC"]
fn defaults_of_mma_sync_compile_clean() {
    let mut kernels = Vec::new();
    for (a, arch) in ARCHS.into_iter().enumerate() {
        for (t, &types) in TENSOR_OP_COMBINATIONS.iter().enumerate() {
            for (f, knobs) in configurations(arch, types).into_iter().enumerate() {
                for machine in
                    if arch == ArchKind::Sm80 { vec![arch, ArchKind::Sm90] } else { vec![arch] }
                {
                    let all = ORDERS.map(|orders| {
                        GemmDesc::from_values(OpKind::TensorOp, arch, types, orders, knobs)
                    });
                    let legal: Vec<_> = all
                        .into_iter()
                        .filter(|desc| desc.check_on(&machine.machine()).is_ok())
                        .collect();
                    assert!(!legal.is_empty(), "{arch} on {machine}: {knobs:?}");
                    kernels.push((
                        format!("{arch} on {machine}"),
                        legal[(a + t + f) % legal.len()],
                        machine,
                    ));
                }
            }
        }
    }
    assert!(kernels.len() >= 200, "{} kernels", kernels.len());
    // A problem size may select split-K for each configuration.
    let cut: Vec<_> = kernels
        .iter()
        .step_by(9)
        .map(|(name, desc, arch)| (format!("{name} with split-K"), desc.cut(2), *arch))
        .collect();
    // With an odd leading dimension, each configuration accesses single elements.
    let by_elements = |(name, desc, arch): &(String, GemmDesc, ArchKind)| {
        (format!("{name} with single elements"), desc.narrowed([1; 3]), *arch)
    };
    let narrow: Vec<_> = kernels.iter().skip(4).step_by(9).map(by_elements).collect();
    all_clean("defaults of mma.sync with split-K", cut);
    all_clean("defaults of mma.sync with single elements", narrow);
    all_clean("defaults of mma.sync", kernels);
}

/// Random valid descriptions have enough registers by the estimate of `check`.
#[test]
#[ignore = "needs NVRTC"]
fn descriptions_of_mma_sync_compile_clean() {
    let drawn = |seed: u64, arch, plain| {
        (
            format!("seed {seed}"),
            description(
                seed,
                Wanted {
                    plain,
                    arch: Some(arch),
                    kernel_kind: KernelKind::MmaSync,
                    ..Wanted::default()
                },
            ),
            arch,
        )
    };
    let mut kernels: Vec<_> =
        (20_000..20_060).map(|seed| drawn(seed, ArchKind::Sm90, true)).collect();
    kernels.extend((21_000..21_024).map(|seed| drawn(seed, ARCHS[seed as usize % 4], true)));
    kernels.extend((22_000..22_016).map(|seed| drawn(seed, ArchKind::Sm90, false)));
    kernels.retain(|(_, d, _)| d.pins().spills == Some(SpillKind::Refused));
    all_clean("descriptions of mma.sync", kernels);
}

/// Saturating integer sums: the instruction, the sum of warp slices, and the sum of split-K slices.
#[test]
#[ignore = "needs NVRTC"]
fn saturating_sums_compile_clean() {
    let mut kernels = Vec::new();
    for arch in ARCHS {
        for kind in [ElementKind::I8, ElementKind::U8] {
            let types = element_types(kind, ElementKind::I32, ElementKind::I32);
            for (orders, cut) in ORDERS.into_iter().zip([1, 2, 2]) {
                let pins =
                    Pins { saturate: Some(SaturateKind::On), split_k: Some(cut), ..Pins::NONE };
                let of = if arch == ArchKind::Sm90 { ArchKind::Sm80 } else { arch };
                let all = configurations(of, types).into_iter().map(|knobs| {
                    GemmDesc::from_values(OpKind::TensorOp, arch, types, orders, knobs).pinned(pins)
                });
                let desc = all.into_iter().find(|desc| desc.check().is_ok()).expect("a default");
                assert!(unit_of(&desc, true).config.contains(".row.col.satfinite.s32."));
                kernels.push((format!("{kind} on {arch}"), desc, arch));
            }
        }
    }
    assert_eq!(kernels.len(), 30);
    all_clean("saturating sums", kernels);
}

/// Emulated f32 with terms in registers: the default configurations in every layout, and split-K.
#[test]
#[ignore = "needs NVRTC"]
fn emulation_in_registers_compiles_clean() {
    let f32s = ElementKind::F32;
    let types = element_types(f32s, f32s, f32s);
    let mut kernels = Vec::new();
    for arch in [ArchKind::Sm80, ArchKind::Sm86, ArchKind::Sm89, ArchKind::Sm90] {
        for (number, knobs) in configurations(ArchKind::Sm80, types).into_iter().enumerate() {
            for (orders, cut) in ORDERS.into_iter().zip([1, 1, 2]) {
                for emulation in [EmulationKind::Tf32x3, EmulationKind::Bf16x1] {
                    let pins =
                        Pins { split_k: Some(cut), emulation: Some(emulation), ..Pins::NONE };
                    let desc = GemmDesc::from_values(OpKind::TensorOp, arch, types, orders, knobs)
                        .pinned(pins);
                    kernels.push((format!("{emulation}, number {number} on {arch}"), desc, arch));
                }
            }
        }
    }
    assert_eq!(kernels.len(), 72);
    all_clean("emulation in registers", kernels);
}

#[test]
#[ignore = "needs NVRTC"]
fn a_wrong_mma_sync_map_is_named() {
    let types = *TENSOR_OP_COMBINATIONS.first().expect("halves");
    let knobs = configurations(ArchKind::Sm80, types)[1];
    let unit = unit_of(
        &GemmDesc::from_values(OpKind::TensorOp, ArchKind::Sm80, types, ORDERS[0], knobs),
        true,
    );
    for (fact, name) in [
        ("kPitch = 32", "smem_a"),
        ("kSwizzleShift = 1", "reads_a"),
        ("kInstructionMn = 16", "fragment_a"),
        ("kInstructionMn = 8", "fragment_b"),
        ("kInstructionWords = 4", "rows_a"),
        ("kPerWord = 2", "fragment_a"),
        ("kStep = 16", "depth"),
        ("kLanes = 8", "accumulator"),
    ] {
        a_wrong_fact_is_named(&unit, fact, name);
    }
}
