//! Configurations as types: [`Auto`], and [`With`] one leaf more. A leaf pins a knob, or, as
//! CUTLASS nests them, a whole loop nest; what no leaf pins, the resolver chooses.

use super::{
    kinds::{AOperandKind, DecompositionKind, PromotionKind, SaturateKind, SpillKind},
    knobs::Pins,
};
use crate::{
    epilogue::Node,
    numeric::EmulationKind,
    schedule::ScheduleKind,
    shape::{Mn, Mnk, Shape, TiledBy},
    smem::SmemChoice,
    threadblock::{
        MainloopKind, Mma, MmaMultistage, MmaPipelined, MmaSingleStage, MmaWarpSpecialized,
        SwizzleKind,
    },
    warp::{self, InterleaveKind, UnrollKind},
};
use core::marker::PhantomData;

/// What the last parameter of [`Gemm`](crate::device::Gemm) says: which knobs are pinned, and which
/// are left to the resolver.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a configuration",
    label = "not a configuration",
    note = "a configuration is Auto, or With<Auto, Leaf> with leaves such as Stages<4> or Threadblock<GemmShape<128, 128, 8>>"
)]
pub trait Config: 'static {
    /// The knobs that it pins.
    const PINS: Pins;
    /// Makes the user functions of its epilogue known to this process.
    fn register() {}
}

/// "Choose for me": nothing is pinned.
#[derive(Clone, Copy, Debug)]
pub struct Auto;

impl Config for Auto {
    const PINS: Pins = Pins::NONE;
}

/// A configuration with one leaf more: `Base` is [`Auto`] or another `With`. Leaves of different
/// knobs commute; of two that pin one knob, the outer one counts.
pub struct With<Base, L>(PhantomData<(Base, L)>);

impl<Base: Config, L: Leaf> Config for With<Base, L> {
    const PINS: Pins = L::PINS.over(Base::PINS);

    fn register() {
        Base::register();
        L::register();
    }
}

/// What one type pins.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a leaf of a configuration, or a loop nest that does not nest",
    label = "pins no knob",
    note = "leaves pin a knob, Stages<4> for one, or a loop nest: MmaMultistage<GemmShape<128, 128, 8>, MmaSimt<GemmShape<32, 64, 8>>, 4>"
)]
pub trait Leaf: 'static {
    /// The knobs that it pins.
    const PINS: Pins;
    /// Makes the user functions of its epilogue known to this process.
    fn register() {}
}

