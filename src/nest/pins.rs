//! The table of all knobs of a kernel.
//!
//! A row of the table defines the JSON name, the type, the command-line flag, the meaning, and the
//! leaves of a knob. A leaf pins the knob as a type. The table generates [`Pins`], in which every
//! knob is optional, and the leaves. [`leaves`](crate::nest::leaves) has the leaves whose value is
//! a type.

use crate::{
    Error,
    epilogue::EpilogueDesc,
    nest::{
        AOperandKind, PromotionKind, SaturateKind,
        kinds::{DecompositionKind, SpillKind},
        leaves::Leaf,
        words::Words,
    },
    numeric::{EmulationKind, TransformId},
    schedule::ScheduleKind,
    shape::{Mn, Mnk, framed},
    threadblock::{L2PromotionKind, MainloopKind, SwizzleKind, smem::SmemLayout},
    warp::{InterleaveKind, UnrollKind},
};

macro_rules! knobs {
    ($(
        $(#[doc = $doc:literal])*
        $field:ident: $ty:ty, flag $flag:literal $(, $omitted:ident if default)? {
            $($(#[$leaf:meta])* $Leaf:ident $(<$(const $N:ident),+>)? = $value:expr;)*
        }
    )*) => {
        /// Pinned knobs. The resolver chooses each knob that is `None`. Alignments, transforms, and
        /// layouts in shared memory refer to the user's A and B. Tile shapes, the cluster, and
        /// `a_operand` refer to the kernel, which may swap A and B.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct Pins {
            $($(#[doc = $doc])* pub $field: Option<$ty>,)*
        }

        impl Pins {
            /// Pins without a pinned knob.
            pub const NONE: Self = Self { $($field: None),* };

            /// Rows of (JSON name, command-line flag, meaning), one per knob.
            pub const TABLE: &'static [(&'static str, &'static str, &'static str)] =
                &[$((stringify!($field), $flag, concat!($($doc),*))),*];

            /// JSON names of the knobs whose defaults JSON and the names of kernels omit. These
            /// knobs are newer than the version of the JSON form.
            pub(crate) const OMITTED: &'static [&'static str] =
                &[$($(knobs!(@name $omitted $field),)?)*];

            /// Returns the first pinned knob and the remaining ones.
            pub const fn split_first(self) -> Option<(Self, Self)> {
                $(if self.$field.is_some() {
                    return Some((Self { $field: self.$field, ..Self::NONE }, Self { $field: None, ..self }));
                })*
                None
            }

            /// Returns the JSON name of the first pinned knob.
            pub const fn first(&self) -> Option<&'static str> {
                $(if self.$field.is_some() {
                    return Some(stringify!($field));
                })*
                None
            }

            /// Returns the pins whose knobs `other` lacks.
            pub(crate) const fn missing_in(self, other: &Self) -> Self {
                Self { $($field: if other.$field.is_some() { None } else { self.$field }),* }
            }

            /// Returns the pins whose values differ from those of `other`.
            pub fn differing_from(&self, other: &Self) -> Self {
                Self { $($field: self.$field.filter(|_| self.$field != other.$field)),* }
            }

            /// Returns these pins, completed with the pins of `base`.
            #[must_use]
            pub const fn over(self, base: Self) -> Self {
                Self { $($field: if self.$field.is_some() { self.$field } else { base.$field }),* }
            }

            /// Returns the form of a knob's text, for example `MxNxK`. `name` is the JSON name.
            pub fn form(name: &str) -> Option<&'static str> {
                match name {
                    $(stringify!($field) => Some(<$ty as Words>::FORM),)*
                    _ => None,
                }
            }

            /// Pins the knob with JSON name `name` to the value in `text`.
            ///
            /// # Errors
            /// [`Error::KnobText`] if no knob has this name, or if `text` is not one of its values.
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), Error> {
                let refuse = |because| Error::KnobText { knob: name.to_owned(), text: text.to_owned(), because };
                match name {
                    $(stringify!($field) => {
                        self.$field = Some(Words::read(text).map_err(refuse)?);
                    })*
                    _ => return Err(refuse("there is no knob of this name".to_owned())),
                }
                Ok(())
            }

            /// Returns the value of each pinned knob in the words that [`set`](Self::set) reads, in
            /// the order of [`TABLE`](Self::TABLE).
            pub fn words(&self) -> Vec<Option<String>> {
                vec![$(self.$field.as_ref().map(Words::spell)),*]
            }
        }

        $($($(#[$leaf])*
        #[derive(Clone, Copy, Debug)]
        pub struct $Leaf $(<$(const $N: u32),+>)?;

        impl $(<$(const $N: u32),+>)? Leaf for $Leaf $(<$($N),+>)? {
            const PINS: Pins = Pins { $field: Some($value), ..Pins::NONE };
        })*)*
    };
    (@name omitted $field:ident) => { stringify!($field) };
}

