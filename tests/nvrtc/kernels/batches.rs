//! Kernels that compute a batch in one launch.

use super::{all_clean, defaults, random_descriptions, warp_specialized_only};
use crate::harness::descriptions::{self, description};
use falchion::{
    arch::{ArchKind, OpKind},
    internals::family::default_gemm_configuration::default_description,
    layout::Order,
};

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
