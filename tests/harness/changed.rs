//! Modified descriptions.

use crate::harness::prelude::*;

/// Returns the CUDA source of a valid description.
pub fn unit_of(desc: &GemmDesc, with_fingerprints: bool) -> TranslationUnit {
    desc.plan().expect("a kernel").unit(with_fingerprints)
}

/// Returns the description with some knobs changed. Its kernel must have these knobs.
pub fn pinned(desc: GemmDesc, pins: Pins) -> GemmDesc {
    let foreign = desc.knobs().foreign(Pins { mainloop: None, ..pins });
    assert!(foreign.is_none(), "{:?} is not a knob of {:?}", foreign.first(), desc.mainloop.kind());
    desc.pinned(pins)
}

/// Returns a description with some fields and knobs changed:
/// `but!(desc, a: ElementKind::F16, stages: 3)`.
macro_rules! but {
    ($desc:expr $(, $field:ident $(: $value:expr)?)* $(,)?) => {{
        #[allow(unused_mut)]
        let mut desc = falchion::nest::GemmDesc::from($desc);
        $(but!(@given desc, $field $(, $value)?);)*
        desc
    }};
    (@given $d:ident, $field:ident) => { but!(@set $d, $field, $field) };
    (@given $d:ident, $field:ident, $value:expr) => { but!(@set $d, $field, $value) };
    (@set $d:ident, a, $value:expr) => { $d.operands[0].stored = $value };
    (@set $d:ident, b, $value:expr) => { $d.operands[1].stored = $value };
    (@set $d:ident, c, $value:expr) => { $d.output.element = $value };
    (@set $d:ident, accumulator, $value:expr) => { $d.output.accumulator = $value };
    (@set $d:ident, compute, $value:expr) => { $d.output.compute = $value };
    (@set $d:ident, layout_a, $value:expr) => { $d.operands[0].layout = $value };
    (@set $d:ident, layout_b, $value:expr) => { $d.operands[1].layout = $value };
    (@set $d:ident, layout_c, $value:expr) => { $d.frame = $d.frame.with_d_order($value) };
    (@set $d:ident, arch, $value:expr) => { $d.arch = $value };
    (@set $d:ident, epilogue, $value:expr) => { $d.epilogue = $value };
    (@set $d:ident, swapped, $value:expr) => { $d.frame.swapped = $value };
    (@set $d:ident, $knob:ident, $value:expr) => {
        $d = $crate::harness::pinned($d, falchion::nest::Pins { $knob: Some($value), ..falchion::nest::Pins::NONE })
    };
}

/// The knobs of a description as plain values, and the fields that tests change. A knob that the
/// kernel does not have has an arbitrary value.
#[derive(Clone, Copy)]
pub struct Changed {
    pub desc: GemmDesc,
    before: Pins,
    pub threadblock: Mnk,
    pub warp: Mnk,
    pub instruction: Mnk,
    pub mainloop: MainloopKind,
    pub stages: u32,
    pub swizzle: SwizzleKind,
    pub split_k: u32,
    pub decomposition: DecompositionKind,
    pub align_a: u32,
    pub align_b: u32,
    pub align_c: u32,
    pub smem_a: SmemLayout,
    pub smem_b: SmemLayout,
    pub blocks_per_sm: u32,
    pub cluster: Mn,
    pub schedule: ScheduleKind,
    pub pending: u32,
    pub promotion: PromotionKind,
    pub emulation: EmulationKind,
    pub a_operand: AOperandKind,
    pub saturate: SaturateKind,
    pub interleave: InterleaveKind,
    pub unroll: UnrollKind,
    pub spills: SpillKind,
}

impl Changed {
    pub fn new(desc: GemmDesc) -> Self {
        let before = desc.pins();
        Self {
            desc,
            before,
            threadblock: desc.threadblock(),
            warp: desc.warp(),
            instruction: desc.instruction(),
            mainloop: desc.mainloop.kind(),
            stages: desc.stages(),
            swizzle: desc.swizzle(),
            split_k: desc.split_k(),
            decomposition: desc.decomposition(),
            align_a: desc.alignments()[0],
            align_b: desc.alignments()[1],
            align_c: desc.alignments()[2],
            smem_a: desc.operands[0].smem,
            smem_b: desc.operands[1].smem,
            blocks_per_sm: desc.limits.blocks_per_sm,
            cluster: desc.cluster(),
            schedule: desc.schedule(),
            pending: desc.mma.pending(),
            promotion: desc.mma.promotion(),
            emulation: desc.emulation(),
            a_operand: desc.mma.a_operand(),
            saturate: desc.mma.saturate(),
            interleave: desc.mma.interleave(),
            unroll: desc.mainloop.unroll(),
            spills: desc.limits.spills,
        }
    }

    /// Returns the pins of the values that differ from those of the description.
    pub fn pins(&self) -> Pins {
        let all = Pins {
            threadblock: Some(self.threadblock),
            warp: Some(self.warp),
            instruction: Some(self.instruction).filter(|shape| shape.k > 0),
            mainloop: Some(self.mainloop),
            stages: Some(self.stages),
            swizzle: Some(self.swizzle),
            split_k: Some(self.split_k),
            decomposition: Some(self.decomposition),
            align_a: Some(self.align_a),
            align_b: Some(self.align_b),
            align_c: Some(self.align_c),
            smem_a: Some(self.smem_a),
            smem_b: Some(self.smem_b),
            blocks_per_sm: Some(self.blocks_per_sm),
            cluster: Some(self.cluster),
            schedule: Some(self.schedule),
            pending: Some(self.pending),
            promotion: Some(self.promotion),
            emulation: Some(self.emulation),
            a_operand: Some(self.a_operand),
            saturate: Some(self.saturate),
            interleave: Some(self.interleave),
            unroll: Some(self.unroll),
            spills: Some(self.spills),
            ..Pins::NONE
        };
        Pins { stages: all.stages, ..all.differing_from(&self.before) }
    }

    /// Returns the description with the changed values, which is not checked.
    pub fn unchecked(&self) -> GemmDesc {
        self.desc.pinned(self.pins())
    }

    /// Returns the description with the changed values, or the refusal of a value that the main
    /// loop cannot have.
    pub fn apply(&self) -> Result<GemmDesc, Refusal> {
        let (pins, desc) = (self.pins(), self.unchecked());
        desc.mainloop.check_pinned(&pins)?;
        desc.check()?;
        Ok(desc)
    }
}

/// Returns an MMA of these units with the same warp tile, or `mma` if there is none.
pub fn with_units(mma: WarpMma, op: OpKind) -> WarpMma {
    let warp = mma.warp();
    let all = [
        WarpMma::Simt(SimtKnobs { warp, thread: None, interleave: InterleaveKind::Vector }),
        WarpMma::MmaSync(MmaSyncKnobs {
            warp,
            instruction: Mnk::new(16, 8, 8),
            saturate: SaturateKind::Off,
        }),
        WarpMma::Wgmma(WgmmaKnobs { warp, ..WgmmaKnobs::DEFAULT }),
    ];
    [mma].into_iter().chain(all).find(|mma| mma.op() == op).unwrap_or(mma)
}
