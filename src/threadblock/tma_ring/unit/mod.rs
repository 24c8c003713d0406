//! The translation unit of a warp-specialized kernel.

mod simt;

use crate::{
    codegen::{
        DecomposedLine, ENTRY, ORDERED, REDUCTION_ENTRY, TensorGemmParams, TensorMap,
        TranslationUnit, config_header, emulation_fingerprints, emulation_header,
        fingerprint_assertion, fingerprints_of, fingerprints_of_groups, fingerprints_of_slices,
        fingerprints_of_streams, records_fingerprint, reduction_entry_point, work_facts,
    },
    epilogue::{
        partials::SlotMap,
        tensor_store::{StagedMap, StagingMap},
    },
    facts::facts,
    index::Map,
    nest::GemmDesc,
    operand::OperandKind,
    smem::Along,
    threadblock::{
        ClusterTiles, PipelineLayout, RingPosition, StageTile, WarpSpecialized, Work, WorkKind,
    },
    warp::{
        TiledMma,
        wgmma::{AccumulatorMap, MmaWarpgroup},
    },
};
use core::fmt::Write;
use std::sync::Arc;

/// The header of the kernel.
const TWIN: &[(&str, &str)] = &[(
    "threadblock/tma_ring/kernel.cuh",
    include_str!("../../../../kernels/threadblock/tma_ring/kernel.cuh"),
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
fn header(d: &GemmDesc, components: &WarpSpecialized) -> String {
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
    let own = match &components.mma {
        TiledMma::Simt(tiles) | TiledMma::MmaSync(tiles, _) => simt::own(d, components, tiles),
        TiledMma::Wgmma(mma, _) => warpgroup_facts(d, components, mma),
    };
    let includes = ["numeric.cuh", "schedule/roles.cuh", "threadblock/work.cuh", own.twin];
    let mut declarations = [
        TensorMap::declaration(),
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

/// The additions to `config.cuh` that depend on the units that multiply.
struct Own {
    /// Header of their multiply-adds.
    twin: &'static str,
    /// C++ structs.
    structs: String,
    /// Lines of the structs of A and of B.
    operands: [String; 2],
    /// Type aliases in `Config`.
    aliases: String,
    /// Facts of `Config`.
    facts: Vec<(&'static str, u32)>,
}

/// Returns the additions for warpgroups on the tensor cores.
fn warpgroup_facts(d: &GemmDesc, components: &WarpSpecialized, mma: &MmaWarpgroup) -> Own {
    let rows = components.fragment_rows().cuda();
    let mut aliases = format!(
        "  using Mma = ::WarpgroupMma;\n  static constexpr warp::FragmentRows kFragmentRows = {rows};\n"
    );
    let mut structs = mma.header("WarpgroupMma");
    if let Some(load) = components.fragment_load() {
        structs.push_str(&load.tile.header("FragmentTile"));
        let _ = writeln!(
            aliases,
            "  using FragmentLoad = warp::FragmentLoad<::FragmentTile, kFragmentRows>;\n  using Fragments = warp::FragmentLoader<FragmentLoad, {}>;",
            components.repeats.m
        );
    } else {
        aliases.push_str("  using Fragments = warp::NoFragments;\n");
    }
    Own {
        twin: "warp/wgmma/registers.cuh",
        structs,
        operands: Default::default(),
        aliases,
        facts: vec![
            ("kWarpM", d.warp().m),
            ("kWarpN", d.warp().n),
            ("kConsumersM", components.consumers.m),
            ("kConsumersN", components.consumers.n),
            ("kRepeatsM", components.repeats.m),
            ("kRepeatsN", components.repeats.n),
            ("kStoreAccess", d.output.access),
            ("kByTma", u32::from(d.by_tma())),
            ("kSubtileColumns", components.subtile_columns),
            ("kColumnMajor", u32::from(!components.layout_c.is_row())),
            ("kSubtileBoxRows", components.subtile_box_rows()),
            ("kSubtileSwizzle", components.subtile_swizzle.bits()),
            ("kPromotes", u32::from(d.promotes())),
            ("kFragmentSets", components.options.fragment_sets()),
        ],
    }
}

/// A map with its name and the name of its C++ twin.
type Mirrored = (&'static str, &'static str, Map);

/// Returns the maps that have a C++ twin.
fn mirrored(components: &WarpSpecialized) -> Vec<Mirrored> {
    let own: Vec<Mirrored> = match &components.mma {
        TiledMma::Simt(tiles) | TiledMma::MmaSync(tiles, _) => simt::mirrored(components, tiles),
        TiledMma::Wgmma(mma, _) => {
            let tile = |operand| -> Map {
                match components.tile(operand) {
                    StageTile::Warpgroup(tile) => Arc::new(tile),
                    StageTile::Threads { .. } => Arc::new(components.boxed_tile(operand)),
                }
            };
            let rows = components.fragment_rows();
            let smem_a = match components.fragment_load() {
                None => "warp::OperandTile<Config::Mma::A>",
                Some(_) => "Config::FragmentLoad::Tile",
            };
            let load = components
                .fragment_load()
                .map(|load| -> Mirrored { ("fragments", "Config::FragmentLoad", Arc::new(*load)) });
            let others: [Mirrored; 5] = [
                ("smem_a", smem_a, tile(OperandKind::A)),
                ("smem_b", "warp::OperandTile<Config::Mma::B>", tile(OperandKind::B)),
                (
                    "accumulator",
                    "warp::AccumulatorMap<Config::Mma::kN, Config::kFragmentRows>",
                    Arc::new(AccumulatorMap::new(&mma.instruction()).with_rows(rows)),
                ),
                ("staging", "epilogue::StagingMap<Config>", Arc::new(StagingMap::new(components))),
                ("staged", "epilogue::StagedMap<Config>", Arc::new(StagedMap::new(components))),
            ];
            others.into_iter().chain(load).collect()
        }
    };
    let ring: [Mirrored; 2] = [
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
    let slot = components.options.split_k.then(|| -> Mirrored {
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
    let consumer = match components.threads() {
        None => "Consumer",
        Some(_) => {
            source.push_str("#include \"threadblock/tma_ring/simt.cuh\"\n");
            "SimtConsumer"
        }
    };
    if with_fingerprints {
        let (order, cluster) = (d.work.swizzle, d.mainloop.cluster());
        let mirrored = mirrored(components);
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
        "extern \"C\" __global__ void {cluster}__launch_bounds__(Config::kThreads, 1) {ENTRY}(const __grid_constant__ {params} params) {{\n  family::warp_specialized<Config, threadblock::{consumer}>(params);\n}}"
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
        config: header(d, components),
        headers: TWIN,
    }
}
