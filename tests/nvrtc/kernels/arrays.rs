//! Kernels of arrays, which read the addresses of their product's matrices.

use super::{
    Kernel, all_clean, by_threads, defaults, fault, random_descriptions, rotated_defaults,
    stored_by_threads, stored_by_tma,
};
use crate::harness::{descriptions::mma_sync::ARCHS, prelude::*};
use falchion::cuda::compile;

/// Some defaults, and what is drawn of every family, with K whole and in parts, with threads that
/// store, and threads that multiply. Where addresses lie has one fingerprint.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_of_arrays_compile_clean() {
    let mut kernels: Vec<_> =
        defaults(ArchKind::Sm90, ArchKind::Sm90).into_iter().step_by(7).collect();
    kernels.extend(random_descriptions(21_000, 16, ArchKind::Sm90, description));
    kernels.extend((22_000..22_016).map(|seed| {
        let arch = ARCHS[seed as usize % ARCHS.len()];
        let wanted =
            Wanted { plain: true, arch: Some(arch), family: Family::MmaSync, ..Wanted::default() };
        (format!("seed {seed}"), description(seed, wanted), arch)
    }));
    kernels.extend(stored_by_tma(23_000..23_012));
    kernels.extend(stored_by_threads(24_000..24_006));
    kernels.extend(by_threads(25_000..25_006));
    kernels.extend(rotated_defaults(0));
    kernels.retain(|(_, d, _)| d.check().is_ok());
    // Those of few products, and of many.
    let read = |(i, (name, d, arch)): (usize, Kernel)| {
        let products = [2, 300][i % 2];
        let cut = d.cut(2).for_array(products);
        (name, if i % 3 == 0 && cut.check().is_ok() { cut } else { d.for_array(products) }, arch)
    };
    let kernels: Vec<_> = kernels
        .into_iter()
        .enumerate()
        .map(read)
        .filter(|(_, d, _)| d.class.mode.is_array())
        .collect();
    let [by_tma, mapped] = [MOST_MAPPED, i32::MAX as u32]
        .map(|most| kernels.iter().filter(|(_, d, _)| d.products_of_launch() == most).count());
    assert!(
        kernels.len() - by_tma - mapped >= 40
            && by_tma.min(mapped) >= 10
            && kernels.iter().any(|(_, d, _)| d.split_k() > 1),
        "{} kernels, {by_tma} of few products by TMA, {mapped} of many",
        kernels.len()
    );
    for mode in [GemmMode::MappedArray, GemmMode::LongArray] {
        assert!(
            kernels
                .iter()
                .any(|(_, d, _)| d.class.mode == mode && d.split_k() > 1 && d.check().is_ok()),
            "{mode}"
        );
    }
    all_clean("kernels of arrays", kernels);
}

/// Addresses that lie elsewhere in the two languages are found while the kernel is compiled.
#[test]
#[ignore = "needs NVRTC"]
fn another_order_of_addresses_is_found() {
    let types = super::F32;
    let desc = default_of(OpKind::Simt, ArchKind::Sm90, types, [Order::Row; 3]).for_array(2);
    assert!(fault(&super::cache(), &desc, ArchKind::Sm90).is_none());
    let unit = unit_of(&desc, true);
    let source = unit.source.replace("threadblock::ProductAddresses<119>", "Turned");
    assert!(source != unit.source);
    let turned = "struct Turned {\n  static constexpr int kRows = 119;\n  static constexpr int kColumns = 4;\n  static __device__ constexpr unsigned at(unsigned product, unsigned matrix) { return matrix * 119 + product; }\n};\n";
    let (first, rest) = source.split_once("using Mainloop").expect("a main loop");
    let unit = TranslationUnit { source: format!("{first}{turned}using Mainloop{rest}"), ..unit };
    let error = compile(&super::cache(), &unit, ArchKind::Sm90.machine().sm).message();
    assert!(error.contains("addresses: the Rust map and the CUDA map differ"), "{error}");
}
