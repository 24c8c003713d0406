//! Dispatch from an MMA to its files.

use crate::{
    nest::{GemmDesc, features::Features},
    refusal::{Refusal, hold},
    shape::OperandKind,
    threadblock::{
        MmaBase, StagedOperand,
        mma::{kernel, program::Program},
        smem::Along,
        tma_ring::pipeline::WARPS,
    },
    warp::{
        Consumer, MirroredMap, MmaComponents, MmaSyncKnobs, MmaText, SimtKnobs, WarpMma, WgmmaKnobs,
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
}

/// Consumers of a TMA ring.
impl WarpMma {
    /// Returns the consumer of a description. `user` has the operands in memory, and `desc` has the
    /// operands that the kernel multiplies; both are equal without emulation.
    ///
    /// # Errors
    /// The refusal of types and of tiles.
    pub(crate) const fn consumer(
        &self,
        user: &GemmDesc,
        desc: &GemmDesc,
    ) -> Result<Consumer, Refusal> {
        match self {
            Self::Wgmma(_) => WgmmaKnobs::consumer(user, desc),
            Self::MmaSync(knobs) => knobs.consumer(desc),
            Self::Simt(_) => SimtKnobs::consumer(desc),
        }
    }

    /// Returns the index along which a consumer reads an operand.
    pub(crate) const fn along(&self, desc: &GemmDesc, operand: OperandKind) -> Along {
        match self {
            Self::Wgmma(_) => WgmmaKnobs::along(desc, operand),
            Self::MmaSync(_) => Along::K,
            Self::Simt(_) => Along::Mn,
        }
    }

    /// Returns the facts of a kernel with a TMA ring for the cost model.
    pub(crate) const fn consumer_features(&self, desc: &GemmDesc) -> Features {
        match self {
            Self::Wgmma(_) => WgmmaKnobs::consumer_features(desc, desc.slice_exchange()),
            Self::MmaSync(_) => MmaSyncKnobs::consumer_features(desc, desc.slice_exchange()),
            Self::Simt(_) => SimtKnobs::consumer_features(desc, desc.slice_exchange()),
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
        matches!(self, Self::Wgmma(_))
    }
}
