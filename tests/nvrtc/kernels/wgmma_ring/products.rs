//! No instruction accesses accumulators while `wgmma` computes them.

use crate::{
    harness::{epilogue_operands::random_trees, prelude::*},
    kernels::assert_clean,
    sass::Sass,
};

/// Random kernels with random trees read their accumulators after the last wait.
///
/// If a basic block waited for all products but one, and then for the last, NVRTC 13.0 moved reads
/// of accumulators between the two waits.
#[test]
#[ignore = "needs NVRTC and nvdisasm"]
fn accumulators_are_read_after_all_products() {
    let mut kernels = random_trees(0xa0c9, 1000);
    kernels.retain(|(_, desc)| desc.has_producer() && desc.matrix_instruction().is_some());
    // Most groups of products in flight.
    let pinned = |(seed, desc): &(u64, GemmDesc)| {
        let pending = desc.stages().checked_sub(1)?.min(3);
        Some((*seed, desc.pinned(Pins { pending: Some(pending), ..Pins::NONE })))
    };
    let valid = |(_, desc): &(u64, GemmDesc)| desc.check().is_ok();
    let more: Vec<_> = kernels.iter().filter_map(pinned).filter(valid).collect();
    kernels.extend(more);
    assert!(kernels.len() >= 400, "{} kernels", kernels.len());
    let fault = |cache: &Cache, (seed, desc): &(u64, GemmDesc)| {
        let entry = compile(cache, &unit_of(desc, false), 90).expect("it compiles");
        let early = Sass::disassemble(&entry.image).early_accesses();
        (!early.is_empty()).then(|| format!("{seed}, {desc:?}: {}", early.join("; ")))
    };
    assert_clean("kernels of wgmma", kernels, fault);
}
