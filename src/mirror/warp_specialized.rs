//! The text of a kernel whose warpgroups have roles.

use super::{
    ENTRY, ORDERED, SplitLine, TensorGemmParams, TensorMap, TranslationUnit, epilogue_header, fingerprint_assertion,
    fingerprints_of, order_header,
};
use crate::{
    desc::{GemmDesc, OperandKind},
    device::{host::Map, split_fingerprints, split_header},
    epilogue::tensor_store::StagingMap,
    threadblock::{Along, ClusterTiles, PipelineLayout, RingPosition, TileOrder, TileScheduler, WarpSpecialized},
    warp::mma_warpgroup::{AccumulatorMap, STAGE_BYTES},
};
use core::fmt::Write;
use std::sync::Arc;

/// One operand's facts, as a C++ struct.
fn operand_header(components: &WarpSpecialized, operand: OperandKind) -> String {
    let (tile, shares) = (components.tile(operand), components.ring.shares(operand));
    let facts = [
        ("kShares", shares),
        ("kShareMn", tile.mn() / shares),
        ("kBoxMn", components.box_mn(operand)),
        ("kCopies", components.copies(operand)),
    ];
    let along_k = tile.along().is(Along::K);
    let mut text = format!("struct Operand{} {{\n  static constexpr bool kAlongK = {along_k};\n", operand.name());
    for (fact, value) in facts {
        let _ = writeln!(text, "  static constexpr unsigned {fact} = {value};");
    }
    text.push_str("};\n");
    text
}

/// `config.cuh`: the components, the roles and the epilogue, for the C++ templates.
pub(super) fn header(d: &GemmDesc, components: &WarpSpecialized) -> String {
    let facts = [
        ("kTileM", d.threadblock.m),
        ("kTileN", d.threadblock.n),
        ("kTileK", d.threadblock.k),
        ("kStageRow", STAGE_BYTES),
        ("kWarpM", d.warp.m),
        ("kWarpN", d.warp.n),
        ("kConsumersM", components.consumers.m),
        ("kConsumersN", components.consumers.n),
        ("kRepeatsM", components.repeats.m),
        ("kRepeatsN", components.repeats.n),
        ("kClusterM", d.cluster.m),
        ("kClusterN", d.cluster.n),
        ("kThreads", components.ring.threads()),
        ("kStoreAccess", d.align_c),
        ("kSliceColumns", components.slice_columns),
        ("kSliceSwizzle", components.slice_swizzle.bits()),
    ];
    let mut text = String::from(
        "#pragma once\n#include \"numeric.cuh\"\n#include \"schedule/roles.cuh\"\n#include \"warp/mma_warpgroup.cuh\"\n",
    );
    text.push_str(&TensorMap::declaration());
    text.push_str(&TensorGemmParams::declaration());
    text.push_str(&SplitLine::declaration());
    text.push_str(&split_header(d.split, d.exchanged));
    text.push_str(&components.ring.header());
    // The components were made from a description, whose schedules there are.
    text.push_str(&components.roles().header());
    text.push_str(&components.mma.header("WarpgroupMma"));
    text.push_str(&OperandKind::BOTH.map(|operand| operand_header(components, operand)).concat());
    text.push_str(&order_header(d.swizzle));
    text.push_str(&epilogue_header(d));
    text.push_str("#line 1 \"config.cuh\"\nstruct Config {\n  using A = OperandA;\n  using B = OperandB;\n");
    let _ = writeln!(text, "  using Accumulator = {};\n  using C = {};", d.accumulator.cuda(), d.c.cuda());
    text.push_str("  using Ring = threadblock::Pipeline<RingFacts>;\n  using Roles = ::Roles;\n  using Mma = ::WarpgroupMma;\n");
    text.push_str("  using Epilogue = ::Epilogue;\n  using Order = ::Order;\n  using Split = ::SplitFacts;\n");
    let _ = writeln!(text, "  static constexpr bool kPromotes = {};", d.promotes());
    for (fact, value) in facts {
        let _ = writeln!(text, "  static constexpr int {fact} = {value};");
    }
    text.push_str("};\n");
    text
}

/// The maps that have a twin, by name.
fn mirrored(components: &WarpSpecialized) -> Vec<(&'static str, Map)> {
    vec![
        ("smem_a", Arc::new(components.tile(OperandKind::A))),
        ("smem_b", Arc::new(components.tile(OperandKind::B))),
        ("accumulator", Arc::new(AccumulatorMap::of(&components.mma.instruction()))),
        ("staging", Arc::new(StagingMap::of(components))),
        ("ring", Arc::new(PipelineLayout(components.ring))),
        ("position", Arc::new(RingPosition { stages: components.ring.stages })),
    ]
}

/// The text of a kernel.
pub(super) fn translation_unit(d: &GemmDesc, components: &WarpSpecialized, with_fingerprints: bool) -> TranslationUnit {
    let mut source = String::from("#include \"config.cuh\"\n#include \"device/cuda/warp_specialized.cuh\"\n");
    if with_fingerprints {
        let (order, cluster) = (d.swizzle, d.cluster);
        source.push_str(&fingerprints_of(&mirrored(components), &|rows, columns| -> Map {
            Arc::new(TileOrder { kind: order, rows, columns })
        }));
        source.push_str(&split_fingerprints(d.split, d.exchanged));
        for (rows, columns) in ORDERED {
            let twin = format!("threadblock::ClusterTiles<Config, {rows}, {columns}>");
            let tiles = ClusterTiles(TileScheduler { order, cluster, rows, columns, clusters: 1 });
            source.push_str(&fingerprint_assertion(&twin, "tiles", &tiles));
        }
    }
    let blocks = components.ring.blocks();
    let cluster = if blocks > 1 { format!("__cluster_dims__({blocks}, 1, 1) ") } else { String::new() };
    let _ = writeln!(
        source,
        "extern \"C\" __global__ void {cluster}__launch_bounds__(Config::kThreads, 1) {ENTRY}(const __grid_constant__ TensorGemmParams params) {{\n  device::gemm_warp_specialized<Config>(params);\n}}"
    );
    TranslationUnit { entry: ENTRY, source, config: header(d, components) }
}
