//! Kernels whose epilogues have vectors.

use super::{all_clean, assert_clean, descriptions, fault, text};
use crate::{
    harness::{prelude::*, random_cases::orders},
    sass::Sass,
};
use falchion::warp::quad_transpose::QuadTranspose;

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

/// Returns the most accumulators per thread that leave enough registers for a written matrix.
fn most_accumulators(element: ElementKind) -> u32 {
    if element.is_fp8() { 160 } else { 176 }
}

/// Default kernels with a D of bf16 store a written matrix in wide accesses. They do not spill,
/// except those whose accumulators leave few registers.
#[test]
#[ignore = "needs NVRTC and nvdisasm"]
fn default_kernels_with_written_matrices_have_wide_stores() {
    let mut types = descriptions::ring_types().into_iter();
    let types = types.find(|types| {
        let all = (types.a, types.accumulator, types.c);
        all == (ElementKind::Bf16, ElementKind::F32, ElementKind::Bf16)
    });
    let types = types.expect("bf16");
    let all = default_gemm_configurations(OpKind::TensorOp, ArchKind::Sm90, types);
    let mut kernels = Vec::new();
    for (number, knobs) in all.expect("a row").iter().enumerate() {
        let orders = orders().nth(number % 8).expect("eight orders");
        let d = GemmDesc::from_values(OpKind::TensorOp, ArchKind::Sm90, types, orders, *knobs);
        for element in [ElementKind::Bf16, ElementKind::F32, ElementKind::E4m3] {
            let text = format!("aux1:{element} = acc + bias_n; gelu_tanh(aux1)");
            let epilogue = text.parse::<EpilogueDesc>().expect("an expression");
            let d = but!(d, epilogue: epilogue.enter(d.frame));
            kernels.push((format!("{text} of {orders:?}"), element, d));
        }
    }
    assert!(kernels.len() >= 18, "{} kernels", kernels.len());
    assert_clean("default kernels with written matrices", kernels, |cache, (name, element, d)| {
        let components = d.components().expect("a kernel");
        let accumulators = components.slot_map().domain().column;
        if accumulators <= most_accumulators(*element)
            && let Some(fault) = fault(cache, d, ArchKind::Sm90)
        {
            return Some(format!("{name}: {}\n{fault}", text(d)));
        }
        let entry = match compile(cache, &unit_of(d, true), 90) {
            Ok(entry) => entry,
            Err(error) => return Some(format!("{name}: {error}")),
        };
        let run = QuadTranspose::new(*element, components.subtile_columns).run();
        let width = match element.bytes_of(run) {
            16 => "STG.E.128",
            8 => "STG.E.64",
            _ => "STG.E",
        };
        let stores = Sass::disassemble(&entry.image).count(|name| name == width);
        let wanted = (accumulators / run) as usize;
        (stores < wanted || entry.log.contains("warning"))
            .then(|| format!("{name}: {stores} of {width}, {wanted} wanted\n{}", entry.log))
    });
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
