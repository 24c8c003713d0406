//! The translation unit of a kernel whose threads all follow one schedule.

use crate::{
    codegen::{
        ENTRY, EpilogueOperandParams, GemmParams, REDUCTION_ENTRY, TranslationUnit, config_header,
        entry_point, facts::facts, facts_of_threads, fingerprints_of, fingerprints_of_groups,
        fingerprints_of_slices, fingerprints_of_streams, records_fingerprint,
        reduction_entry_point, work_facts,
    },
    epilogue::tile_store::sums_ahead,
    shape::Mn,
    threadblock::{
        StagedOperand,
        mma::{check::registers_available, kernel::OneSchedulePlan, program::Program},
        smem::Along,
    },
};
use core::fmt::Write;

/// Returns the facts of one operand as a C++ struct.
fn operand_header(
    name: &str,
    d: &StagedOperand,
    byte_offset: u32,
    others: &[(&'static str, String)],
) -> String {
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
    others.iter().for_each(|(fact, value)| {
        let _ = writeln!(text, "  static constexpr {fact} = {value};");
    });
    text.push_str("};\n");
    text
}

/// Returns `config.cuh`: the components, the schedule, and the epilogue, for the C++ templates.
fn header(of: &OneSchedulePlan) -> String {
    let base = &of.base;
    let available = registers_available(
        base.tiles.threads(),
        of.desc.limits.blocks_per_sm,
        of.desc.arch.machine().registers_per_sm,
    );
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
        ("kSumsAhead", sums_ahead(base, [base.registers(), available])),
    ];
    let declarations = [
        EpilogueOperandParams::declaration(),
        GemmParams::declaration(),
        operand_header("OperandA", &a, 0, &of.mma.operand_facts[0]),
        operand_header("OperandB", &b, a.stage_bytes(), &of.mma.operand_facts[1]),
        of.mma.declarations.clone(),
        base.schedule().header(),
    ];
    let mut members = "  using Schedule = ::Schedule;\n".to_owned();
    members.push_str(&work_facts(base.work, &of.desc, (of.desc.has_slices(), 1)));
    members.push_str(&facts(
        "int",
        facts_of_threads(
            &base.tiles,
            (base.accumulator, of.desc.limits.blocks_per_sm),
            base.store_access,
        )
        .iter()
        .chain(&own),
    ));
    of.mma.facts.iter().for_each(|(member, value)| {
        let _ = writeln!(members, "  {member} = {value};");
    });
    let includes =
        [&["numeric.cuh", "schedule.cuh", "threadblock/work.cuh"], of.mma.includes].concat();
    config_header(&of.desc, (&includes, &declarations.concat()), &members)
}

/// Returns the translation unit of a kernel.
pub(crate) fn translation_unit(of: &OneSchedulePlan, with_fingerprints: bool) -> TranslationUnit {
    let (maps, mainloop) =
        (of.mma.headers.first().map_or("", |header| header.0), of.base.mainloop.cuda());
    let mut source = format!(
        "#include \"config.cuh\"\n#include \"{maps}\"\nusing Mainloop = {mainloop}<Config, {}>;\n",
        of.mma.name
    );
    if with_fingerprints {
        let program = Program::new(of.desc, of.base);
        source.push_str(&fingerprints_of(&program.mirrored(), of.desc.swizzle()));
        source.push_str(&of.mma.fingerprints);
        source.push_str(&fingerprints_of_groups(
            (of.desc.work.mode, of.desc.group_step()),
            of.base.tiles.block,
            (of.desc.swizzle(), Mn::ONE),
        ));
        if of.desc.work.mode.is_array() {
            source.push_str(&records_fingerprint(false));
        }
        if of.desc.streams_k() {
            source.push_str(&fingerprints_of_streams());
        } else if of.desc.has_slices() {
            source.push_str(&fingerprints_of_slices());
        }
    }
    let params = "GemmParams";
    let bounds = "Config::kThreads, Config::kBlocksPerSm";
    source.push_str(&entry_point(
        ENTRY,
        (bounds, params),
        "family::OneSchedule<Config, Mainloop>::run",
    ));
    let second = of.desc.geometry().reduction.map(|reduction| {
        source.push_str(&reduction_entry_point(
            reduction,
            params,
            "epilogue::ReduceTile<Config, Mainloop::Warp>",
        ));
        REDUCTION_ENTRY
    });
    TranslationUnit {
        entry: ENTRY,
        second,
        waits: true,
        source,
        config: header(of),
        headers: of.mma.headers,
    }
}
