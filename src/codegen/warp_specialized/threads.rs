//! What kernels whose consumers are threads on the CUDA cores have of their own.

use super::{Mirrored, Own};
use crate::{
    codegen::facts_of_threads, desc::GemmDesc, operand::OperandKind, threadblock::WarpSpecialized, warp::mma_simt::FragmentMap,
};
use core::fmt::Write;
use std::sync::Arc;

/// One operand's facts: a box, and the fragments that are read from it.
fn operand(d: &GemmDesc, components: &WarpSpecialized, operand: OperandKind) -> String {
    let (facts, tile) = (d.operand(operand), components.boxed_tile(operand));
    let all: [(&str, u32); 12] = [
        ("kMn", tile.mn),
        ("kTileMn", tile.one.mn),
        ("kTileK", tile.one.k),
        ("kPitch", tile.one.pitch()),
        ("kSwizzleBits", tile.one.bits),
        ("kSwizzleBase", tile.one.base),
        ("kSwizzleShift", tile.one.shift),
        ("kWarpMn", facts.warp_mn),
        ("kLanes", facts.lanes),
        ("kThreadMn", facts.thread_mn()),
        ("kInterleave", facts.interleave()),
        ("kFragmentAccess", tile.one.vector(facts.interleave())),
    ];
    let mut text = format!("  using Element = {};\n", facts.element.cuda());
    for (fact, value) in all {
        let _ = writeln!(text, "  static constexpr int {fact} = {value};");
    }
    text
}

/// What they add to `config.cuh`.
pub(super) fn own(d: &GemmDesc, components: &WarpSpecialized) -> Own {
    Own {
        twin: "warp/mma_simt.cuh",
        structs: String::new(),
        operands: OperandKind::BOTH.map(|which| operand(d, components, which)),
        aliases: String::new(),
        facts: facts_of_threads(d).to_vec(),
    }
}

/// The maps that have a twin.
pub(super) fn mirrored(d: &GemmDesc, components: &WarpSpecialized) -> Vec<Mirrored> {
    let (a, b) = (OperandKind::A, OperandKind::B);
    vec![
        ("smem_a", "threadblock::BoxedTile<Config::A>", Arc::new(components.boxed_tile(a))),
        ("smem_b", "threadblock::BoxedTile<Config::B>", Arc::new(components.boxed_tile(b))),
        ("fragment_a", "warp::FragmentMap<Config, Config::A, true>", Arc::new(FragmentMap::of(*d, a))),
        ("fragment_b", "warp::FragmentMap<Config, Config::B, false>", Arc::new(FragmentMap::of(*d, b))),
    ]
}
