//! Kernels of pointer arrays, which read the addresses of the matrices from records.

use super::{
    Kernel, all_clean, by_threads, defaults, random_descriptions, rotated_defaults,
    stored_by_threads, stored_by_tma,
};
use crate::harness::prelude::*;

/// Defaults and random descriptions of every kind of kernel, with and without split-K, with D
/// stored by TMA and by threads.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_of_arrays_compile_clean() {
    let mut kernels: Vec<_> =
        defaults(ArchKind::Sm90, ArchKind::Sm90).into_iter().step_by(7).collect();
    kernels.extend(random_descriptions(21_000, 16, ArchKind::Sm90, description));
    kernels.extend((22_000..22_016).map(|seed| {
        let arch = ARCHS[seed as usize % ARCHS.len()];
        let wanted = Wanted {
            plain: true,
            arch: Some(arch),
            kernel_kind: KernelKind::MmaSync,
            ..Wanted::default()
        };
        (format!("seed {seed}"), description(seed, wanted), arch)
    }));
    kernels.extend(stored_by_tma(23_000..23_012));
    kernels.extend(stored_by_threads(24_000..24_006));
    kernels.extend(by_threads(25_000..25_006));
    kernels.extend(rotated_defaults(0));
    kernels.retain(|(_, d, _)| d.check().is_ok());
    let read = |(i, (name, d, arch)): (usize, Kernel)| {
        let cut = d.cut(2).for_array(2);
        (name, if i % 3 == 0 && cut.check().is_ok() { cut } else { d.for_array(2) }, arch)
    };
    let kernels: Vec<_> = kernels
        .into_iter()
        .enumerate()
        .map(read)
        .filter(|(_, d, _)| d.work.mode.is_array())
        .collect();
    let by_tma = kernels.iter().filter(|(_, d, _)| d.has_producer()).count();
    for by_roles in [false, true] {
        assert!(
            kernels.iter().any(|(_, d, _)| d.has_producer() == by_roles && d.split_k() > 1),
            "no split-K, TMA: {by_roles}"
        );
    }
    assert!(
        kernels.len() - by_tma >= 40 && by_tma >= 20,
        "{} kernels, {by_tma} by TMA",
        kernels.len()
    );
    all_clean("kernels of arrays", kernels);
}
