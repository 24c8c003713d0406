//! Every knob of a kernel, once.
//!
//! One row of the table makes the associated type of [`GemmConfig`], the knob's marker and its `With` alias, the field of
//! [`GemmDesc`], its JSON name and its command-line flag. A new knob is a new row; what it does is said where it is read.

use super::{
    derived::Typed,
    promotion::{Promotion, PromotionKind},
    source_a::{OperandSource, SourceKind},
    spills::{SpillKind, Spilling},
    split::Split,
    words::Words,
};
use crate::{
    arch::{ArchKind, OpKind},
    epilogue::{EpilogueDesc, Node},
    error::Error,
    layout::Order,
    numeric::{ComputeKind, ElementKind, SplitKind},
    schedule::{ScheduleKind, WarpgroupSchedule},
    shape::{BlockCount, ClusterExtents, Mn, Mnk, Shape, StageCount, TiledBy},
    threadblock::{MainloopKind, Mma, SmemChoice, SmemLayout, Swizzle, SwizzleKind},
    warp::{InterleaveChoice, InterleaveKind, Unroll, UnrollKind},
};
use core::marker::PhantomData;
use typenum::Unsigned;

/// "Choose for me": the configuration that
/// [`default_gemm_configuration`](crate::family::default_gemm_configuration) has for the types at hand.
#[derive(Clone, Copy, Debug)]
pub struct Auto;

/// A configuration with one knob set: `Base` is [`Auto`], a [`Config`], or another `With`.
///
/// The knob is applied once the base is resolved, so overrides of defaults read well and commute.
pub struct With<Base, K>(PhantomData<(Base, K)>);

/// One knob, set to a value: what [`With`] applies.
pub trait Knob<C: GemmConfig>: 'static {
    /// The configuration `C` with this knob set.
    type Applied: GemmConfig;
}

