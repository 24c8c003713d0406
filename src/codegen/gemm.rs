//! The translation unit of a GEMM kernel: a main loop with an MMA, and their facts.

use crate::{
    codegen::{
        ENTRY, EpilogueOperandParams, GemmParams, IndexParams, REDUCTION_ENTRY, SumParams,
        TranslationUnit, config_header, entry_point, facts::facts, fingerprint_assertion,
        fingerprints_of, fingerprints_of_groups, fingerprints_of_slices, fingerprints_of_streams,
        records_fingerprint, reduction_entry_point, work_facts,
    },
    epilogue::{
        lanes::PartMap,
        sums::{SUM_THREADS, SumOrder},
    },
    layout::index_map::IndexMap,
    nest::{GemmDesc, plan::Geometry},
    shape::{Axis, OperandKind},
    warp::{MirroredMap, MmaText},
};
use core::fmt::Write;

/// The C++ that a main loop supplies to a kernel, with that of the MMA inside.
pub(crate) struct MainloopText {
    /// Header and name of the main loop's template. Its parameters are `Config` and the MMA.
    pub template: [&'static str; 2],
    /// Headers that the generated header includes.
    pub includes: &'static [&'static str],
    /// Declarations that precede `Config`.
    pub declarations: String,
    /// Members of `Config`.
    pub members: String,
    /// C++ type of the parameters.
    pub params: &'static str,
    /// Header and C++ type of the kernel that reduces split-K partials.
    pub reduction: (&'static str, &'static str),
    /// The MMA.
    pub mma: MmaText,
}

/// Maps and fingerprint assertions of a main loop and its MMA.
pub(crate) struct MainloopFingerprints {
    /// Maps that have a C++ twin.
    pub maps: Vec<MirroredMap>,
    /// Further assertions.
    pub assertions: String,
}

/// Returns `config.cuh`: the facts of a description for the C++ templates.
fn header(desc: &GemmDesc, geometry: &Geometry, text: &MainloopText) -> String {
    let cluster = desc.mainloop.cluster();
    let block = [
        ("kTileM", geometry.tile.m),
        ("kTileN", geometry.tile.n),
        ("kTileK", geometry.tile.k),
        ("kThreads", geometry.threads),
        ("kBlocksPerSm", desc.limits.blocks_per_sm),
        ("kClusterM", cluster.m),
        ("kClusterN", cluster.n),
    ];
    let includes = [
        &[
            "numeric.cuh",
            "epilogue/math.cuh",
            "epilogue/operands.cuh",
            "epilogue/results.cuh",
            "epilogue/vectors.cuh",
            "threadblock/work.cuh",
        ],
        text.includes,
        text.mma.includes,
    ]
    .concat();
    let declarations = [
        &EpilogueOperandParams::declaration(),
        &IndexParams::declaration(),
        &SumParams::declaration(),
        &GemmParams::declaration(),
        &text.declarations,
    ]
    .map(String::as_str)
    .concat();
    let members = [
        work_facts(desc, geometry),
        facts("int", &block),
        text.members.clone(),
        text.mma.members.clone(),
    ];
    config_header(desc, (&includes, &declarations), &members.concat())
}

/// Returns the fingerprint assertions of a kernel.
fn fingerprints(desc: &GemmDesc, geometry: &Geometry, of: &MainloopFingerprints) -> String {
    let order = desc.swizzle();
    let mut text = fingerprints_of(&of.maps, order);
    text.push_str(&of.assertions);
    text.push_str(&fingerprints_of_groups(
        (desc.work.mode, geometry.group_step),
        geometry.tile,
        (order, desc.mainloop.cluster()),
    ));
    if let Some(map) = desc.gate_map(geometry.tile) {
        let twin = format!("threadblock::GateMap<{}, {}>", map.warp, map.tile);
        text.push_str(&fingerprint_assertion(&twin, "gate", &map));
    }
    for (axis, side, down) in [(Axis::M, OperandKind::A, true), (Axis::N, OperandKind::B, false)] {
        if desc.epilogue.sum_along(axis).is_some() {
            let map = PartMap(SumOrder::new(desc, side));
            let (lanes, lines) = (desc.tiled_mma().lanes(), map.domain().column);
            let twin = format!("epilogue::PartMap<{lanes}, {down}, {lines}>");
            text.push_str(&fingerprint_assertion(&twin, "parts", &map));
        }
    }
    if desc.work.mode.is_array() {
        text.push_str(&records_fingerprint(desc.has_positions()));
    }
    if desc.streams_k() {
        text.push_str(&fingerprints_of_streams());
    } else if desc.has_slices() {
        text.push_str(&fingerprints_of_slices());
    }
    text
}

/// Returns the translation unit of a kernel. Fingerprints are for test builds.
pub(crate) fn gemm_unit(
    desc: &GemmDesc,
    text: &MainloopText,
    of: Option<&MainloopFingerprints>,
) -> TranslationUnit {
    let geometry = desc.geometry();
    let ([header_of_loop, name], mma) = (text.template, &text.mma);
    let mut source = format!(
        "#include \"config.cuh\"\n#include \"{}\"\n#include \"{}\"\nusing Mainloop = {}<Config, {}>;\n",
        header_of_loop, mma.header, name, mma.name
    );
    if let Some(of) = of {
        source.push_str(&fingerprints(desc, &geometry, of));
    }
    let cluster = match geometry.cluster {
        1 => String::new(),
        blocks => format!("__cluster_dims__({blocks}, 1, 1) "),
    };
    let params = text.params;
    let _ = writeln!(
        source,
        "extern \"C\" __global__ void {cluster}__launch_bounds__(Config::kThreads, Config::kBlocksPerSm) {ENTRY}(const __grid_constant__ {params} params) {{\n  Mainloop::compute(params);\n}}"
    );
    if desc.epilogue.has_sums() {
        let _ = writeln!(source, "#include \"epilogue/sums.cuh\"");
        let bounds = SUM_THREADS.to_string();
        let run = "epilogue::AddParts<Config>::run";
        source.push_str(&entry_point(REDUCTION_ENTRY, (&bounds, params), run));
    }
    let sums = desc.epilogue.has_sums().then_some(REDUCTION_ENTRY);
    let second = geometry.reduction.map(|reduction| {
        let (header, ty) = text.reduction;
        let _ = writeln!(source, "#include \"{header}\"");
        source.push_str(&reduction_entry_point(reduction, params, ty));
        REDUCTION_ENTRY
    });
    TranslationUnit {
        entry: ENTRY,
        second: second.or(sums),
        waits: true,
        source,
        config: header(desc, &geometry, text),
        headers: &[],
    }
}
