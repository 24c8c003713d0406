//! Kernels of `wgmma` that write a matrix beside D.

use crate::{
    harness::{prelude::*, random_cases::orders},
    kernels::{assert_clean, descriptions, fault, text},
    sass::Sass,
};
use falchion::warp::quad_transpose::QuadTranspose;

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