macro_rules! knobs {
    ($($(#[doc = $doc:literal])* $Knob:ident($Bound:path) as $With:ident => $field:ident: $ty:ty = $value:expr, flag $flag:literal $(, serde $serde:ident)?;)*) => {
        /// Every knob of a kernel, by name, as types. Implemented once, by [`Config`]: all roads lead to the same type.
        #[diagnostic::on_unimplemented(
            message = "this configuration does not nest, or is not a configuration",
            label = "not a configuration",
            note = "the threadblock tile must be a multiple of the warp tile, and the warp tile of the instruction, along each of M, N and K"
        )]
        pub trait GemmConfig: 'static {
            $($(#[doc = $doc])* type $Knob: $Bound;)*
        }

        /// The canonical configuration.
        pub struct Config<$($Knob),*>(PhantomData<($($Knob,)*)>);

        impl<$($Knob: $Bound),*> GemmConfig for Config<$($Knob),*>
        where
            Threadblock: TiledBy<Warp>,
            Warp: TiledBy<Instruction>,
        {
            $(type $Knob = $Knob;)*
        }

        /// Every knob of a kernel, by name, as values.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct Knobs {
            $($(#[doc = $doc])* pub $field: $ty,)*
        }

        impl Knobs {
            /// The (JSON name, command-line flag, meaning) of every knob.
            pub const TABLE: &'static [(&'static str, &'static str, &'static str)] =
                &[$((stringify!($field), $flag, concat!($($doc),*))),*];

            /// The values of a configuration's types.
            pub const fn of<C: GemmConfig>() -> Self {
                Self { $($field: $value,)* }
            }

            /// What words a knob takes, `MxNxK` for one; the knob by its JSON name.
            pub fn form(name: &str) -> Option<&'static str> {
                match name {
                    $(stringify!($field) => Some(<$ty as Words>::FORM),)*
                    _ => None,
                }
            }

            /// Sets a knob, by its JSON name, from words.
            ///
            /// # Errors
            ///
            /// [`Error::KnobText`] when there is no such knob, or the words are no value of it.
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), Error> {
                let refuse = |flag: &str, because| Error::KnobText { flag: flag.to_owned(), text: text.to_owned(), because };
                match name {
                    $(stringify!($field) => self.$field = Words::read(text).map_err(|because| refuse($flag, because))?,)*
                    _ => return Err(refuse(name, "there is no knob of this name".to_owned())),
                }
                Ok(())
            }

            /// Every knob's value in the words that [`set`](Self::set) reads, in the order of [`TABLE`](Self::TABLE).
            pub fn words(&self) -> Vec<String> {
                vec![$(Words::spell(&self.$field)),*]
            }
        }

        /// Everything a kernel has to know, as one plain value.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
        pub struct GemmDesc {
            /// Elements of A.
            pub a: ElementKind,
            /// Elements of B.
            pub b: ElementKind,
            /// Elements of C and D.
            pub c: ElementKind,
            /// Elements that products are accumulated in.
            pub accumulator: ElementKind,
            /// What the epilogue computes in.
            pub compute: ComputeKind,
            /// Layout of A, an M x K matrix.
            pub layout_a: Order,
            /// Layout of B, a K x N matrix.
            pub layout_b: Order,
            /// Layout of C and D: row-major, but where A and B have changed places so that A comes from registers.
            #[cfg_attr(feature = "serde", serde(default))]
            pub layout_c: Order,
            /// Whether the user's A and B have changed places, and D its order: to make C row-major, or to have A in registers.
            pub exchanged: bool,
            /// Which units multiply.
            pub op: OpKind,
            /// Which instructions may be used.
            pub arch: ArchKind,
            $($(#[doc = $doc])* $(#[cfg_attr(feature = "serde", serde($serde))])? pub $field: $ty,)*
        }

        impl GemmDesc {
            /// A description from what the types say and the knobs.
            pub(super) const fn from_parts(types: Typed, knobs: Knobs) -> Self {
                Self {
                    a: types.a,
                    b: types.b,
                    c: types.c,
                    accumulator: types.accumulator,
                    compute: ComputeKind::of(types.accumulator, types.c),
                    layout_a: types.layout_a,
                    layout_b: types.layout_b,
                    layout_c: Order::Row,
                    exchanged: types.exchanged,
                    op: types.op,
                    arch: types.arch,
                    $($field: knobs.$field,)*
                }
            }

            /// The knobs alone.
            pub const fn knobs(&self) -> Knobs {
                Knobs { $($field: self.$field,)* }
            }
        }

        knobs! { @each [] $($Knob($Bound) as $With;)* }
    };

    // Each knob in turn: those before it, itself, those after it.
    (@each [$($Before:ident)*] $Knob:ident($Bound:path) as $With:ident; $($After:ident($Ab:path) as $Aw:ident;)*) => {
        #[doc = concat!("The knob [`", stringify!($Knob), "`](GemmConfig::", stringify!($Knob), "), set to `V`.")]
        pub struct $Knob<V>(PhantomData<V>);

        impl<C: GemmConfig, V: $Bound> Knob<C> for $Knob<V>
        where
            Config<$(C::$Before,)* V, $(C::$After),*>: GemmConfig,
        {
            type Applied = Config<$(C::$Before,)* V, $(C::$After),*>;
        }

        #[doc = concat!("`Base` with the knob [`", stringify!($Knob), "`](GemmConfig::", stringify!($Knob), ") set to `V`.")]
        pub type $With<Base, V> = With<Base, $Knob<V>>;

        knobs! { @each [$($Before)* $Knob] $($After($Ab) as $Aw;)* }
    };
    (@each [$($Before:ident)*]) => {};
}

