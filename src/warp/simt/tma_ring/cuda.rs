//! The C++ of consumers of a TMA ring on the CUDA cores.

use crate::{
    codegen::{facts::facts, facts_of_threads},
    nest::GemmDesc,
    shape::OperandKind,
    threadblock::WarpSpecialized,
    warp::{MirroredMap, MmaText, SimtKnobs, ThreadTiles, thread_maps::FragmentMap},
};
use std::sync::Arc;

/// Returns the facts of one operand: a box, and the fragments that threads read from it.
fn operand(
    d: &GemmDesc,
    (components, tiles): (&WarpSpecialized, &ThreadTiles),
    operand: OperandKind,
) -> String {
    let (tile, index) = (components.boxed_tile(operand), operand.index());
    let (interleave, extents) = (tiles.interleave[index], tiles.extents(operand));
    let own = [
        ("kMn", tile.mn),
        ("kWarpMn", extents.warp),
        ("kLanes", extents.lanes),
        ("kThreadMn", tiles.thread()[index]),
        ("kInterleave", interleave),
        ("kFragmentAccess", tile.one.vector(interleave)),
    ];
    let mut text = format!("  using Element = {};\n", d.operand(operand).stored.cuda());
    text.push_str(&facts("int", tile.one.facts().iter().chain(&own)));
    text
}

impl SimtKnobs {
    /// Returns the parts of the translation unit that depend on the MMA.
    pub(crate) fn consumer_cuda(
        d: &GemmDesc,
        components: &WarpSpecialized,
        tiles: &ThreadTiles,
    ) -> MmaText {
        MmaText {
            header: "warp/simt/tma_ring.cuh",
            name: "threadblock::SimtConsumer",
            includes: &["warp/simt.cuh"],
            operands: OperandKind::BOTH.map(|which| operand(d, (components, tiles), which)),
            members: facts("int", &facts_of_threads(d, tiles)),
            ..MmaText::default()
        }
    }

    /// Returns the maps that have a C++ twin.
    pub(crate) fn consumer_maps(
        components: &WarpSpecialized,
        tiles: &ThreadTiles,
    ) -> Vec<MirroredMap> {
        let (a, b) = (OperandKind::A, OperandKind::B);
        vec![
            ("smem_a", "smem::BoxedTile<Config::A>", Arc::new(components.boxed_tile(a))),
            ("smem_b", "smem::BoxedTile<Config::B>", Arc::new(components.boxed_tile(b))),
            (
                "fragment_a",
                "warp::FragmentMap<Config, Config::A, true>",
                Arc::new(FragmentMap::new(*tiles, a)),
            ),
            (
                "fragment_b",
                "warp::FragmentMap<Config, Config::B, false>",
                Arc::new(FragmentMap::new(*tiles, b)),
            ),
        ]
    }
}
