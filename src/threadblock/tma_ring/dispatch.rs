//! Dispatch from an MMA to its consumers of a TMA ring.

use crate::{
    nest::{
        GemmDesc, Pins,
        features::Features,
        places::{Completed, Place, Places},
    },
    refusal::Refusal,
    shape::{Mn, OperandKind},
    threadblock::{
        Pipeline, RoleOptions, WarpSpecialized,
        tma_ring::{gathered_lines::producer_registers, pipeline::LEAST_REGISTERS},
    },
    warp::{MirroredMap, MmaSyncKnobs, MmaText, SimtKnobs, TiledMma, WarpMma, WgmmaKnobs},
};

/// A consumer of a TMA ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Consumer {
    /// The MMA.
    pub mma: TiledMma,
    /// Consumers along M and N of the threadblock tile.
    pub consumers: Mn,
    /// Instruction tiles along M and N of a consumer's tile.
    pub repeats: Mn,
    /// Whether threads store D from registers, without staging buffers.
    pub by_threads: bool,
}

/// Registers of a consumer's MMA, per thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConsumerRegisters {
    /// Registers of the accumulators.
    pub accumulators: u32,
    /// Registers of the accumulators of one stage, which are promoted.
    pub partial_accumulators: u32,
    /// Registers of operand fragments.
    pub fragments: u32,
    /// Registers of a sum of split-K slices.
    pub sum: u32,
    /// Launch registers that one instruction needs.
    pub instruction: u32,
}

impl ConsumerRegisters {
    /// No registers.
    pub const NONE: Self =
        Self { accumulators: 0, partial_accumulators: 0, fragments: 0, sum: 0, instruction: 0 };
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

    /// Returns the facts of a kernel with a TMA ring for the cost model.
    pub(crate) const fn consumer_features(&self, desc: &GemmDesc) -> Features {
        match self {
            Self::Wgmma(_) => WgmmaKnobs::consumer_features(desc, desc.slice_exchange()),
            Self::MmaSync(_) => MmaSyncKnobs::consumer_features(desc, desc.slice_exchange()),
            Self::Simt(_) => SimtKnobs::consumer_features(desc, desc.slice_exchange()),
        }
    }

    /// Returns whether a producer of such a kernel can gather the lines of an operand.
    pub(crate) const fn may_gather(&self, desc: &GemmDesc, operand: OperandKind) -> bool {
        match self {
            Self::Wgmma(_) => desc.gathers_along_k(operand),
            Self::MmaSync(_) | Self::Simt(_) => false,
        }
    }

    /// Returns whether the producer of this kernel gathers the lines of an operand.
    pub(crate) const fn gathers(&self, desc: &GemmDesc, operand: OperandKind) -> bool {
        match self {
            Self::Wgmma(_) => desc.producer_gathers(operand),
            Self::MmaSync(_) | Self::Simt(_) => false,
        }
    }

    /// Returns the places of the candidates.
    pub(crate) const fn consumer_places(&self, pins: &Pins) -> Places {
        match self {
            Self::Wgmma(_) => WgmmaKnobs::places(pins),
            Self::MmaSync(_) => MmaSyncKnobs::consumer_places(pins),
            Self::Simt(_) => SimtKnobs::consumer_places(pins),
        }
    }

    /// Returns the knobs at a place, or the level of the first value that has none. `base` has the
    /// knobs of a row, with the pins applied.
    pub(crate) const fn completed_consumer(
        &self,
        base: &GemmDesc,
        pins: &Pins,
        at: Place,
    ) -> Completed {
        match self {
            Self::Wgmma(_) => WgmmaKnobs::completed(base, pins, at),
            Self::MmaSync(_) => MmaSyncKnobs::completed_consumer(base, pins, at),
            Self::Simt(_) => SimtKnobs::completed_consumer(base, pins, at),
        }
    }
}

/// The MMA of consumers.
impl TiledMma {
    /// Returns the accumulators per thread of a consumer whose tile has `repeats` instruction
    /// tiles.
    pub(crate) const fn consumer_accumulators(&self, repeats: Mn) -> u32 {
        match self {
            Self::Simt(tiles) | Self::MmaSync(tiles, _) => tiles.accumulators(),
            Self::Wgmma(mma, _) => WgmmaKnobs::accumulators(mma, repeats),
            Self::Unsupported => 0,
        }
    }

    /// Returns the registers of a producer thread.
    pub(crate) const fn producer_registers(&self, ring: &Pipeline) -> u32 {
        match self {
            Self::Wgmma(..) => producer_registers(ring, self),
            Self::Simt(_) | Self::MmaSync(..) | Self::Unsupported => LEAST_REGISTERS,
        }
    }

    /// Returns the registers of a consumer thread.
    pub(crate) const fn consumer_registers(
        &self,
        repeats: Mn,
        options: &RoleOptions,
    ) -> ConsumerRegisters {
        match self {
            Self::Simt(tiles) => SimtKnobs::consumer_registers(tiles),
            Self::MmaSync(tiles, instruction) => {
                MmaSyncKnobs::consumer_registers(tiles, instruction)
            }
            Self::Wgmma(mma, load) => {
                WgmmaKnobs::consumer_registers((mma, *load), repeats, options)
            }
            Self::Unsupported => ConsumerRegisters::NONE,
        }
    }

    /// Returns the parts of a consumer's translation unit that depend on the MMA.
    pub(crate) fn consumer_cuda(&self, desc: &GemmDesc, components: &WarpSpecialized) -> MmaText {
        match self {
            Self::Simt(tiles) => SimtKnobs::consumer_cuda(desc, components, tiles),
            Self::MmaSync(tiles, instruction) => {
                MmaSyncKnobs::consumer_cuda(desc, components, (tiles, instruction))
            }
            Self::Wgmma(mma, _) => WgmmaKnobs::consumer_cuda(desc, components, mma),
            Self::Unsupported => MmaText::default(),
        }
    }

    /// Returns the maps of a consumer that have a C++ twin.
    pub(crate) fn consumer_maps(&self, components: &WarpSpecialized) -> Vec<MirroredMap> {
        match self {
            Self::Simt(tiles) => SimtKnobs::consumer_maps(components, tiles),
            Self::MmaSync(tiles, instruction) => {
                MmaSyncKnobs::consumer_maps(components, (tiles, instruction))
            }
            Self::Wgmma(mma, _) => WgmmaKnobs::consumer_maps(components, mma),
            Self::Unsupported => Vec::new(),
        }
    }
}