knobs! {
    /// Tile of C that a block computes, and its depth along K.
    Threadblock(Shape) as WithThreadblock => threadblock: Mnk = <C::Threadblock as Shape>::MNK, flag "--threadblock";
    /// Tile of C that a warp computes, and its share of the depth.
    Warp(Shape) as WithWarp => warp: Mnk = <C::Warp as Shape>::MNK, flag "--warp";
    /// What one instruction computes; 1x1x1 on the CUDA cores, but for the warp-specialized main loop, where it is what a thread computes.
    Instruction(Shape) as WithInstruction => instruction: Mnk = <C::Instruction as Shape>::MNK, flag "--instruction";
    /// How tiles come from global to shared memory.
    Loop(Mma) as WithLoop => mainloop: MainloopKind = <C::Loop as Mma>::KIND, flag "--mainloop";
    /// Tiles in shared memory at once.
    StageNumber(StageCount) as WithStageNumber => stages: u32 = <C::StageNumber as StageCount>::STAGES, flag "--stages";
    /// Which block computes which tile.
    TileOrdering(Swizzle) as WithTileOrdering => swizzle: SwizzleKind = <C::TileOrdering as Swizzle>::KIND, flag "--swizzle";
    /// Elements of A in one access; A's address and leading dimension are multiples of it.
    AlignmentA(Unsigned) as WithAlignmentA => align_a: u32 = <C::AlignmentA as Unsigned>::U32, flag "--align-a";
    /// Elements of B in one access; B's address and leading dimension are multiples of it.
    AlignmentB(Unsigned) as WithAlignmentB => align_b: u32 = <C::AlignmentB as Unsigned>::U32, flag "--align-b";
    /// Elements of C and D in one access; their addresses and leading dimensions are multiples of it.
    AlignmentC(Unsigned) as WithAlignmentC => align_c: u32 = <C::AlignmentC as Unsigned>::U32, flag "--align-c";
    /// Where A's tile lies in shared memory.
    SharedA(SmemChoice) as WithSharedA => smem_a: SmemLayout = <C::SharedA as SmemChoice>::LAYOUT, flag "--smem-a";
    /// Where B's tile lies in shared memory.
    SharedB(SmemChoice) as WithSharedB => smem_b: SmemLayout = <C::SharedB as SmemChoice>::LAYOUT, flag "--smem-b";
    /// Blocks that a multiprocessor is to hold at once; bounds the registers of a thread.
    Blocks(BlockCount) as WithBlocks => blocks_per_sm: u32 = <C::Blocks as BlockCount>::BLOCKS, flag "--blocks-per-sm";
    /// Blocks of a cluster, along M and N: those in a line share what they copy. 1x1 but for the warp-specialized main loop.
    Clusters(ClusterExtents) as WithClusters => cluster: Mn = <C::Clusters as ClusterExtents>::MN, flag "--cluster";
    /// How warpgroups share tiles: all in one, or whole tiles in turns. Cooperative but for the warp-specialized main loop.
    Scheduling(WarpgroupSchedule) as WithScheduling => schedule: ScheduleKind = <C::Scheduling as WarpgroupSchedule>::KIND, flag "--schedule";
    /// How often sums of fp8, or of parts of f32, are promoted to f32: never, which is fast accumulation, or after each stage of 128 bytes.
    Promoting(Promotion) as WithPromoting => promotion: PromotionKind = <C::Promoting as Promotion>::KIND, flag "--promotion";
    /// How f32 is split for tensor cores: bf16x6 has all of its range, f16x3 a window of exponents; none but for f32 there.
    Splitting(Split) as WithSplitting => split: SplitKind = <C::Splitting as Split>::KIND, flag "--split", serde default;
    /// Where tensor cores of Hopper find A: in shared memory, or, of 8 or 32 bits and contiguous along M, in registers.
    SourceOfA(OperandSource) as WithSourceOfA => source_a: SourceKind = <C::SourceOfA as OperandSource>::KIND, flag "--source-a", serde default;
    /// Neighbours along M or N that a lane holds before the next lane's begin.
    Interleaving(InterleaveChoice) as WithInterleaving => interleave: InterleaveKind = <C::Interleaving as InterleaveChoice>::KIND, flag "--interleave";
    /// K-groups of a tile in one turn of their loop; other main loops than the single-stage one have no such loop.
    Unrolling(Unroll) as WithUnrolling => unroll: UnrollKind = <C::Unrolling as Unroll>::KIND, flag "--unroll";
    /// Whether a kernel may need more registers than its threads can have.
    Spills(Spilling) as WithSpills => spills: SpillKind = <C::Spills as Spilling>::KIND, flag "--spills";
    /// What becomes of an accumulator on its way to D.
    EpilogueTree(Node) as WithEpilogueTree => epilogue: EpilogueDesc = <C::EpilogueTree as Node>::DESC, flag "--epilogue";
}
