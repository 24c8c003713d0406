//! Dispatch from an MMA to its files.

use crate::{
    nest::{
        GemmDesc, Pins,
        features::Features,
        places::{Completed, Place, Places},
    },
    refusal::{Refusal, hold},
    shape::OperandKind,
    threadblock::{
        MmaBase, StagedOperand,
        mma::{kernel, program::Program},
        smem::Along,
    },
    warp::{
        MirroredMap, MmaComponents, MmaSyncKnobs, MmaText, SimtKnobs, WarpMma, WgmmaKnobs,
        warpgroup::WARPS,
    },
};

/// Components, rules, C++, and cost in a CTA without a producer. `check` refuses `wgmma` there, so
/// its results are arbitrary.
impl WarpMma {
    /// Returns the components of a CTA.
    pub(crate) const fn components(&self, desc: &GemmDesc) -> MmaComponents {
        match self {
            Self::Simt(_) => SimtKnobs::components(desc),
            Self::MmaSync(knobs) => knobs.components(desc),
            Self::Wgmma(_) => MmaComponents::unsupported(desc),
        }
    }

    /// Checks the knobs.
    pub(crate) const fn check(&self, desc: &GemmDesc) -> Result<(), Refusal> {
        match self {
            Self::Simt(knobs) => {
                hold!(knobs.check());
                SimtKnobs::check_multiplied(desc)
            }
            Self::MmaSync(knobs) => knobs.check(desc),
            Self::Wgmma(_) => Ok(()),
        }
    }

    /// Checks that the MMA multiplies the operands: their emulations and transforms.
    pub(crate) const fn check_multiplied(&self, desc: &GemmDesc) -> Result<(), Refusal> {
        match self {
            Self::Simt(_) => SimtKnobs::check_multiplied(desc),
            Self::MmaSync(_) => MmaSyncKnobs::check_multiplied(desc),
            Self::Wgmma(_) => Ok(()),
        }
    }

    /// Checks an operand in shared memory.
    pub(crate) const fn check_operand(
        &self,
        desc: &GemmDesc,
        operand: OperandKind,
        staged: &StagedOperand,
    ) -> Result<(), Refusal> {
        match self {
            Self::Simt(_) => SimtKnobs::check_operand(desc, operand, staged),
            Self::MmaSync(_) | Self::Wgmma(_) => Ok(()),
        }
    }

    /// Returns the parts of the translation unit that depend on the MMA.
    pub(crate) fn cuda(&self, desc: &GemmDesc, base: &MmaBase) -> MmaText {
        match self {
            Self::Simt(_) => SimtKnobs::cuda(desc),
            Self::MmaSync(_) => MmaSyncKnobs::cuda(desc, base),
            Self::Wgmma(_) => MmaText::default(),
        }
    }

    /// Returns the maps of a program that have a C++ twin and depend on the MMA.
    pub(crate) fn mirrored(&self, program: &Program) -> Vec<MirroredMap> {
        match self {
            Self::Simt(_) => SimtKnobs::mirrored(program),
            Self::MmaSync(_) => MmaSyncKnobs::mirrored(program),
            Self::Wgmma(_) => Vec::new(),
        }
    }

    /// Returns the fingerprint assertions in addition to those of the maps.
    pub(crate) fn fingerprints(&self, base: &MmaBase) -> String {
        match self {
            Self::Simt(_) => SimtKnobs::fingerprints(base),
            Self::MmaSync(_) => MmaSyncKnobs::fingerprints(base),
            Self::Wgmma(_) => String::new(),
        }
    }

    /// Returns the facts for the cost model.
    pub(crate) const fn features(&self, desc: &GemmDesc, base: &MmaBase) -> Features {
        match self {
            Self::Simt(_) => SimtKnobs::features(base),
            Self::MmaSync(_) => MmaSyncKnobs::features(desc, base),
            Self::Wgmma(_) => kernel::features(base, 0),
        }
    }

    /// Returns the places of the candidates.
    pub(crate) const fn places(&self, pins: &Pins) -> Places {
        match self {
            Self::Simt(_) => SimtKnobs::places(pins),
            Self::MmaSync(_) => MmaSyncKnobs::places(pins),
            Self::Wgmma(_) => Places::new([0; 4]),
        }
    }

    /// Returns the knobs at a place, or the level of the first value that has none. `base` has the
    /// knobs of a row, with the pins applied.
    pub(crate) const fn completed(&self, base: &GemmDesc, pins: &Pins, at: Place) -> Completed {
        match self {
            Self::Simt(_) => SimtKnobs::completed(base, pins, at),
            Self::MmaSync(_) => MmaSyncKnobs::completed(base, pins, at),
            Self::Wgmma(_) => Err(0),
        }
    }
}

/// Facts of consumers of a TMA ring.
impl WarpMma {
    /// Returns the index along which a consumer reads an operand.
    pub(crate) const fn along(&self, desc: &GemmDesc, operand: OperandKind) -> Along {
        match self {
            Self::Wgmma(_) => WgmmaKnobs::along(desc, operand),
            Self::MmaSync(_) => Along::K,
            Self::Simt(_) => Along::Mn,
        }
    }

    /// Returns the depth of a stage, if the MMA prescribes one.
    pub(crate) const fn stage_depth(&self, desc: &GemmDesc) -> Option<u32> {
        match self {
            Self::Wgmma(_) => Some(WgmmaKnobs::depth(&desc.multiplied())),
            Self::MmaSync(_) | Self::Simt(_) => None,
        }
    }

    /// Returns the number of warp tiles that one consumer computes.
    pub(crate) const fn warp_tiles_per_consumer(&self) -> u32 {
        match self {
            Self::Wgmma(_) => 1,
            Self::Simt(_) | Self::MmaSync(_) => WARPS,
        }
    }

    /// Returns whether a kernel can reduce the split-K partials of consumers.
    pub(crate) const fn has_ring_reduction(&self) -> bool {
        match self {
            Self::Wgmma(_) => true,
            Self::Simt(_) | Self::MmaSync(_) => false,
        }
    }
}
