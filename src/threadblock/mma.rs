//! The main loop of a block, along K.
//!
//! A main loop is a [`Schedule`] and what its copies do. The type ([`Mma`]) carries facts; the behaviour ([`Mainloop`]) belongs to the
//! value, [`MainloopKind`], so that a description from a file runs the same code as one from types.
//!
//! Twin: `kernels/threadblock/mma.cuh`.

use super::{MmaBase, mma_multistage::Multistage, mma_pipelined::Pipelined, mma_single_stage::SingleStage};
use crate::words::words;
use crate::{
    operand::OperandKind,
    schedule::{Fault, Lane, Schedule, Step},
    shape::Shape,
    warp::{self, mma_simt},
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
        WarpSpecialized = "warpspecialized",
    }
}

/// A main loop, as a type that carries its facts: the tile of a block, and the [`warp::Mma`] inside. A loop nest is one leaf of
/// [`With`](crate::desc::With); without parameters, a main loop pins itself and leaves the tiles to the resolver.
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

/// What a main loop does whose threads all follow one schedule.
pub trait Mainloop: Sync {
    /// The C++ template of the twin.
    fn cuda(&self) -> &'static str;
    /// The order of steps.
    fn schedule(&self, base: &MmaBase) -> Schedule;
    /// One thread's copying step: how tiles come from global to shared memory.
    fn copy(&self, step: Step, lane: &mut dyn Lane) -> Result<(), Fault>;
}

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

    /// What it does; `None` where warpgroups have roles.
    pub fn behaviour(self) -> Option<&'static dyn Mainloop> {
        match self {
            Self::SingleStage => Some(&SingleStage),
            Self::Pipelined => Some(&Pipelined),
            Self::Multistage => Some(&Multistage),
            Self::WarpSpecialized => None,
        }
    }
}

/// Runs one step of one thread: the one place where steps get their meaning on the host.
pub fn perform(base: &MmaBase, step: Step, lane: &mut dyn Lane) -> Result<(), Fault> {
    match step {
        Step::Fetch | Step::Store | Step::Copy { .. } | Step::Commit | Step::Wait { .. } => {
            let Some(mainloop) = base.mainloop.behaviour() else { return Err(lane.foreign(step)) };
            mainloop.copy(step, lane)
        }
        Step::Load { group } => mma_simt::load(u32::from(group), lane),
        Step::Multiply { group } => lane.multiply(u32::from(group)),
        Step::MultiplyTile => (0..base.tiles.warp.k).try_for_each(|group| {
            mma_simt::load(group, lane)?;
            lane.multiply(group)
        }),
        Step::Advance => {
            lane.advance();
            Ok(())
        }
        Step::Deposit { slice } => lane.deposit(u32::from(slice)),
        Step::Collect { slice } => lane.collect(u32::from(slice)),
        // A product's accumulators are stored when its schedule is over.
        Step::Write => Err(lane.foreign(step)),
        // Barriers part the steps of all threads; the block runs what lies between two of them.
        Step::Barrier => Ok(()),
    }
}

/// Those of so many accesses to A's tile and to B's that part `part` of `of` makes.
pub(crate) fn accesses(counts: [u32; 2], part: u32, of: u32) -> impl Iterator<Item = (OperandKind, u32)> {
    OperandKind::BOTH
        .into_iter()
        .flat_map(move |operand| (0..counts[operand.index()]).map(move |access| (operand, access)))
        .filter(move |(_, access)| access % of == part)
}