macro_rules! leaves {
    ($($(#[doc = $doc:literal])* $Leaf:ident $(<$(const $N:ident),+>)? => $field:ident: $value:expr;)*) => {
        $($(#[doc = $doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $Leaf $(<$(const $N: u32),+>)?;

        impl $(<$(const $N: u32),+>)? Leaf for $Leaf $(<$($N),+>)? {
            const PINS: Pins = Pins { $field: Some($value), ..Pins::NONE };
        })*
    };
}

leaves! {
    /// `N` tiles in shared memory at once.
    Stages<const N> => stages: N;
    /// `N` blocks that a multiprocessor is to hold at once: it bounds the registers of a thread.
    BlocksPerSm<const N> => blocks_per_sm: N;
    /// K in `N` parts, each another block's.
    SplitK<const N> => split_k: N;
    /// [`DecompositionKind::DataParallel`].
    DataParallel => decomposition: DecompositionKind::DataParallel;
    /// [`DecompositionKind::SplitKParallel`].
    SplitKParallel => decomposition: DecompositionKind::SplitKParallel;
    /// [`DecompositionKind::SplitKCluster`].
    SplitKCluster => decomposition: DecompositionKind::SplitKCluster;
    /// [`DecompositionKind::StreamK`].
    StreamK => decomposition: DecompositionKind::StreamK;
    /// A cluster of `M` x `N` blocks.
    ClusterShape<const M, const N> => cluster: Mn { m: M, n: N };
    /// `N` elements of A in one access.
    AlignmentA<const N> => align_a: N;
    /// `N` elements of B in one access.
    AlignmentB<const N> => align_b: N;
    /// `N` elements of C and D in one access.
    AlignmentC<const N> => align_c: N;
    /// [`SwizzleKind::Identity`]: down columns of tiles, in groups of `TILE` columns.
    IdentitySwizzle<const TILE> => swizzle: SwizzleKind::Identity(TILE);
    /// [`SwizzleKind::Horizontal`]: along rows of tiles.
    HorizontalSwizzle => swizzle: SwizzleKind::Horizontal;
    /// [`SwizzleKind::Grouped`]: along rows of tiles, in groups of `TILE` rows.
    GroupedSwizzle<const TILE> => swizzle: SwizzleKind::Grouped(TILE);
    /// [`SwizzleKind::Hilbert`]: a curve in squares of tiles.
    HilbertSwizzle => swizzle: SwizzleKind::Hilbert;
    /// All consumer warpgroups multiply one tile together.
    CooperativeSchedule => schedule: ScheduleKind::Cooperative;
    /// Consumer warpgroups alternate between tiles: one multiplies while the other stores.
    PingpongSchedule => schedule: ScheduleKind::Pingpong;
    /// `N` groups of products under way, at most, when a consumer goes on to the next stage.
    Pending<const N> => pending: N;
    /// [`PromotionKind::Never`].
    NoPromotion => promotion: PromotionKind::Never;
    /// [`PromotionKind::Stage`].
    PromoteEachStage => promotion: PromotionKind::Stage;
    /// [`EmulationKind::None`].
    NoEmulation => emulation: EmulationKind::None;
    /// [`EmulationKind::Bf16x6`].
    Bf16x6 => emulation: EmulationKind::Bf16x6;
    /// [`EmulationKind::Bf16x3`].
    Bf16x3 => emulation: EmulationKind::Bf16x3;
    /// [`EmulationKind::F16x3`].
    F16x3 => emulation: EmulationKind::F16x3;
    /// [`EmulationKind::Tf32x3`].
    Tf32x3 => emulation: EmulationKind::Tf32x3;
    /// [`EmulationKind::Bf16x1`].
    Bf16x1 => emulation: EmulationKind::Bf16x1;
    /// [`AOperandKind::Shared`].
    FromShared => a_operand: AOperandKind::Shared;
    /// [`AOperandKind::Registers`].
    FromRegisters => a_operand: AOperandKind::Registers;
    /// [`SaturateKind::On`].
    Saturate => saturate: SaturateKind::On;
    /// [`InterleaveKind::Vector`].
    VectorInterleave => interleave: InterleaveKind::Vector;
    /// [`InterleaveKind::Elements`]. 1 deals elements to lanes one by one; what a thread holds in
    /// all makes its tile one piece.
    Interleave<const N> => interleave: InterleaveKind::Elements(N);
    /// [`UnrollKind::Full`].
    FullUnroll => unroll: UnrollKind::Full;
    /// [`UnrollKind::By`].
    UnrollBy<const N> => unroll: UnrollKind::By(N);
    /// [`SpillKind::Refused`].
    NoSpills => spills: SpillKind::Refused;
    /// [`SpillKind::Allowed`].
    SpillsAllowed => spills: SpillKind::Allowed;
}

macro_rules! leaves_of {
    ($($(#[doc = $doc:literal])* $Leaf:ident<$T:ident: $Bound:path> => $field:ident: $value:expr $(, $register:ident)?;)*) => {
        $($(#[doc = $doc])*
        pub struct $Leaf<$T>(PhantomData<$T>);

        impl<$T: $Bound> Leaf for $Leaf<$T> {
            const PINS: Pins = Pins { $field: Some($value), ..Pins::NONE };

            $(fn $register() {
                $T::$register();
            })?
        })*
    };
}

leaves_of! {
    /// The tile of C that a block computes, and its depth along K.
    Threadblock<S: Shape> => threadblock: S::MNK;
    /// The tile of C that a warp computes, and its share of the depth.
    Warp<S: Shape> => warp: S::MNK;
    /// What one instruction computes.
    Instruction<S: Shape> => instruction: S::MNK;
    /// Where A's tile lies in shared memory: [`SmemPadded`](crate::smem::SmemPadded) for one.
    SharedA<L: SmemChoice> => smem_a: L::LAYOUT;
    /// Where B's tile lies in shared memory.
    SharedB<L: SmemChoice> => smem_b: L::LAYOUT;
    /// What becomes of an accumulator on its way to D.
    EpilogueTree<E: Node> => epilogue: E::DESC, register;
}

/// What an instruction's shape pins: a thread's `fma` is not chosen.
const fn instruction_of(shape: Mnk) -> Option<Mnk> {
    if shape.m * shape.n * shape.k == 1 { None } else { Some(shape) }
}

// A main loop alone, and a loop nest.
macro_rules! main_loops {
    ($($Mma:ident $(<const $STAGES:ident>)? => $kind:ident;)*) => {
        $(impl Leaf for $Mma {
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
    MmaSingleStage => SingleStage;
    MmaPipelined => Pipelined;
    MmaMultistage<const STAGES> => Multistage;
    MmaWarpSpecialized<const STAGES> => WarpSpecialized;
}
