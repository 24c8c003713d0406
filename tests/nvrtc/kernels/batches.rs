//! Kernels that compute a batch in one launch.

use super::{all_clean, defaults, random_descriptions, warp_specialized_only};
use crate::harness::descriptions::{self, description};
use falchion::{
    arch::{ArchKind, OpKind},
    desc::{GemmDesc, GemmMode},
    internals::{family::default_gemm_configuration::default_description, operand::Axis},
    layout::Order,
};
use std::collections::BTreeSet;

/// What a call of groups runs with: where groups are contiguous along D, or along an A that threads copy, accesses are of one element.
fn of_groups(d: GemmDesc) -> GemmDesc {
    let d = d.for_groups(Axis::M);
    let along_m = d.class.mode == GemmMode::GroupedM;
    let one = |contiguous: bool| if contiguous { 1 } else { u32::MAX };
    let threads = d.warp_specialized().is_none();
    let (a, b) = (d.class.a.layout, d.class.b.layout);
    d.narrowed([
        one(threads && along_m && !a.is_row()),
        one(threads && !along_m && b.is_row()),
        one(d.class.output.layout.is_row() != along_m),
    ])
}

/// The kernels of groups of rows: of defaults in all layouts, so that rows are the kernel's rows or its columns, of descriptions with every main loop, and of ones whose
/// threads store.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_of_groups_compile_clean() {
    let order = |column: bool| if column { Order::Col } else { Order::Row };
    let mut kernels = Vec::new();
    for (i, types) in descriptions::warp_specialized::types().into_iter().enumerate() {
        for bits in [i % 8, (i + 4) % 8] {
            let orders = [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0].map(order);
            let default = default_description(OpKind::TensorOp, ArchKind::Sm90, types, orders);
            kernels.extend(default.ok().map(|d| ("a default".to_owned(), d, ArchKind::Sm90)));
        }
    }
    kernels.extend(random_descriptions(14_000, 24, ArchKind::Sm90, description));
    kernels.extend((15_000..15_020).map(|seed| warp_specialized_only(seed, true, description)));
    kernels.extend((16_000..16_008).map(|seed| {
        let (name, d, arch) = warp_specialized_only(seed, true, description);
        (name, but!(d, align_c: [1, 2][seed as usize % 2]), arch)
    }));
    // The walk over groups takes registers, which drawn ones may not have.
    let checked = |name: &str, d: GemmDesc| name == "a default" || of_groups(d).check().is_ok();
    kernels.retain(|(name, d, _)| d.split_k() == 1 && d.check().is_ok() && checked(name, *d));
    let modes: BTreeSet<_> =
        kernels.iter().map(|(_, d, _)| (of_groups(*d).class.mode.name(), of_groups(*d).group_step() > 1)).collect();
    assert_eq!(modes.len(), 4);
    all_clean("kernels of groups", kernels.into_iter().map(|(name, d, arch)| (name, of_groups(d), arch)).collect());
}

/// The kernels of batches: of every default on tensor cores and some on the CUDA cores, of descriptions with every main loop, and of ones whose threads
/// store.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_of_batches_compile_clean() {
    let order = |column: bool| if column { Order::Col } else { Order::Row };
    let layouts = || (0..8).map(|bits| [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0].map(order));
    let on_tensor_cores = layouts().flat_map(|orders| {
        let default = move |types| default_description(OpKind::TensorOp, ArchKind::Sm90, types, orders);
        descriptions::warp_specialized::types().into_iter().filter_map(move |types| default(types).ok())
    });
    let mut kernels: Vec<_> = on_tensor_cores.map(|d| ("a default".to_owned(), d, ArchKind::Sm90)).collect();
    kernels.extend(defaults(ArchKind::Sm90, ArchKind::Sm90));
    kernels.extend(random_descriptions(11_000, 40, ArchKind::Sm90, description));
    kernels.extend((12_000..12_020).map(|seed| warp_specialized_only(seed, true, description)));
    kernels.extend((13_000..13_012).map(|seed| {
        let (name, d, arch) = warp_specialized_only(seed, true, description);
        (name, but!(d, align_c: [1, 2][seed as usize % 2]), arch)
    }));
    kernels.retain(|(_, d, _)| d.check().is_ok());
    all_clean("kernels of batches", kernels.into_iter().map(|(name, d, arch)| (name, d.for_batch(2), arch)).collect());
}
