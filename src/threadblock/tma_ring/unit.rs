//! The translation unit of a warp-specialized kernel.

use crate::{
    codegen::{
        DecomposedLine, MainloopFingerprints, MainloopText, TensorGemmParams, TensorMap,
        TranslationUnit, emulation_fingerprints, emulation_header, facts::facts,
        fingerprint_assertion, gemm_unit,
    },
    nest::GemmDesc,
    shape::OperandKind,
    threadblock::{
        ClusterTiles, ORDERED, PipelineLayout, RingPosition, WarpSpecialized, Work, WorkKind,
        smem::Along,
    },
    warp::{MirroredMap, quad_transpose::QuadTranspose},
};
use std::sync::Arc;

/// Returns the facts of one operand as a C++ struct, with the lines `own` added.
fn operand_header(components: &WarpSpecialized, operand: OperandKind, own: &str) -> String {
    let (tile, shares) = (components.tile(operand), components.ring.shares(operand));
    let own_facts = [
        ("kShares", shares),
        ("kShareMn", tile.mn() / shares),
        ("kBoxMn", components.box_mn(operand)),
        ("kCopies", components.copies(operand)),
    ];
    let along_k = tile.along().is(Along::K);
    let mut text = format!(
        "struct Operand{} {{\n  static constexpr bool kAlongK = {along_k};\n",
        operand.name()
    );
    text.push_str(&facts("unsigned", &own_facts));
    text.push_str(own);
    text.push_str("};\n");
    text
}

/// Returns the maps that have a C++ twin: those of the MMA, of the ring, and of split-K slots.
fn mirrored(components: &WarpSpecialized) -> Vec<MirroredMap> {
    let ring: [MirroredMap; 2] = [
        (
            "ring",
            "threadblock::PipelineLayout<Config::Ring>",
            Arc::new(PipelineLayout(components.ring)),
        ),
        (
            "position",
            "threadblock::RingPosition<Config::Ring>",
            Arc::new(RingPosition { stages: components.ring.stages }),
        ),
    ];
    let slot = components.options.split_k.then(|| -> MirroredMap {
        ("slot", "epilogue::Partials<Config>::Map", Arc::new(components.slot_map()))
    });
    let maps = components.mma.consumer_maps(components).into_iter();
    maps.chain(ring).chain(slot).collect()
}

/// Returns the fingerprint assertions of emulated f32, of the tiles of clusters, and of exchanges
/// before wide stores.
fn assertions(d: &GemmDesc, components: &WarpSpecialized) -> String {
    let mut text = emulation_fingerprints(d.emulation(), d.frame);
    if components.threads().is_none() {
        let types = (d.output.compute, d.output.element);
        for element in d.epilogue.matrices_written(types) {
            let columns = components.subtile_columns;
            let (twin, map) =
                (QuadTranspose::twin(element, columns), QuadTranspose::new(element, columns));
            text.push_str(&fingerprint_assertion(&twin, "exchange", &map));
        }
    }
    let batch = if d.work.mode.several() { 3 } else { 1 };
    for (rows, columns) in ORDERED {
        let twin = format!("threadblock::ClusterTiles<Config, {rows}, {columns}, {batch}>");
        let tiles = ClusterTiles(Work {
            kind: if d.streams_k() { WorkKind::Persistent } else { d.work_ring() },
            order: d.work.swizzle,
            cluster: d.mainloop.cluster(),
            rows,
            columns,
            batch,
            tiles_k: 1,
            split_k: components.ring.senders() + 1,
            clusters: 1,
        });
        text.push_str(&fingerprint_assertion(&twin, "tiles", &tiles));
    }
    text
}

/// Returns the translation unit of a kernel.
pub(crate) fn translation_unit(
    d: &GemmDesc,
    components: &WarpSpecialized,
    with_fingerprints: bool,
) -> TranslationUnit {
    let mma = components.mma.consumer_cuda(d, components);
    let operands = OperandKind::BOTH
        .map(|operand| operand_header(components, operand, &mma.operands[operand.index()]));
    let own = [
        ("kStageRow", components.tile(OperandKind::A).row_bytes()),
        ("kAccumulators", components.numbers()),
        ("kVectorsAhead", components.vectors_ahead().max(1)),
    ];
    let text = MainloopText {
        template: d.mainloop.cuda(),
        includes: &["schedule/roles.cuh", "threadblock/tma_ring/pipeline.cuh"],
        declarations: [
            TensorMap::declaration(),
            TensorGemmParams::declaration(),
            DecomposedLine::declaration(),
            emulation_header(d.emulation(), d.frame),
            components.ring.header(),
            // The components come from a valid description, so their schedules exist.
            components.roles().header(),
            mma.declarations.clone(),
            operands.concat(),
        ]
        .concat(),
        members: "  using Ring = threadblock::Pipeline<RingFacts>;\n  using Roles = ::Roles;\n  using Emulation = ::EmulationFacts;\n"
            .to_owned()
            + &facts("int", &own),
        params: "TensorGemmParams",
        reduction: ("epilogue/tensor_store/reduction.cuh", "epilogue::ReduceOctets<Config>"),
        mma,
    };
    let fingerprints = with_fingerprints.then(|| MainloopFingerprints {
        maps: mirrored(components),
        assertions: assertions(d, components),
    });
    gemm_unit(d, &text, fingerprints.as_ref())
}
