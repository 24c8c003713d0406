//! [`WarpMma`]: the MMAs as one value, and dispatch to the files of each MMA.

use crate::{
    arch::OpKind,
    nest::{
        GemmDesc, Pins,
        defaults::Row,
        features::Features,
        places::{Completed, Place, Places},
    },
    numeric::{ElementKind, EmulationKind},
    refusal::{Refusal, hold},
    shape::{Mnk, OperandKind, words::words},
    threadblock::{
        MmaBase, StagedOperand,
        mma::{kernel, program::Program},
        smem::Along,
    },
    warp::{
        self, AOperandKind, InterleaveKind, MirroredMap, MmaComponents, MmaSyncKnobs, MmaText,
        PromotionKind, SaturateKind, SimtKnobs, WgmmaKnobs,
        warpgroup::{ROWS, WARPS},
    },
};

words! {
    /// A warp-level MMA, as a value.
    pub enum WarpMmaKind {
        /// CUDA cores.
        Simt = "simt",
        /// Tensor cores with `mma.sync`.
        MmaSync = "mmasync",
        /// Hopper's tensor cores with `wgmma`.
        Wgmma = "wgmma",
    }
}

impl WarpMmaKind {
    /// Returns whether the MMA supports an emulation of f32. `mma.sync` makes terms in registers;
    /// `wgmma` reads terms that a pass has made.
    pub(crate) const fn emulates(self, emulation: EmulationKind) -> bool {
        match self {
            Self::Simt => false,
            Self::MmaSync => emulation.in_registers() || matches!(emulation, EmulationKind::None),
            Self::Wgmma => emulation.decomposes() || matches!(emulation, EmulationKind::None),
        }
    }
}

/// The default tables of the MMAs.
pub(crate) const DEFAULT_TABLES: &[&[Row]] = &[
    warp::simt::defaults::ROWS,
    warp::simt::tma_ring::defaults::ROWS,
    warp::wgmma::tma_ring::defaults::ROWS,
    warp::mma_sync::defaults::ROWS,
    warp::mma_sync::tma_ring::defaults::ROWS,
];

/// The MMA of a warp, or of a warpgroup, inside the main loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WarpMma {
    /// CUDA cores: each thread multiplies its own tile.
    Simt(SimtKnobs),
    /// Tensor cores with `mma.sync`: a warp multiplies fragments in registers.
    MmaSync(MmaSyncKnobs),
    /// Hopper's tensor cores with `wgmma`: a warpgroup multiplies tiles in shared memory.
    Wgmma(WgmmaKnobs),
}

/// Knobs.
impl WarpMma {
    /// Returns an MMA with its defaults. Tiles are 0.
    pub(crate) const fn default_of(kind: WarpMmaKind, on_ring: bool) -> Self {
        match kind {
            WarpMmaKind::Simt => Self::Simt(SimtKnobs::default_of(on_ring)),
            WarpMmaKind::MmaSync => Self::MmaSync(MmaSyncKnobs::DEFAULT),
            WarpMmaKind::Wgmma => Self::Wgmma(WgmmaKnobs::DEFAULT),
        }
    }

    /// Returns the kind.
    pub const fn kind(&self) -> WarpMmaKind {
        match self {
            Self::Simt(_) => WarpMmaKind::Simt,
            Self::MmaSync(_) => WarpMmaKind::MmaSync,
            Self::Wgmma(_) => WarpMmaKind::Wgmma,
        }
    }

    /// Returns the units that multiply.
    pub const fn op(&self) -> OpKind {
        match self {
            Self::Simt(_) => OpKind::Simt,
            Self::MmaSync(_) | Self::Wgmma(_) => OpKind::TensorOp,
        }
    }

    /// Returns the warp tile in elements: the tile of D that one warp computes, and its share of
    /// the depth. With `wgmma`, it is the tile of a warpgroup.
    pub const fn warp(&self) -> Mnk {
        match self {
            Self::Simt(knobs) => knobs.warp,
            Self::MmaSync(knobs) => knobs.warp,
            Self::Wgmma(knobs) => knobs.warp,
        }
    }

    /// Returns the shape of the instruction, or the tile of a thread on CUDA cores. `None` if the
    /// resolver selects the tile of a thread.
    pub const fn instruction(&self) -> Option<Mnk> {
        match self {
            Self::Simt(knobs) => knobs.thread,
            Self::MmaSync(knobs) => Some(knobs.instruction),
            Self::Wgmma(knobs) => Some(knobs.instruction),
        }
    }

