//! Kernels whose epilogues have vectors.

use super::{all_clean, assert_clean, descriptions};
use crate::harness::{prelude::*, random_cases::orders};

/// Epilogues with vectors, for tensor cores in each layout of A, B, and D, and for TMA-fed SIMT
/// kernels.
#[test]
#[ignore = "needs NVRTC"]
fn warp_specialized_kernels_with_vectors_compile_clean() {
    let mut known = HashSet::new();
    let mut types: Vec<_> = descriptions::ring_types().into_iter().collect();
    types.retain(|types| known.insert((types.a.bytes_of(1), types.accumulator, types.c)));
    let mut kernels = Vec::new();
    for orders in orders() {
        let of = |types: &Combined| {
            default_description(OpKind::TensorOp, ArchKind::Sm90, *types, orders).ok()
        };
        let others =
            vec![descriptions::tma_ring::simt::plain(orders, (128, 256, 16), (32, 128), (8, 16))];
        for d in types.iter().filter_map(of).chain(others).filter(|d| d.check().is_ok()) {
            let operands = "relu(alpha * acc + beta * c + multiply(bias_m, bias_n))";
            for text in ["alpha * acc + bias_n", "alpha * acc + bias_m", operands] {
                let epilogue = text.parse::<EpilogueDesc>().expect("an expression");
                kernels.push((format!("{text} of {orders:?}"), but!(d, epilogue), ArchKind::Sm90));
            }
        }
    }
    assert!(kernels.len() >= 150, "{} kernels", kernels.len());
    all_clean("kernels with vectors", kernels);
}

/// Kernels of each main loop and MMA compile without warnings if their epilogues read auxiliary
/// matrices and operands with element types of their own. The register model does not count the
/// operands of an epilogue, so a kernel may spill.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_with_operands_of_other_types_compile() {
    let kernels = crate::harness::epilogue_operands::descriptions(0xa0c8, 80);
    compile_without_warnings("kernels with operands of other types", kernels);
}

/// Kernels of each main loop and MMA compile without warnings if their epilogues write results.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_with_results_compile() {
    let kernels = crate::harness::results::descriptions(0xa0d5, 80);
    compile_without_warnings("kernels with results", kernels);
}

/// Default kernels of tensor cores do not spill if their epilogues write reductions.
#[test]
#[ignore = "needs NVRTC"]
fn default_kernels_with_reductions_compile_clean() {
    let texts = [
        "row_sum(acc + beta * c)",
        "col_sum(acc + beta * c)",
        "row_sumsq(acc)",
        "col_sumsq(acc)",
        "row_amax(acc)",
        "col_amax(acc)",
        "amax(gelu_tanh(acc + bias_n))",
    ];
    let mut kernels = Vec::new();
    let types = descriptions::ring_types().into_iter();
    let halves = types.filter(|types| types.a.bytes_of(1) == 2 && types.c == types.a);
    for types in halves {
        for (number, text) in texts.into_iter().enumerate() {
            let orders = orders().nth(number).expect("eight orders");
            let default = default_description(OpKind::TensorOp, ArchKind::Sm90, types, orders);
            let epilogue = text.parse::<EpilogueDesc>().expect("an expression");
            let d = default.expect("a kernel");
            kernels.push((format!("{text} of {orders:?}"), but!(d, epilogue), ArchKind::Sm90));
        }
    }
    assert!(kernels.len() >= 14, "{} kernels", kernels.len());
    all_clean("default kernels with reductions", kernels);
}

/// Kernels that multiply the terms of an emulated f32 add sums in the order of their twin.
#[test]
#[ignore = "needs NVRTC"]
fn emulated_kernels_with_sums_compile() {
    let wanted = Wanted { kernel_kind: KernelKind::WgmmaRing, ..Wanted::default() };
    let epilogue = "col_sum(row_sum(acc))".parse::<EpilogueDesc>().expect("an expression");
    let kernels: Vec<_> = (0xa0e0..0xa400)
        .map(|seed| (seed, description(seed, wanted)))
        .filter(|(_, d)| d.emulation().terms() > 1)
        .map(|(seed, d)| (seed, but!(d, epilogue)))
        .filter(|(_, d)| d.check().is_ok())
        .take(6)
        .collect();
    assert_eq!(kernels.len(), 6);
    compile_without_warnings("emulated kernels with sums", kernels);
}

/// Compiles kernels with the seed of each. A kernel may spill.
fn compile_without_warnings(what: &str, kernels: Vec<(u64, GemmDesc)>) {
    assert_clean(what, kernels, |cache, (seed, d)| {
        let sm = d.arch.machine().sm.max(75);
        match compile(cache, &unit_of(d, true), sm) {
            Err(error) => Some(format!("seed {seed}: {}\n{error}", d.epilogue)),
            Ok(entry) => entry.log.contains("warning").then(|| entry.log.clone()),
        }
    });
}
