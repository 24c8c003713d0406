//! From types to the value.

use super::{
    derived::Typed,
    knobs::{
        Blocks, Clusters, GemmConfig, GemmDesc, Interleaving, Knob, Knobs, Loop, Promoting, Scheduling, SourceOfA, Spills,
        Splitting, StageNumber, TileOrdering, Unrolling, With,
    },
    promotion::{NoPromotion, PromoteEachStage},
    source_a::{FromEither, FromRegisters, FromShared},
    spills::{NoSpills, SpillsAllowed},
    split::{Bf16x6, F16x3, NoSplit},
};
use crate::{
    arch::{Arch, ArchKind, OpClass, OpKind},
    layout::{Layout, Operands, Order},
    numeric::{Combined, Element},
    schedule::{CooperativeSchedule, PingpongSchedule},
    shape::{BlocksPerSm, ClusterShape, Stages},
    threadblock::{
        GroupedSwizzle, HilbertSwizzle, HorizontalSwizzle, IdentitySwizzle, MmaMultistage, MmaPipelined, MmaSingleStage,
        MmaWarpSpecialized,
    },
    warp::{FullUnroll, Interleave, UnrollBy, VectorInterleave},
};

/// The description that row-major operands and a configuration name. Not checked yet.
pub const fn lower<P: Operands, Accumulator: Element, Op: OpClass, A: Arch, C: GemmConfig>() -> GemmDesc {
    let types = Typed {
        a: <P::A as Element>::KIND,
        b: <P::B as Element>::KIND,
        c: <P::C as Element>::KIND,
        accumulator: Accumulator::KIND,
        layout_a: <P::LayoutA as Layout>::ORDER,
        layout_b: <P::LayoutB as Layout>::ORDER,
        exchanged: P::EXCHANGED,
        op: Op::KIND,
        arch: A::KIND,
    };
    GemmDesc::from_parts(types, if P::EXCHANGED { Knobs::of::<C>().exchange() } else { Knobs::of::<C>() }).settled()
}

impl Knobs {
    /// The knobs that belong to an operand change places with it; shapes belong to the kernel and stay.
    pub const fn exchange(self) -> Self {
        Self { align_a: self.align_b, align_b: self.align_a, smem_a: self.smem_b, smem_b: self.smem_a, ..self }
    }
}

/// `Base` with `N` stages.
pub type WithStages<Base, const N: u32> = With<Base, Stages<N>>;

// Leaves that can only mean one knob are knobs themselves: `With<Auto, Stages<4>>`.
macro_rules! leaves {
    ($($leaf:ty as $Knob:ident $(, const $N:ident)*;)*) => {
        $(impl<C: GemmConfig $(, const $N: u32)*> Knob<C> for $leaf
        where
            $Knob<$leaf>: Knob<C>,
        {
            type Applied = <$Knob<$leaf> as Knob<C>>::Applied;
        })*
    };
}

leaves! {
    Stages<N> as StageNumber, const N;
    BlocksPerSm<N> as Blocks, const N;
    ClusterShape<M, N> as Clusters, const M, const N;
    IdentitySwizzle<N> as TileOrdering, const N;
    HorizontalSwizzle as TileOrdering;
    GroupedSwizzle<N> as TileOrdering, const N;
    HilbertSwizzle as TileOrdering;
    MmaSingleStage as Loop;
    MmaPipelined as Loop;
    MmaMultistage as Loop;
    MmaWarpSpecialized as Loop;
    CooperativeSchedule as Scheduling;
    PingpongSchedule as Scheduling;
    NoPromotion as Promoting;
    PromoteEachStage as Promoting;
    NoSplit as Splitting;
    Bf16x6 as Splitting;
    F16x3 as Splitting;
    FromShared as SourceOfA;
    FromRegisters as SourceOfA;
    FromEither as SourceOfA;
    VectorInterleave as Interleaving;
    Interleave<N> as Interleaving, const N;
    FullUnroll as Unrolling;
    UnrollBy<N> as Unrolling, const N;
    NoSpills as Spills;
    SpillsAllowed as Spills;
}

impl GemmDesc {
    /// The description of types and knobs given as values, in the user's order; a column-major C exchanges the operands.
    /// Not checked yet.
    pub fn of_values(op: OpKind, arch: ArchKind, types: Combined, [a, b, c]: [Order; 3], knobs: Knobs) -> Self {
        let typed = Typed {
            a: types.a,
            b: types.b,
            c: types.c,
            accumulator: types.accumulator,
            layout_a: a,
            layout_b: b,
            exchanged: false,
            op,
            arch,
        };
        let desc = Self::from_parts(typed, knobs);
        if c.is_row() { desc.settled() } else { desc.exchange().settled() }
    }

    /// The same product with other knobs, which belong to the user's A and B. Not checked yet.
    #[must_use]
    pub fn with_knobs(&self, knobs: Knobs) -> Self {
        let (user, orders) = (if self.exchanged { self.exchange() } else { *self }, self.orders());
        let desc = Self::of_values(self.op, self.arch, user.combined(), [orders.a, orders.b, orders.c], knobs);
        Self { compute: self.compute, ..desc }
    }
}