    /// Returns whether consumers of a TMA ring store D through staging buffers.
    pub const fn stages_d(&self) -> bool {
        match self {
            Self::Wgmma(_) => true,
            Self::Simt(_) | Self::MmaSync(_) => false,
        }
    }

    /// Returns the memory from which the instruction reads A.
    pub const fn a_operand(&self) -> AOperandKind {
        match self {
            Self::Wgmma(knobs) => knobs.a_operand,
            Self::Simt(_) | Self::MmaSync(_) => AOperandKind::Shared,
        }
    }

    /// Returns how often accumulators are promoted.
    pub const fn promotion(&self) -> PromotionKind {
        match self {
            Self::Wgmma(knobs) => knobs.promotion,
            Self::Simt(_) | Self::MmaSync(_) => PromotionKind::Never,
        }
    }

    /// Returns the maximum number of groups in flight when a consumer moves to the next stage.
    pub const fn pending(&self) -> u32 {
        match self {
            Self::Wgmma(knobs) => knobs.pending,
            Self::Simt(_) | Self::MmaSync(_) => 0,
        }
    }

    /// Returns whether integer sums saturate.
    pub const fn saturate(&self) -> SaturateKind {
        match self {
            Self::MmaSync(knobs) => knobs.saturate,
            _ => SaturateKind::Off,
        }
    }

    /// Returns the number of neighboring elements that a lane holds.
    pub const fn interleave(&self) -> InterleaveKind {
        match self {
            Self::Simt(knobs) => knobs.interleave,
            _ => InterleaveKind::Vector,
        }
    }

    /// Returns whether the layouts in shared memory and the unrolling are knobs of a kernel without
    /// a producer.
    pub(crate) const fn has_smem_knobs(&self) -> bool {
        match self {
            Self::Simt(_) => true,
            Self::MmaSync(_) | Self::Wgmma(_) => false,
        }
    }

    /// Adds the knobs to pins.
    pub(crate) const fn pins(&self, pins: Pins) -> Pins {
        match self {
            Self::Simt(knobs) => knobs.pins(pins),
            Self::MmaSync(knobs) => knobs.pins(pins),
            Self::Wgmma(knobs) => knobs.pins(pins),
        }
    }

    /// Returns the MMA with the pinned knobs replaced.
    pub(crate) const fn pinned(self, pins: &Pins) -> Self {
        match self {
            Self::Simt(knobs) => Self::Simt(knobs.pinned(pins)),
            Self::MmaSync(knobs) => Self::MmaSync(knobs.pinned(pins)),
            Self::Wgmma(knobs) => Self::Wgmma(knobs.pinned(pins)),
        }
    }
}

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

    /// Checks the warp tile, and on CUDA cores all knobs.
    pub(crate) const fn check_warp(&self, desc: &GemmDesc) -> Result<(), Refusal> {
        match self {
            Self::Simt(knobs) => knobs.check(),
            Self::MmaSync(_) => MmaSyncKnobs::check_warp(desc),
            Self::Wgmma(_) => Ok(()),
        }
    }

    /// Returns a lower bound of the number of warps of a CTA with a threadblock tile.
    pub(crate) const fn fewest_warps(&self, desc: &GemmDesc, tile: Mnk) -> u32 {
        match self {
            Self::MmaSync(_) => MmaSyncKnobs::fewest_warps(desc, tile),
            Self::Simt(_) | Self::Wgmma(_) => 1,
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
    pub(crate) fn fingerprints(&self, desc: &GemmDesc, base: &MmaBase) -> String {
        match self {
            Self::Simt(_) => SimtKnobs::fingerprints(desc, base),
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

    /// Returns the minimum number of registers per thread, whatever the main loop and the accesses.
    pub(crate) const fn least_registers(&self, accumulator: ElementKind) -> u32 {
        match self {
            Self::Simt(knobs) => SimtKnobs::least_registers(accumulator, knobs.warp),
            Self::MmaSync(knobs) => MmaSyncKnobs::least_registers(accumulator, knobs.warp),
            Self::Wgmma(_) => 0,
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
    /// Returns whether the instruction has the number of rows that the MMA prescribes.
    pub(crate) const fn has_prescribed_rows(&self) -> bool {
        match self {
            Self::Wgmma(knobs) => knobs.instruction.m == ROWS,
            Self::Simt(_) | Self::MmaSync(_) => true,
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