knobs! {
    /// Threadblock tile M x N x K in elements: the part of D that one CTA computes, and the
    /// depth of one k-tile.
    threadblock: Mnk, flag "--threadblock" {}
    /// Warp tile M x N x K in elements, a part of the threadblock tile. On Hopper's tensor
    /// cores, --warp is the tile of a warpgroup.
    warp: Mnk, flag "--warp" {}
    /// Shape M x N x K of one tensor-core instruction. In a warp-specialized kernel on the CUDA
    /// cores, --instruction is the tile of one thread.
    instruction: Mnk, flag "--instruction" {}
    /// Main loop that moves tiles from global to shared memory: singlestage, pipelined,
    /// multistage, or warpspecialized. singlestage has one buffer, and pipelined has two
    /// buffers. multistage copies asynchronously into a ring. warpspecialized has a producer
    /// warpgroup with TMA (sm90).
    mainloop: MainloopKind, flag "--mainloop" {}
    /// Number of k-tiles that shared memory holds at once.
    stages: u32, flag "--stages" {
        /// Keeps `N` k-tiles in shared memory at once.
        Stages<const N> = N;
    }
    /// Order in which CTAs compute the tiles of D: N (down columns, in groups of N columns),
    /// horizontal (along rows), grouped:N (along rows, in groups of N rows), hilbert, or a
    /// registered order.
    swizzle: SwizzleKind, flag "--swizzle" {
        /// Pins [`SwizzleKind::Identity`]: down columns of tiles, in groups of `TILE` columns.
        IdentitySwizzle<const TILE> = SwizzleKind::Identity(TILE);
        /// Pins [`SwizzleKind::Horizontal`]: along rows of tiles.
        HorizontalSwizzle = SwizzleKind::Horizontal;
        /// Pins [`SwizzleKind::Grouped`]: along rows of tiles, in groups of `TILE` rows.
        GroupedSwizzle<const TILE> = SwizzleKind::Grouped(TILE);
        /// Pins [`SwizzleKind::Hilbert`]: along a Hilbert curve in squares of tiles.
        HilbertSwizzle = SwizzleKind::Hilbert;
    }
    /// Number of split-K slices. Each slice has its own CTA. --decomposition selects the CTA
    /// that reduces the slices.
    split_k: u32, flag "--split-k" {
        /// Divides K into `N` split-K slices, each with its own CTA.
        SplitK<const N> = N;
    }
    /// Division of K among CTAs: dataparallel, splitk, splitkparallel, splitkcluster, or
    /// streamk. dataparallel keeps K whole. With splitk, the last CTA to arrive reduces the
    /// slices in a workspace. With splitkparallel, a second kernel reduces the slices. With
    /// splitkcluster, a cluster reduces at most 8 slices without a workspace. With streamk,
    /// CTAs compute whole waves of tiles, and equal spans of the remaining k-tiles.
    decomposition: DecompositionKind, flag "--decomposition" {
        /// Pins [`DecompositionKind::DataParallel`].
        DataParallel = DecompositionKind::DataParallel;
        /// Pins [`DecompositionKind::SplitKParallel`].
        SplitKParallel = DecompositionKind::SplitKParallel;
        /// Pins [`DecompositionKind::SplitKCluster`].
        SplitKCluster = DecompositionKind::SplitKCluster;
        /// Pins [`DecompositionKind::StreamK`].
        StreamK = DecompositionKind::StreamK;
    }
    /// Elements of A per memory access. The address, the leading dimension, and the batch
    /// stride of A are multiples of the access width.
    align_a: u32, flag "--align-a" {
        /// Pins `N` elements of A per access.
        AlignmentA<const N> = N;
    }
    /// Elements of B per memory access. The address, the leading dimension, and the batch
    /// stride of B are multiples of the access width.
    align_b: u32, flag "--align-b" {
        /// Pins `N` elements of B per access.
        AlignmentB<const N> = N;
    }
    /// Elements of C and D per memory access. The addresses, leading dimensions, and batch
    /// strides of C and D are multiples of the access width.
    align_c: u32, flag "--align-c" {
        /// Pins `N` elements of C and D per access.
        AlignmentC<const N> = N;
    }
    /// Layout of A's tile in shared memory: auto, padded by PAD elements, or swizzled. Prefix
    /// mn or k names the contiguous index.
    smem_a: SmemLayout, flag "--smem-a" {}
    /// Layout of B's tile in shared memory, in the form of --smem-a.
    smem_b: SmemLayout, flag "--smem-b" {}
    /// Minimum number of CTAs that one multiprocessor holds at once. The number limits the
    /// registers per thread.
    blocks_per_sm: u32, flag "--blocks-per-sm" {
        /// Requires that a multiprocessor holds at least `N` CTAs at once, which limits the
        /// registers per thread.
        BlocksPerSm<const N> = N;
    }
    /// CTAs of a cluster along M and N. CTAs in one line share the tiles that they copy.
    cluster: Mn, flag "--cluster" {
        /// Pins a cluster of `M` x `N` CTAs.
        ClusterShape<const M, const N> = Mn { m: M, n: N };
    }
    /// Schedule of the consumer warpgroups: cooperative (all share each tile) or pingpong (the
    /// consumers alternate between tiles).
    schedule: ScheduleKind, flag "--schedule" {
        /// Pins [`ScheduleKind::Cooperative`]: all consumer warpgroups share each tile.
        CooperativeSchedule = ScheduleKind::Cooperative;
        /// Pins [`ScheduleKind::Pingpong`]: one consumer warpgroup multiplies while the other
        /// stores.
        PingpongSchedule = ScheduleKind::Pingpong;
    }
    /// Granularity in bytes at which the L2 cache fills TMA's copies of A and B from global
    /// memory: none (whole sectors), 64, 128, or 256. Results do not depend on it.
    l2_promotion: L2PromotionKind, flag "--l2-promotion", omitted if default {
        /// Pins [`L2PromotionKind::None`].
        #[doc(hidden)]
        NoL2Promotion = L2PromotionKind::None;
        /// Pins [`L2PromotionKind::Bytes64`].
        #[doc(hidden)]
        L2Promotion64 = L2PromotionKind::Bytes64;
        /// Pins [`L2PromotionKind::Bytes128`].
        #[doc(hidden)]
        L2Promotion128 = L2PromotionKind::Bytes128;
        /// Pins [`L2PromotionKind::Bytes256`].
        #[doc(hidden)]
        L2Promotion256 = L2PromotionKind::Bytes256;
    }
    /// Maximum number of wgmma groups that a consumer leaves in flight when the consumer moves
    /// to the next stage. With promoted accumulators, the number is 0.
    pending: u32, flag "--pending" {
        /// Leaves at most `N` `wgmma` groups in flight when a consumer moves to the next stage.
        Pending<const N> = N;
    }
    /// Promotion of the accumulators of fp8 and emulated f32 to f32 accumulators: never (fast
    /// accumulation), or after each stage of 128 bytes.
    promotion: PromotionKind, flag "--promotion" {
        /// Pins [`PromotionKind::Never`].
        NoPromotion = PromotionKind::Never;
        /// Pins [`PromotionKind::Stage`].
        PromoteEachStage = PromotionKind::Stage;
    }
    /// Emulation of f32 on tensor cores: none, bf16x6, bf16x3, f16x3, tf32x3, or bf16x1. bf16x6
    /// keeps the whole range and all 24 bits. bf16x3 keeps 16 of the 24 bits. f16x3 limits the
    /// exponent range. tf32x3 (22 bits) and bf16x1 (8 bits) use mma.sync.
    emulation: EmulationKind, flag "--emulation" {
        /// Pins [`EmulationKind::None`].
        NoEmulation = EmulationKind::None;
        /// Pins [`EmulationKind::Bf16x6`].
        Bf16x6 = EmulationKind::Bf16x6;
        /// Pins [`EmulationKind::Bf16x3`].
        Bf16x3 = EmulationKind::Bf16x3;
        /// Pins [`EmulationKind::F16x3`].
        F16x3 = EmulationKind::F16x3;
        /// Pins [`EmulationKind::Tf32x3`].
        Tf32x3 = EmulationKind::Tf32x3;
        /// Pins [`EmulationKind::Bf16x1`].
        Bf16x1 = EmulationKind::Bf16x1;
    }
    /// Registered transform of A in registers, between shared memory and the MMA. A transform
    /// replaces the emulation of its operand.
    transform_a: TransformId, flag "--transform-a" {}
    /// Registered transform of B in registers, between shared memory and the MMA.
    transform_b: TransformId, flag "--transform-b" {}
    /// Source of the kernel's A for Hopper's tensor cores: shared (memory), registers (M-major
    /// A of 8 or 32 bits), or auto (registers if possible).
    a_operand: AOperandKind, flag "--a-operand" {
        /// Pins [`AOperandKind::Shared`].
        FromShared = AOperandKind::Shared;
        /// Pins [`AOperandKind::Registers`].
        FromRegisters = AOperandKind::Registers;
    }
    /// Saturation of integer sums: on (sums stop at the limits of i32) or off (sums wrap).
    saturate: SaturateKind, flag "--saturate" {
        /// Pins [`SaturateKind::On`].
        Saturate = SaturateKind::On;
    }
    /// Consecutive elements along M or N that one lane computes: vector (the elements of one
    /// 16-byte access) or N.
    interleave: InterleaveKind, flag "--interleave" {
        /// Pins [`InterleaveKind::Vector`].
        VectorInterleave = InterleaveKind::Vector;
        /// Pins [`InterleaveKind::Elements`]. With 1, single elements alternate among the lanes.
        /// With the extent of a thread's tile, each tile is contiguous.
        Interleave<const N> = InterleaveKind::Elements(N);
    }
    /// Number of k-blocks that one iteration of the inner loop computes: full (all) or N. Only
    /// the single-stage main loop has this loop.
    unroll: UnrollKind, flag "--unroll" {
        /// Pins [`UnrollKind::Full`].
        FullUnroll = UnrollKind::Full;
        /// Pins [`UnrollKind::By`].
        UnrollBy<const N> = UnrollKind::By(N);
    }
    /// Kernels that need more registers per thread than the hardware has: refused or allowed.
    spills: SpillKind, flag "--spills" {
        /// Pins [`SpillKind::Refused`].
        NoSpills = SpillKind::Refused;
        /// Pins [`SpillKind::Allowed`].
        SpillsAllowed = SpillKind::Allowed;
    }
    /// Expression for D over acc, operands, scalars, and numbers, with +, -, *, /, and functions
    /// such as gelu_tanh, silu, relu, exp, sqrt, min, and clamp. `x = ..;` names a value. Operands
    /// are c, bias_m, bias_n, scale_m, scale_n, and aux1 to aux4. Scalars are alpha, beta, and s2
    /// to s7.
    epilogue: EpilogueDesc, flag "--epilogue" {}
}

