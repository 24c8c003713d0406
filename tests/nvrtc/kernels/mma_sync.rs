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
    all.iter().copied().filter(|family| matches!(family, FamilyDesc::MmaSync(_))).collect()
}

/// Every configuration of every architecture, of the machines of that; on Hopper those of Ampere, too.
#[test]
#[ignore = "needs NVRTC"]
fn defaults_of_mma_sync_compile_clean() {
    let mut kernels = Vec::new();
    for arch in ARCHS {
        for &types in TENSOR_OP_COMBINATIONS {
            for family in families(arch, types) {
                for orders in ORDERS {
                    let desc = GemmDesc::of_values(OpKind::TensorOp, arch, types, orders, family);
                    let machines = if arch == ArchKind::Sm80 { vec![arch, ArchKind::Sm90] } else { vec![arch] };
                    let checked = machines.into_iter().filter(|machine| desc.check_on(&machine.machine()).is_ok());
                    kernels.extend(checked.map(|machine| (format!("{arch} on {machine}"), desc, machine)));
                }
            }
        }
    }
    assert!(kernels.len() >= 300, "{} kernels", kernels.len());
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
