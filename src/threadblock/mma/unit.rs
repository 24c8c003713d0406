//! The translation unit of a kernel whose threads all follow one schedule.

use crate::{
    codegen::{
        MainloopFingerprints, MainloopText, TranslationUnit, facts::facts, facts_of_threads,
        gemm_unit,
    },
    epilogue::tile_store::sums_ahead,
    nest::GemmDesc,
    threadblock::{MmaBase, StagedOperand, mma::program::Program, smem::Along},
};
use core::fmt::Write;

/// Returns the facts of one operand as a C++ struct.
fn operand_header(name: &str, d: &StagedOperand, byte_offset: u32, others: &str) -> String {
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
    let _ = writeln!(text, "  static constexpr bool kIndexed = {};", d.indexed);
    text.push_str(&facts("int", smem.facts().iter().chain(&own)));
    text.push_str(others);
    text.push_str("};\n");
    text
}

/// Returns the translation unit of a kernel.
pub(crate) fn translation_unit(
    desc: &GemmDesc,
    base: &MmaBase,
    with_fingerprints: bool,
) -> TranslationUnit {
    let available = desc.registers_available(desc.arch.machine().registers_per_sm);
    let own = [
        ("kStages", base.stages),
        ("kStageBytes", base.stage_bytes()),
        ("kSumsAhead", sums_ahead(base, [base.registers(), available])),
    ];
    let threads = facts_of_threads(desc, &base.tiles);
    let ([a, b], mma) = (base.operands, desc.mma.cuda(desc, base));
    let text = MainloopText {
        template: desc.mainloop.cuda(),
        includes: &["schedule.cuh"],
        declarations: [
            operand_header("OperandA", &a, 0, &mma.operands[0]),
            operand_header("OperandB", &b, a.stage_bytes(), &mma.operands[1]),
            mma.declarations.clone(),
            base.schedule().header(),
        ]
        .concat(),
        members: "  using Schedule = ::Schedule;\n".to_owned()
            + &facts("int", own.iter().chain(&threads)),
        params: "GemmParams",
        reduction: ("epilogue/tile_store.cuh", "epilogue::ReduceTile<Config, Mainloop::Warp>"),
        mma,
    };
    let fingerprints = with_fingerprints.then(|| MainloopFingerprints {
        maps: Program::new(*desc, *base).mirrored(),
        assertions: desc.mma.fingerprints(desc, base),
    });
    gemm_unit(desc, &text, fingerprints.as_ref())
}