impl Pins {
    /// Returns the JSON names of the first `N` pinned knobs.
    pub(crate) const fn names<const N: usize>(self) -> [Option<&'static str>; N] {
        let (mut names, mut i, mut rest) = ([None; N], 0, self);
        while i < N
            && let (Some(name), Some((_, others))) = (rest.first(), rest.split_first())
        {
            names[i] = Some(name);
            (i, rest) = (i + 1, others);
        }
        names
    }

    /// Returns whether a shape, the cluster, the schedule, or the source of A is pinned.
    pub(crate) const fn pins_shapes(&self) -> bool {
        self.threadblock.is_some()
            || self.warp.is_some()
            || self.instruction.is_some()
            || self.cluster.is_some()
            || self.schedule.is_some()
            || self.a_operand.is_some()
    }

    /// Returns whether the decomposition or the number of split-K slices is pinned.
    pub(crate) const fn divides_k(&self) -> bool {
        self.decomposition.is_some() || self.split_k.is_some()
    }

    /// Returns whether no knob is pinned.
    pub const fn is_none(&self) -> bool {
        self.first().is_none()
    }

    /// Returns the pins of the transposed GEMM. Knobs of operands and vectors of the epilogue are
    /// swapped; shapes belong to the kernel and stay.
    #[must_use]
    pub(crate) const fn swapped(self) -> Self {
        let epilogue = match self.epilogue {
            Some(epilogue) => Some(epilogue.swapped()),
            None => None,
        };
        Self {
            align_a: self.align_b,
            align_b: self.align_a,
            smem_a: self.smem_b,
            smem_b: self.smem_a,
            transform_a: self.transform_b,
            transform_b: self.transform_a,
            epilogue,
            ..self
        }
    }
}

framed!(Pins);
