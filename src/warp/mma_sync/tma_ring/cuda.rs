//! The C++ of consumers of a TMA ring with `mma.sync`.

use crate::{
    codegen::{facts::facts, facts_of_threads},
    layout::index_map::Map,
    nest::GemmDesc,
    shape::OperandKind,
    threadblock::{WarpSpecialized, smem::Along},
    warp::{
        MirroredMap, MmaSyncKnobs, MmaText, ThreadTiles,
        mma_sync::{
            FragmentMap, WarpInstruction,
            cuda::{MOST_READS, Reads, operand_members},
        },
        thread_maps::StepMap,
    },
};
use std::sync::Arc;

/// Returns the facts of one operand: a box, and the fragments that lanes read from it.
fn operand(
    d: &GemmDesc,
    components: &WarpSpecialized,
    (tiles, instruction): (&ThreadTiles, &WarpInstruction),
    operand: OperandKind,
) -> String {
    let (tile, index) = (components.boxed_tile(operand), operand.index());
    let extents = tiles.extents(operand);
    let own = [
        ("kMn", tile.mn),
        ("kWarpMn", extents.warp),
        ("kLanes", extents.lanes),
        ("kThreadMn", tiles.thread()[index]),
        ("kInterleave", tiles.interleave[index]),
        // The first stage begins at the address that a consumer passes.
        ("kStageOffset", 0),
    ];
    let element = d.operand(operand).stored;
    let mut text = format!("  using Element = {};\n", element.cuda());
    text.push_str(&facts("int", tile.one.facts().iter().chain(&own)));
    text.push_str(&operand_members((element, Along::K), instruction, operand));
    text
}

impl MmaSyncKnobs {
    /// Returns the parts of the translation unit that depend on the MMA.
    pub(crate) fn consumer_cuda(
        d: &GemmDesc,
        components: &WarpSpecialized,
        (tiles, instruction): (&ThreadTiles, &WarpInstruction),
    ) -> MmaText {
        let own =
            [("kStep", instruction.shape().k), ("kMostReads", MOST_READS), ("kFragmentsOfB", 2)];
        MmaText {
            header: "warp/mma_sync/tma_ring.cuh",
            name: "threadblock::MmaSyncConsumer",
            includes: &["warp/mma_sync.cuh"],
            declarations: instruction.declaration(),
            operands: OperandKind::BOTH
                .map(|which| operand(d, components, (tiles, instruction), which)),
            members: facts("int", &facts_of_threads(d, tiles))
                + &facts("int", &own)
                + "  using Instruction = MmaInstruction;\n",
        }
    }

    /// Returns the maps that have a C++ twin.
    pub(crate) fn consumer_maps(
        components: &WarpSpecialized,
        (tiles, instruction): (&ThreadTiles, &WarpInstruction),
    ) -> Vec<MirroredMap> {
        let step = StepMap { tiles: *tiles, step: instruction.shape().k };
        let fragment =
            |operand| -> Map { Arc::new(FragmentMap::new(*tiles, *instruction, operand)) };
        let smem = |operand| -> Map { Arc::new(components.boxed_tile(operand)) };
        let reads = |operand| {
            let (of_k_block, smem) = (fragment(operand), smem(operand));
            Reads { of_k_block: &of_k_block, depth: &step, smem: &smem, step: step.step }.map()
        };
        let (a, b) = (OperandKind::A, OperandKind::B);
        vec![
            ("smem_a", "smem::BoxedTile<Config::A>", smem(a)),
            ("smem_b", "smem::BoxedTile<Config::B>", smem(b)),
            ("fragment_a", "warp::OperandFragment<Config, Config::A, true>", fragment(a)),
            ("fragment_b", "warp::OperandFragment<Config, Config::B, false>", fragment(b)),
            ("depth", "warp::StepMap<Config>", Arc::new(step)),
            ("reads_a", "warp::FragmentReads<Config, Config::A, true>", reads(a)),
            ("reads_b", "warp::FragmentReads<Config, Config::B, false>", reads(b)),
        ]
    }
}
