//! The main loop of a block, along K.
//!
//! A main loop is a `Schedule`. The type ([`Mma`]) carries facts; the behaviour belongs to the
//! value, [`MainloopKind`], so that a description from a file runs the same code as one from types.
//!
//! Twin: `kernels/threadblock/mma.cuh`.

use super::{MmaBase, mma_multistage, mma_pipelined, mma_single_stage};
use crate::words::words;
use crate::{operand::OperandKind, schedule::Schedule, shape::Shape, warp};
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
        WarpSpecialized = "warpspecialized",
    }
}

/// A main loop, as a type that carries its facts: the tile of a block, and the [`warp::Mma`]
/// inside. A loop nest is one leaf of [`With`](crate::desc::With); without parameters, a main loop
/// pins itself and leaves the tiles to the resolver.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a main loop",
    note = "main loops are MmaSingleStage, MmaPipelined, MmaMultistage and MmaWarpSpecialized"
)]
pub trait Mma: 'static {
    /// The tile of C that a block computes, and its depth along K.
    type Shape: Shape;
    /// What its warps do.
    type Warp: warp::Mma;
    /// Tiles in shared memory at once.
    const STAGES: u32;
    /// The same main loop, as a value.
    const KIND: MainloopKind;
}

macro_rules! main_loops {
    ($($(#[doc = $doc:literal])* $Mma:ident $(<const $STAGES:ident>)? = $kind:ident, $stages:expr;)*) => {
        $($(#[doc = $doc])*
        pub struct $Mma<S = (), W = () $(, const $STAGES: u32 = 0)?>(PhantomData<(S, W)>);

        impl<S: Shape, W: warp::Mma $(, const $STAGES: u32)?> Mma for $Mma<S, W $(, $STAGES)?> {
            type Shape = S;
            type Warp = W;
            const STAGES: u32 = $stages;
            const KIND: MainloopKind = MainloopKind::$kind;
        })*
    };
}

main_loops! {
    /// One stage, through registers.
    MmaSingleStage = SingleStage, 1;
    /// Two stages: a tile waits in registers while the one before is multiplied.
    MmaPipelined = Pipelined, 2;
    /// `STAGES` stages, filled by `cp.async`.
    MmaMultistage<const STAGES> = Multistage, STAGES;
    /// A producer and consumers over a ring of `STAGES` stages.
    MmaWarpSpecialized<const STAGES> = WarpSpecialized, STAGES;
}

/// Bytes of the narrowest asynchronous copy. Source: PTX ISA, `cp.async`.
pub(crate) const LEAST_ASYNCHRONOUS_COPY: u32 = 4;

impl MainloopKind {
    /// Whether it is one of these.
    pub(crate) const fn is_among(self, loops: &[Self]) -> bool {
        let mut i = 0;
        while i < loops.len() && loops[i] as u8 != self as u8 {
            i += 1;
        }
        i < loops.len()
    }

    /// Whether tiles come without passing through registers.
    pub const fn copies_asynchronously(self) -> bool {
        matches!(self, Self::Multistage | Self::WarpSpecialized)
    }

    /// The C++ template of one whose threads all follow one schedule; `None` of warp-specialized
    /// kernels.
    pub const fn cuda(self) -> Option<&'static str> {
        match self {
            Self::SingleStage => Some("threadblock::MmaSingleStage"),
            Self::Pipelined => Some("threadblock::MmaPipelined"),
            Self::Multistage => Some("threadblock::MmaMultistage"),
            Self::WarpSpecialized => None,
        }
    }

    /// The order of steps that all threads of such a block follow.
    pub(super) fn schedule(self, base: &MmaBase) -> Schedule {
        match self {
            Self::SingleStage => mma_single_stage::schedule(),
            Self::Pipelined => mma_pipelined::schedule(base),
            Self::Multistage => mma_multistage::schedule(base),
            Self::WarpSpecialized => Schedule::default(),
        }
    }
}

/// Those of so many accesses to A's tile and to B's that part `part` of `of` makes.
pub(crate) fn accesses(
    counts: [u32; 2],
    part: u32,
    of: u32,
) -> impl Iterator<Item = (OperandKind, u32)> {
    OperandKind::BOTH
        .into_iter()
        .flat_map(move |operand| (0..counts[operand.index()]).map(move |access| (operand, access)))
        .filter(move |(_, access)| access % of == part)
}
