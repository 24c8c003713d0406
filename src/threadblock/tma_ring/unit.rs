//! The translation unit of a warp-specialized kernel.

use crate::{
    codegen::{
        DecomposedLine, ENTRY, EpilogueOperandParams, GemmParams, ORDERED, REDUCTION_ENTRY,
        TensorGemmParams, TensorMap, TranslationUnit, config_header, emulation_fingerprints,
        emulation_header, facts::facts, fingerprint_assertion, fingerprints_of,
        fingerprints_of_groups, fingerprints_of_slices, fingerprints_of_streams,
        records_fingerprint, reduction_entry_point, work_facts,
    },
    epilogue::partials::SlotMap,
    nest::GemmDesc,
    operand::OperandKind,
    threadblock::{
        ClusterTiles, PipelineLayout, RingPosition, WarpSpecialized, Work, WorkKind, smem::Along,
    },
    warp::{ConsumerText, MirroredMap},
};
use core::fmt::Write;
use std::sync::Arc;

/// The header of the kernel.
const TWIN: &[(&str, &str)] = &[(
    "threadblock/tma_ring/kernel.cuh",
    include_str!("../../../kernels/threadblock/tma_ring/kernel.cuh"),
)];

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

/// Returns `config.cuh`: the components, the roles, and the epilogue, for the C++ templates.
fn header(d: &GemmDesc, components: &WarpSpecialized, own: ConsumerText) -> String {
    let block = [
        ("kTileM", d.threadblock().m),
        ("kTileN", d.threadblock().n),
        ("kTileK", d.threadblock().k),
        ("kStageRow", components.tile(OperandKind::A).row_bytes()),
        ("kClusterM", d.mainloop.cluster().m),
        ("kClusterN", d.mainloop.cluster().n),
        ("kThreads", components.ring.threads()),
        ("kAccumulators", components.numbers()),
        ("kVectorsAhead", components.vectors_ahead().max(1)),
    ];
    let includes = ["numeric.cuh", "schedule/roles.cuh", "threadblock/work.cuh", own.include];
    let mut declarations = [
        TensorMap::declaration(),
        EpilogueOperandParams::declaration(),
        GemmParams::declaration(),
        TensorGemmParams::declaration(),
        DecomposedLine::declaration(),
        emulation_header(d.emulation(), d.frame),
        components.ring.header(),
        // The components come from a valid description, so their schedules exist.
        components.roles().header(),
        own.structs,
    ]
    .concat();
    for (operand, own) in OperandKind::BOTH.into_iter().zip(&own.operands) {
        declarations.push_str(&operand_header(components, operand, own));
    }
    let mut members =
        "  using Ring = threadblock::Pipeline<RingFacts>;\n  using Roles = ::Roles;\n  using Emulation = ::EmulationFacts;\n"
            .to_owned();
    members.push_str(&own.aliases);
    let split_k = (d.has_slices(), components.ring.senders() + 1);
    members.push_str(&work_facts(d.work_ring(), d, split_k));
    members.push_str(&facts("int", block.iter().chain(&own.facts)));
    config_header(d, (&includes, &declarations), &members)
}

/// Returns the maps that have a C++ twin: those of the MMA, of the ring, and of split-K slots.
fn mirrored(components: &WarpSpecialized, own: Vec<MirroredMap>) -> Vec<MirroredMap> {
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
        ("slot", "epilogue::Partials<Config>::Map", Arc::new(SlotMap::new(components)))
    });
    own.into_iter().chain(ring).chain(slot).collect()
}

/// Returns the translation unit of a kernel.
pub(crate) fn translation_unit(
    d: &GemmDesc,
    components: &WarpSpecialized,
    with_fingerprints: bool,
) -> TranslationUnit {
    let mut source =
        String::from("#include \"config.cuh\"\n#include \"threadblock/tma_ring/kernel.cuh\"\n");
    let mut mma = components.mma.consumer_cuda(d, components);
    if let Some(header) = mma.header {
        let _ = writeln!(source, "#include \"{header}\"");
    }
    if with_fingerprints {
        let (order, cluster) = (d.work.swizzle, d.mainloop.cluster());
        let mirrored = mirrored(components, core::mem::take(&mut mma.maps));
        let aliases: String =
            mirrored.iter().map(|(name, twin, _)| format!("using {name} = {twin};\n")).collect();
        let _ = writeln!(source, "namespace maps {{\n{aliases}}}");
        let maps: Vec<_> = mirrored.into_iter().map(|(name, _, map)| (name, map)).collect();
        source.push_str(&fingerprints_of(&maps, order));
        source.push_str(&emulation_fingerprints(d.emulation(), d.frame));
        if d.streams_k() {
            source.push_str(&fingerprints_of_streams());
        } else if d.work.split_k > 1 {
            source.push_str(&fingerprints_of_slices());
        }
        source.push_str(&fingerprints_of_groups(
            (d.work.mode, d.group_step_ring()),
            d.threadblock(),
            (order, cluster),
        ));
        if d.work.mode.is_array() {
            source.push_str(&records_fingerprint(true));
        }
        let batch = if d.work.mode.several() { 3 } else { 1 };
        for (rows, columns) in ORDERED {
            let twin = format!("threadblock::ClusterTiles<Config, {rows}, {columns}, {batch}>");
            let tiles = ClusterTiles(Work {
                kind: if d.streams_k() { WorkKind::Persistent } else { d.work_ring() },
                order,
                cluster,
                rows,
                columns,
                batch,
                tiles_k: 1,
                split_k: components.ring.senders() + 1,
                clusters: 1,
            });
            source.push_str(&fingerprint_assertion(&twin, "tiles", &tiles));
        }
    }
    let blocks = components.ring.blocks();
    let params = "TensorGemmParams";
    let cluster =
        if blocks > 1 { format!("__cluster_dims__({blocks}, 1, 1) ") } else { String::new() };
    let _ = writeln!(
        source,
        "extern \"C\" __global__ void {cluster}__launch_bounds__(Config::kThreads, 1) {ENTRY}(const __grid_constant__ {params} params) {{\n  family::warp_specialized<Config, threadblock::{}>(params);\n}}",
        mma.name
    );
    let second = d.geometry_ring().reduction.map(|reduction| {
        source.push_str("#include \"epilogue/reduction.cuh\"\n");
        source.push_str(&reduction_entry_point(
            reduction,
            params,
            "epilogue::ReduceOctets<Config>",
        ));
        REDUCTION_ENTRY
    });
    TranslationUnit {
        entry: ENTRY,
        second,
        waits: true,
        source,
        config: header(d, components, mma),
        headers: TWIN,
    }
}
