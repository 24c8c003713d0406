//! The text of a kernel of this family.

use super::WORK;
use crate::{
    codegen::{
        ENTRY, GemmParams, TranslationUnit, epilogue_header, facts_of_threads, fingerprints_of, fingerprints_of_parts,
        order_header, work_facts,
    },
    desc::SimtDesc,
    facts::facts,
    plan::Program,
    smem::Along,
    threadblock::{MmaBase, OperandDesc},
};
use core::fmt::Write;

/// The kernel itself.
const TWIN: &[(&str, &str)] = &[("family/simt.cuh", include_str!("../../../kernels/family/simt.cuh"))];

/// One operand's facts, as a C++ struct.
fn operand_header(name: &str, d: &OperandDesc, byte_offset: u32) -> String {
    let (smem, map) = (d.smem, d.thread_map());
    let own = [
        ("kAccess", d.access),
        ("kSharedAccess", d.shared_access()),
        ("kStageOffset", byte_offset),
        ("kThreads", map.threads),
        ("kVectorsContiguous", map.contiguous),
        ("kVectorsStrided", map.strided),
        ("kLanesContiguous", map.lanes_contiguous),
        ("kWarpsContiguous", map.warps_contiguous),
        ("kWarpMn", d.warp_mn),
        ("kLanes", d.lanes),
        ("kThreadMn", d.thread_mn()),
        ("kInterleave", d.interleave()),
        ("kFragmentAccess", d.fragment_access()),
    ];
    let mut text = format!("struct {name} {{\n  using Element = {};\n", d.element.cuda());
    let _ = writeln!(text, "  static constexpr bool kContiguousK = {};", d.k_contiguous);
    let _ = writeln!(text, "  static constexpr bool kAlongK = {};", smem.along.is(Along::K));
    text.push_str(&facts("int", smem.facts().iter().chain(&own)));
    text.push_str("};\n");
    text
}

/// `config.cuh`: the components, the schedule and the epilogue, for the C++ templates.
fn header(d: &SimtDesc, base: &MmaBase) -> String {
    let [a, b] = base.operands;
    let own = [
        ("kTileM", base.tiles.block.m),
        ("kTileN", base.tiles.block.n),
        ("kTileK", base.tiles.block.k),
        ("kThreads", base.tiles.threads()),
        ("kStages", base.stages),
        ("kStageBytes", base.stage_bytes()),
        ("kClusterM", 1),
        ("kClusterN", 1),
        ("kBlocksPerSm", d.knobs.blocks_per_sm),
        ("kUnroll", d.groups_a_turn()),
    ];
    let mut text =
        String::from("#pragma once\n#include \"numeric.cuh\"\n#include \"schedule.cuh\"\n#include \"threadblock/work.cuh\"\n");
    text.push_str(&GemmParams::declaration());
    text.push_str(&operand_header("OperandA", &a, 0));
    text.push_str(&operand_header("OperandB", &b, a.stage_bytes()));
    text.push_str(&base.schedule().header());
    text.push_str(&order_header(d.knobs.swizzle));
    text.push_str(&epilogue_header(&d.class));
    text.push_str("#line 1 \"config.cuh\"\nstruct Config {\n  using A = OperandA;\n  using B = OperandB;\n");
    let _ = writeln!(text, "  using Accumulator = {};\n  using C = {};", base.accumulator.cuda(), d.class.output.element.cuda());
    text.push_str("  using Schedule = ::Schedule;\n  using Epilogue = ::Epilogue;\n");
    text.push_str(&work_facts(WORK, d.class.mode, d.knobs.split_k > 1));
    text.push_str(&facts("int", facts_of_threads(&base.tiles, base.accumulator, base.store_access).iter().chain(&own)));
    text.push_str("};\n");
    text
}

/// The text of a kernel.
pub(super) fn translation_unit(d: &SimtDesc, base: &MmaBase, with_fingerprints: bool) -> TranslationUnit {
    let mut source = format!(
        "#include \"config.cuh\"\n#include \"family/simt.cuh\"\nusing Mainloop = {}<Config>;\n",
        base.mainloop.cuda().unwrap_or_default()
    );
    if with_fingerprints {
        let program = Program::of(d.sum(), *base);
        source.push_str(&fingerprints_of(&program.mirrored(), d.knobs.swizzle));
        if d.knobs.split_k > 1 {
            source.push_str(&fingerprints_of_parts());
        }
    }
    let _ = writeln!(
        source,
        "extern \"C\" __global__ void __launch_bounds__(Config::kThreads, Config::kBlocksPerSm) {ENTRY}(const __grid_constant__ GemmParams params) {{\n  family::Simt<Config, Mainloop>::run(params);\n}}"
    );
    TranslationUnit { entry: ENTRY, source, config: header(d, base), headers: TWIN }
}
