//! Kernels whose warps multiply by `mma.sync`.

use super::{
    a_wrong_fact_is_named, all_clean,
    descriptions::{Family, Wanted, description, mma_sync::ARCHS},
    unit_of,
};
use falchion::{
    arch::{ArchKind, OpKind},
    desc::{FamilyDesc, GemmDesc, SpillKind, TENSOR_OP_COMBINATIONS},
    internals::family::default_gemm_configuration::default_gemm_configurations,
    layout::Order,
    numeric::Combined,
};

const ORDERS: [[Order; 3]; 3] =
    [[Order::Row, Order::Col, Order::Row], [Order::Row, Order::Row, Order::Row], [Order::Col, Order::Row, Order::Row]];

/// The configurations of this family for types on an architecture.
fn families(arch: ArchKind, types: Combined) -> Vec<FamilyDesc> {
    let all = default_gemm_configurations(OpKind::TensorOp, arch, types).map_or(&[][..], |families| families);
    let ours = all.iter().copied().filter(|family| matches!(family, FamilyDesc::MmaSync(_)));
    // Whole sums that become other types are those of i32, and no more than their store.
    ours.take(if types.accumulator.is_integer() && types.c != types.accumulator { 1 } else { usize::MAX }).collect()
}

/// A third of what the rows have, the same third in each run: every configuration of every type of every architecture, on the machines of that, and on Hopper those of Ampere, too, in one of the layouts that it
/// can have; the next type has it in the next layout. All of them, in all layouts, are three times what continuous integration has time for.
#[test]
#[ignore = "needs NVRTC"]
fn defaults_of_mma_sync_compile_clean() {
    let mut kernels = Vec::new();
    for (a, arch) in ARCHS.into_iter().enumerate() {
        for (t, &types) in TENSOR_OP_COMBINATIONS.iter().enumerate() {
            for (f, family) in families(arch, types).into_iter().enumerate() {
                for machine in if arch == ArchKind::Sm80 { vec![arch, ArchKind::Sm90] } else { vec![arch] } {
                    let all = ORDERS.map(|orders| GemmDesc::of_values(OpKind::TensorOp, arch, types, orders, family));
                    let legal: Vec<_> = all.into_iter().filter(|desc| desc.check_on(&machine.machine()).is_ok()).collect();
                    assert!(!legal.is_empty(), "{arch} on {machine}: {family:?}");
                    kernels.push((format!("{arch} on {machine}"), legal[(a + t + f) % legal.len()], machine));
                }
            }
        }
    }
    assert!(kernels.len() >= 200, "{} kernels", kernels.len());
    // A problem cuts K of any of them.
    let cut: Vec<_> =
        kernels.iter().step_by(9).map(|(name, desc, arch)| (format!("{name} in parts"), desc.cut(2), *arch)).collect();
    all_clean("defaults of mma.sync in parts of K", cut);
    all_clean("defaults of mma.sync", kernels);
}

/// Descriptions drawn from all that `check` accepts: the registers that it counts are enough.
#[test]
#[ignore = "needs NVRTC"]
fn descriptions_of_mma_sync_compile_clean() {
    let drawn = |seed: u64, arch, plain| {
        (
            format!("seed {seed}"),
            description(seed, Wanted { plain, arch: Some(arch), family: Family::MmaSync, ..Wanted::default() }),
            arch,
        )
    };
    let mut kernels: Vec<_> = (20_000..20_060).map(|seed| drawn(seed, ArchKind::Sm90, true)).collect();
    kernels.extend((21_000..21_024).map(|seed| drawn(seed, ARCHS[seed as usize % 4], true)));
    kernels.extend((22_000..22_016).map(|seed| drawn(seed, ArchKind::Sm90, false)));
    kernels.retain(|(_, d, _)| d.pins().spills == Some(SpillKind::Refused));
    all_clean("descriptions of mma.sync", kernels);
}

#[test]
#[ignore = "needs NVRTC"]
fn a_map_of_mma_sync_that_differs_is_refused_by_its_name() {
    let types = *TENSOR_OP_COMBINATIONS.first().expect("halves");
    let family = families(ArchKind::Sm80, types)[1];
    let unit = unit_of(&GemmDesc::of_values(OpKind::TensorOp, ArchKind::Sm80, types, ORDERS[0], family), true);
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
