//! Kernels that compute a batch in one launch.

use super::{
    Kernel, all_clean, by_threads, defaults, random_descriptions, rotated_defaults,
    stored_by_threads, stored_by_tma,
};
use crate::harness::{descriptions, prelude::*};

/// Returns the description of a grouped GEMM. If the groups divide the contiguous dimension of D,
/// accesses to D have one element.
fn for_some_groups(d: GemmDesc) -> GemmDesc {
    let d = d.for_groups(Axis::M);
    let along_m = d.work.mode == GemmMode::GroupedM;
    d.narrowed([
        u32::MAX,
        u32::MAX,
        if d.frame.d_order().is_row() != along_m { 1 } else { u32::MAX },
    ])
}

/// Grouped kernels: the defaults in all layouts, with and without swapped operands, descriptions
/// with every main loop, and descriptions whose threads store D.
#[test]
#[ignore = "needs NVRTC"]
fn grouped_kernels_compile_clean() {
    let mut kernels: Vec<_> = rotated_defaults(0).chain(rotated_defaults(4)).collect();
    kernels.extend(random_descriptions(14_000, 24, ArchKind::Sm90, description));
    kernels.extend(stored_by_tma(15_000..15_020));
    kernels.extend(stored_by_threads(16_000..16_008));
    // The search for a group needs registers that some random descriptions do not have.
    let checked =
        |name: &str, d: GemmDesc| name == "a default" || for_some_groups(d).check().is_ok();
    kernels.retain(|(name, d, _)| d.split_k() == 1 && d.check().is_ok() && checked(name, *d));
    let modes: BTreeSet<_> = kernels
        .iter()
        .map(|(_, d, _)| {
            (for_some_groups(*d).work.mode.name(), for_some_groups(*d).group_step() > 1)
        })
        .collect();
    assert_eq!(modes.len(), 4);
    all_clean(
        "grouped kernels",
        kernels.into_iter().map(|(name, d, arch)| (name, for_some_groups(d), arch)).collect(),
    );
}

/// Stream-K kernels: some defaults, random descriptions with both kinds of consumers, and
/// descriptions whose threads store D.
#[test]
#[ignore = "needs NVRTC"]
fn stream_k_kernels_compile_clean() {
    let mut kernels: Vec<_> = rotated_defaults(0).collect();
    kernels.extend(stored_by_tma(17_000..17_024));
    kernels.extend(stored_by_threads(18_000..18_008));
    kernels.extend(by_threads(19_000..19_008));
    let with_stream_k =
        |d: GemmDesc| but!(d, split_k: 1, decomposition: DecompositionKind::StreamK);
    // The reduction of slices needs registers that some descriptions do not have.
    kernels.retain(|(_, d, _)| with_stream_k(*d).check().is_ok());
    assert!(kernels.len() >= 36, "{} kernels", kernels.len());
    let batched =
        |(i, (name, d, arch)): (usize, Kernel)| (name, with_stream_k(d).for_batch(1 + i % 2), arch);
    all_clean("stream-K kernels", kernels.into_iter().enumerate().map(batched).collect());
}

/// Kernels with split-K in a cluster: some defaults, random descriptions with both kinds of
/// consumers, and descriptions whose threads store D.
#[test]
#[ignore = "needs NVRTC"]
fn cluster_split_k_kernels_compile_clean() {
    let mut kernels: Vec<_> = rotated_defaults(0).collect();
    kernels.extend(stored_by_tma(20_000..20_032));
    kernels.extend(stored_by_threads(21_000..21_012));
    kernels.extend(by_threads(22_000..22_012));
    let cut = |(i, (name, d, arch)): (usize, Kernel)| {
        // With large tiles, shared memory holds the partials of only one other CTA.
        let [_, clustered] = [[2, 4, 3, 8][i % 4], 2]
            .into_iter()
            .find_map(|slices| descriptions::cut_by_clusters(d, slices))?;
        Some((name, clustered.for_batch(1 + i % 2), arch))
    };
    let kernels: Vec<_> = kernels.into_iter().enumerate().filter_map(cut).collect();
    assert!(kernels.len() >= 36, "{} kernels", kernels.len());
    all_clean("cluster split-K kernels", kernels);
}

/// Kernels that the selection uses for problems with few tiles: all 16-bit types, split-K in a
/// cluster with two, four, and eight slices, and single GEMMs, batches, and arrays. A D of fp8 has
/// no defaults with so few columns.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_for_few_tiles_compile_clean() {
    let problems = [
        ((16, 2112, 7168), (16, 2)),
        ((32, 2112, 7168), (32, 2)),
        ((64, 2112, 7168), (64, 2)),
        ((16, 1024, 4096), (16, 4)),
        ((128, 128, 16384), (32, 8)),
    ];
    let mut kernels = Vec::new();
    for types in descriptions::ring_types()
        .into_iter()
        .filter(|types| types.a.bits() == 16 && !types.c.is_fp8())
    {
        for (i, (extents, wanted)) in problems.into_iter().enumerate() {
            let b = [Order::Col, Order::Row][i % 2];
            let [a, b, c] = [(types.a, Order::Row), (types.b, b), (types.c, Order::Row)]
                .map(|(element, order)| Some(MatrixType { element, order }));
            let (accumulator, op) = (Some(types.accumulator), Some(OpKind::TensorOp));
            // Without the pin, a second kernel reduces eight slices.
            let knobs = vec![("decomposition".to_owned(), "splitkcluster".to_owned())];
            let knobs = if wanted.1 == 8 { knobs } else { Vec::new() };
            let request = Request { a, b, c, accumulator, op, knobs, ..Request::default() };
            let desc = request
                .resolve_for(ArchKind::Sm90, ProblemSize::new(extents), None)
                .expect("a row")
                .desc;
            assert!(
                desc.cuts_by_cluster() && (desc.threadblock().n, desc.split_k()) == wanted,
                "{types:?} {extents:?}: {desc:?}"
            );
            let modes = [desc, desc.for_batch(2), desc.for_array(2)];
            kernels
                .extend(modes.map(|desc| (format!("{types:?} {extents:?}"), desc, ArchKind::Sm90)));
        }
    }
    assert!(kernels.len() >= 60, "{} kernels", kernels.len());
    all_clean("kernels for few tiles", kernels);
}

/// Batched kernels: every default on tensor cores, some on CUDA cores, descriptions with every main
/// loop, and descriptions whose threads store D.
#[test]
#[ignore = "needs NVRTC"]
fn batched_kernels_compile_clean() {
    let mut kernels: Vec<_> = (0..8).flat_map(rotated_defaults).collect();
    kernels.extend(defaults(ArchKind::Sm90, ArchKind::Sm90));
    kernels.extend(random_descriptions(11_000, 40, ArchKind::Sm90, description));
    kernels.extend(stored_by_tma(12_000..12_020));
    kernels.extend(stored_by_threads(13_000..13_012));
    kernels.retain(|(_, d, _)| d.check().is_ok());
    all_clean(
        "batched kernels",
        kernels.into_iter().map(|(name, d, arch)| (name, d.for_batch(2), arch)).collect(),
    );
}
