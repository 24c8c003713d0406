//! Version 3 of the form: every family's knobs side by side, those of the kernel's A and B.

use crate::{
    arch::{ArchKind, OpKind},
    desc::{Class, FamilyDesc, Frame, GemmDesc, PromotionKind, SimtKnobs, SourceKind, SpillKind, WarpSpecializedKnobs},
    epilogue::EpilogueDesc,
    layout::Order,
    numeric::{Combined, ComputeKind, ElementKind, SplitKind},
    schedule::ScheduleKind,
    shape::{Mn, Mnk},
    threadblock::{MainloopKind, SmemLayout, SwizzleKind},
    warp::{InterleaveKind, UnrollKind},
};
use serde::Deserialize;

/// The version that it reads.
pub(super) const VERSION: u64 = 3;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Flat {
    #[serde(rename = "version")]
    _version: u64,
    a: ElementKind,
    b: ElementKind,
    c: ElementKind,
    accumulator: ElementKind,
    compute: ComputeKind,
    layout_a: Order,
    layout_b: Order,
    #[serde(default)]
    layout_c: Order,
    exchanged: bool,
    op: OpKind,
    arch: ArchKind,
    threadblock: Mnk,
    warp: Mnk,
    instruction: Mnk,
    mainloop: MainloopKind,
    stages: u32,
    swizzle: SwizzleKind,
    align_a: u32,
    align_b: u32,
    align_c: u32,
    smem_a: SmemLayout,
    smem_b: SmemLayout,
    blocks_per_sm: u32,
    cluster: Mn,
    schedule: ScheduleKind,
    promotion: PromotionKind,
    #[serde(default)]
    split: SplitKind,
    #[serde(default)]
    source_a: SourceKind,
    interleave: InterleaveKind,
    unroll: UnrollKind,
    spills: SpillKind,
    epilogue: EpilogueDesc,
}

impl TryFrom<Flat> for GemmDesc {
    type Error = String;

    fn try_from(flat: Flat) -> Result<Self, String> {
        let types = Combined { a: flat.a, b: flat.b, accumulator: flat.accumulator, c: flat.c };
        let mut class = Class::new(flat.op, flat.arch, types, [flat.layout_a, flat.layout_b]);
        (class.compute, class.output.layout, class.output.epilogue) = (flat.compute, flat.layout_c, flat.epilogue);
        let frame = if flat.exchanged { Frame::Exchanged } else { Frame::AsGiven };
        let Flat { threadblock, warp, stages, swizzle, align_a, align_b, align_c, spills, .. } = flat;
        // What the family has no knob for has the one value that it could have.
        let (family, foreign) = if flat.mainloop == MainloopKind::WarpSpecialized {
            let Flat { instruction, cluster, schedule, promotion, split: emulation, source_a: a_operand, .. } = flat;
            let knobs = WarpSpecializedKnobs {
                threadblock,
                warp,
                instruction,
                stages,
                swizzle,
                align_a,
                align_b,
                align_c,
                cluster,
                schedule,
                promotion,
                emulation,
                a_operand,
                spills,
            };
            let foreign = [
                ("smem_a", flat.smem_a != SmemLayout::Auto),
                ("smem_b", flat.smem_b != SmemLayout::Auto),
                ("blocks_per_sm", flat.blocks_per_sm != 1),
                ("interleave", flat.interleave != InterleaveKind::Vector),
                ("unroll", flat.unroll != UnrollKind::Full),
                ("", false),
            ];
            (FamilyDesc::WarpSpecialized(knobs), foreign)
        } else {
            let Flat { mainloop, smem_a, smem_b, blocks_per_sm, interleave, unroll, .. } = flat;
            let knobs = SimtKnobs {
                threadblock,
                warp,
                mainloop,
                stages,
                swizzle,
                align_a,
                align_b,
                align_c,
                smem_a,
                smem_b,
                blocks_per_sm,
                interleave,
                unroll,
                spills,
            };
            let foreign = [
                ("instruction", flat.instruction != Mnk::new(1, 1, 1)),
                ("cluster", flat.cluster != Mn { m: 1, n: 1 }),
                ("schedule", flat.schedule != ScheduleKind::Cooperative),
                ("promotion", flat.promotion != PromotionKind::Never),
                ("split", flat.split != SplitKind::None),
                ("source_a", flat.source_a != SourceKind::Shared),
            ];
            (FamilyDesc::Simt(knobs), foreign)
        };
        match foreign.into_iter().find(|(_, set)| *set) {
            Some((name, _)) => Err(format!("`{name}` is no knob of the {} main loop", family.mainloop().name())),
            None => Ok(Self { class, frame, family }),
        }
    }
}
