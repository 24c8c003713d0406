//! Kernels that compute groups along K in one launch.

use super::{
    all_clean, random_descriptions, rare_kinds, rotated_defaults, stored_by_threads, stored_by_tma,
};
use crate::harness::{groups_k::groups_along_k, prelude::*};

/// Kernels of groups along K: the defaults in all layouts, with and without swapped operands,
/// descriptions with every main loop, and descriptions whose threads store D.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_of_groups_along_k_compile_clean() {
    let mut kernels: Vec<_> = rotated_defaults(0).chain(rotated_defaults(4)).collect();
    kernels.extend(random_descriptions(24_000, 32, ArchKind::Sm90, description));
    kernels.extend(stored_by_tma(25_000..25_024));
    kernels.extend(stored_by_threads(26_000..26_012));
    kernels.extend(rare_kinds(28_000, 16));
    kernels.retain(|(_, d, _)| d.split_k() == 1 && d.check().is_ok() && groups_along_k(d));
    let grouped: Vec<_> =
        kernels.into_iter().map(|(name, d, arch)| (name, d.for_groups(Axis::K), arch)).collect();
    let steps: BTreeSet<_> = grouped.iter().map(|(_, d, _)| d.group_step()).collect();
    let pairs: BTreeSet<_> =
        grouped.iter().map(|(_, d, _)| (d.mainloop.kind().name(), d.mma.kind().name())).collect();
    println!("{} kernels, steps {steps:?}, {pairs:?}", grouped.len());
    assert!(steps.len() > 2 && pairs.len() == 8);
    all_clean("kernels of groups along K", grouped);
}
