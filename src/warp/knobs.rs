//! The knobs of the MMAs, as one value.

use crate::{
    arch::OpKind,
    nest::Pins,
    numeric::EmulationKind,
    shape::{Mnk, words::words},
    warp::{
        AOperandKind, InterleaveKind, MmaSyncKnobs, PromotionKind, SaturateKind, SimtKnobs,
        WgmmaKnobs,
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

impl WarpMma {
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
