//! Main loop of a threadblock: the walk along K.
//!
//! Each main loop has a `Schedule`. The type ([`Mma`]) carries facts; the value ([`MainloopKind`])
//! carries behavior. A description from a file therefore runs the same code as a description from
//! types.
//!
//! Twin: `kernels/threadblock/mma.cuh`.

mod advice;
pub(crate) mod base;
pub(crate) mod check;
pub(crate) mod kernel;
mod launch;
pub(crate) mod operand;
pub(crate) mod program;
mod unit;

use crate::{
    nest::{Leaf, Pins, instruction_of},
    shape::{OperandKind, Shape, TiledBy, words::words},
    threadblock::{PipelinedKnobs, SingleStageKnobs},
    warp::{self, WarpMmaKind},
};
use core::marker::PhantomData;

words! {
    /// A main loop, as a value.
    pub enum MainloopKind {
        /// [`MmaSingleStage`].
        SingleStage = "singlestage",
        /// [`MmaPipelined`].
        Pipelined = "pipelined",
        /// [`MmaMultistage`].
        Multistage = "multistage",
        /// [`MmaWarpSpecialized`].
        TmaRing = "warpspecialized",
    }
}

/// A main loop, as a type that carries its facts: the threadblock tile and the [`warp::Mma`]
/// inside. A whole loop nest is one leaf of [`With`](crate::nest::With). Without parameters, a main
/// loop pins only its kind, and the resolver selects the tiles.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a main loop",
    note = "main loops are MmaSingleStage, MmaPipelined, MmaMultistage and MmaWarpSpecialized"
)]
pub trait Mma: 'static {
    /// Threadblock tile: M and N of the tile of C, and its depth along K.
    type Shape: Shape;
    /// Warp-level MMA inside the main loop.
    type Warp: warp::Mma;
    /// Number of stages in shared memory.
    const STAGES: u32;
    /// Main loop as a value.
    const KIND: MainloopKind;
}

// A main loop is a leaf of a configuration by itself, and with its loop nest.
macro_rules! main_loops {
    ($($(#[doc = $doc:literal])* $Mma:ident $(<const $STAGES:ident>)? = $kind:ident, $stages:expr;)*) => {
        $($(#[doc = $doc])*
        pub struct $Mma<S = (), W = () $(, const $STAGES: u32 = 0)?>(PhantomData<(S, W)>);

        impl<S: Shape, W: warp::Mma $(, const $STAGES: u32)?> Mma for $Mma<S, W $(, $STAGES)?> {
            type Shape = S;
            type Warp = W;
            const STAGES: u32 = $stages;
            const KIND: MainloopKind = MainloopKind::$kind;
        }

        impl Leaf for $Mma {
            const PINS: Pins = Pins { mainloop: Some(MainloopKind::$kind), ..Pins::NONE };
        }

        impl<S, W $(, const $STAGES: u32)?> Leaf for $Mma<S, W $(, $STAGES)?>
        where
            S: Shape + TiledBy<W::Shape>,
            W: warp::Mma,
            W::Shape: TiledBy<W::Instruction>,
        {
            const PINS: Pins = Pins {
                threadblock: Some(S::MNK),
                warp: Some(<W::Shape as Shape>::MNK),
                instruction: instruction_of(<W::Instruction as Shape>::MNK),
                mainloop: Some(MainloopKind::$kind),
                stages: Some(<Self as Mma>::STAGES),
                ..Pins::NONE
            };
        })*
    };
}

main_loops! {
    /// One stage, copied through registers.
    MmaSingleStage = SingleStage, 1;
    /// Two stages. The next tile waits in registers while the current tile is multiplied.
    MmaPipelined = Pipelined, 2;
    /// `STAGES` stages, filled by `cp.async`.
    MmaMultistage<const STAGES> = Multistage, STAGES;
    /// One producer warpgroup and its consumers, with a ring of `STAGES` stages.
    MmaWarpSpecialized<const STAGES> = TmaRing, STAGES;
}

/// Pairs of a main loop and an MMA that have kernels: each main loop with its MMAs. A refusal of
/// another pair suggests the first main loop that feeds the MMA.
const LEGAL: &[(MainloopKind, &[WarpMmaKind])] = &[
    (MainloopKind::Pipelined, &[WarpMmaKind::Simt, WarpMmaKind::MmaSync]),
    (MainloopKind::Multistage, &[WarpMmaKind::Simt, WarpMmaKind::MmaSync]),
    (MainloopKind::SingleStage, &[WarpMmaKind::Simt]),
    (MainloopKind::TmaRing, &[WarpMmaKind::Simt, WarpMmaKind::MmaSync, WarpMmaKind::Wgmma]),
];

impl MainloopKind {
    /// Returns whether the main loop can feed an MMA.
    pub(crate) const fn feeds(self, mma: WarpMmaKind) -> bool {
        let mut i = 0;
        while i < LEGAL.len() {
            if LEGAL[i].0 as u8 == self as u8 {
                return mma.is_among(LEGAL[i].1);
            }
            i += 1;
        }
        false
    }

    /// Returns the first main loop that feeds an MMA.
    pub(crate) const fn first_that_feeds(mma: WarpMmaKind) -> Self {
        let mut i = 0;
        while i + 1 < LEGAL.len() && !mma.is_among(LEGAL[i].1) {
            i += 1;
        }
        LEGAL[i].0
    }

    /// Returns the first main loop that copies through registers and feeds an MMA. Architectures
    /// before sm80 need such a main loop.
    pub(crate) const fn first_through_registers(mma: WarpMmaKind) -> Option<Self> {
        let mut i = 0;
        while i < LEGAL.len() {
            let (mainloop, mmas) = LEGAL[i];
            if !mainloop.has_producer() && !mainloop.copies_asynchronously() && mma.is_among(mmas) {
                return Some(mainloop);
            }
            i += 1;
        }
        None
    }
}

impl MainloopKind {
    /// Main loops that copy through registers, as default tables prefer them.
    pub(crate) const THROUGH_REGISTERS: &[Self] = &[Self::Pipelined, Self::SingleStage];

    /// Main loops that transform operands of every MMA without a producer.
    pub(crate) const TRANSFORMS: &[Self] = &[Self::Multistage, Self::Pipelined];

    /// Returns whether a producer warpgroup copies tiles by TMA.
    pub const fn has_producer(self) -> bool {
        match self {
            Self::SingleStage | Self::Pipelined | Self::Multistage => false,
            Self::TmaRing => true,
        }
    }

    /// Returns whether copies to shared memory bypass registers.
    pub const fn copies_asynchronously(self) -> bool {
        match self {
            Self::SingleStage | Self::Pipelined => false,
            Self::Multistage | Self::TmaRing => true,
        }
    }

    /// Returns the number of stages, or `None` if it is a knob.
    pub const fn fixed_stages(self) -> Option<u32> {
        match self {
            Self::SingleStage => Some(SingleStageKnobs::STAGES),
            Self::Pipelined => Some(PipelinedKnobs::STAGES),
            Self::Multistage | Self::TmaRing => None,
        }
    }

    /// Returns the main loop without a producer that has this number of stages. If `None`, its
    /// stages are a knob.
    pub(crate) const fn with_stages(stages: Option<u32>) -> Option<Self> {
        let mut i = 0;
        while i < Self::ALL.len() {
            match (Self::ALL[i].fixed_stages(), stages) {
                _ if Self::ALL[i].has_producer() => {}
                (None, None) => return Some(Self::ALL[i]),
                (Some(own), Some(stages)) if own == stages => return Some(Self::ALL[i]),
                _ => {}
            }
            i += 1;
        }
        None
    }
}

/// Yields every `of`-th access, starting at access `part`, of the accesses to A's and B's tiles.
/// `counts` holds the number of accesses per thread to A and to B.
#[doc(hidden)]
pub fn accesses(counts: [u32; 2], part: u32, of: u32) -> impl Iterator<Item = (OperandKind, u32)> {
    OperandKind::BOTH
        .into_iter()
        .flat_map(move |operand| (0..counts[operand.index()]).map(move |access| (operand, access)))
        .filter(move |(_, access)| access % of == part)
}
