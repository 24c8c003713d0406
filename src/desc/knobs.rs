//! Every knob of a kernel, once.
//!
//! One row of the table makes the field of [`Knobs`], of [`Pins`] and of [`GemmDesc`], its JSON name and its command-line flag. A
//! leaf of [`leaves`](super::leaves) pins it as a type; what it does is said where it is read.

use super::{derived::Typed, promotion::PromotionKind, source_a::SourceKind, spills::SpillKind, words::Words};
use crate::{
    arch::{ArchKind, OpKind},
    epilogue::EpilogueDesc,
    error::Error,
    layout::Order,
    numeric::{ComputeKind, ElementKind, SplitKind},
    schedule::ScheduleKind,
    shape::{Mn, Mnk},
    threadblock::{MainloopKind, SmemLayout, SwizzleKind},
    warp::{InterleaveKind, UnrollKind},
};

macro_rules! knobs {
    ($($(#[doc = $doc:literal])* $field:ident: $ty:ty, flag $flag:literal $(, serde $serde:ident)?;)*) => {
        /// Every knob of a kernel, by name.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct Knobs {
            $($(#[doc = $doc])* pub $field: $ty,)*
        }

        /// Some knobs, pinned; what is `None` is left to the resolver.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct Pins {
            $($(#[doc = $doc])* pub $field: Option<$ty>,)*
        }

        impl Pins {
            /// No knob is pinned.
            pub const NONE: Self = Self { $($field: None),* };

            /// Whether no knob is pinned.
            pub const fn is_none(&self) -> bool {
                $(self.$field.is_none())&&*
            }

            /// These, and those of `base` that these do not pin.
            #[must_use]
            pub const fn over(self, base: Self) -> Self {
                Self { $($field: if self.$field.is_some() { self.$field } else { base.$field }),* }
            }

            /// Pins a knob, by its JSON name, to a value in words.
            ///
            /// # Errors
            ///
            /// [`Error::KnobText`] when there is no such knob, or the words are no value of it.
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), Error> {
                let refuse = |flag: &str, because| Error::KnobText { flag: flag.to_owned(), text: text.to_owned(), because };
                match name {
                    $(stringify!($field) => {
                        self.$field = Some(Words::read(text).map_err(|because| refuse($flag, because))?);
                    })*
                    _ => return Err(refuse(name, "there is no knob of this name".to_owned())),
                }
                Ok(())
            }

            /// Which knobs are pinned, in the order of [`Knobs::TABLE`].
            pub fn pinned(&self) -> Vec<bool> {
                vec![$(self.$field.is_some()),*]
            }
        }

        impl Knobs {
            /// The (JSON name, command-line flag, meaning) of every knob.
            pub const TABLE: &'static [(&'static str, &'static str, &'static str)] =
                &[$((stringify!($field), $flag, concat!($($doc),*))),*];

            /// These, but for what is pinned.
            #[must_use]
            pub const fn pinned(self, pins: Pins) -> Self {
                Self { $($field: match pins.$field {
                    Some(value) => value,
                    None => self.$field,
                }),* }
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
            /// Those of [`Pins::set`].
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), Error> {
                let mut pins = Pins::NONE;
                pins.set(name, text)?;
                *self = self.pinned(pins);
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
            pub(crate) const fn from_parts(types: Typed, knobs: Knobs) -> Self {
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
    };
}

knobs! {
    /// Tile of C that a block computes, and its depth along K.
    threadblock: Mnk, flag "--threadblock";
    /// Tile of C that a warp computes, and its share of the depth.
    warp: Mnk, flag "--warp";
    /// What one instruction computes; 1x1x1 on the CUDA cores, but for the warp-specialized main loop, where it is what a thread computes.
    instruction: Mnk, flag "--instruction";
    /// How tiles come from global to shared memory.
    mainloop: MainloopKind, flag "--mainloop";
    /// Tiles in shared memory at once.
    stages: u32, flag "--stages";
    /// Which block computes which tile.
    swizzle: SwizzleKind, flag "--swizzle";
    /// Elements of A in one access; A's address and leading dimension are multiples of it.
    align_a: u32, flag "--align-a";
    /// Elements of B in one access; B's address and leading dimension are multiples of it.
    align_b: u32, flag "--align-b";
    /// Elements of C and D in one access; their addresses and leading dimensions are multiples of it.
    align_c: u32, flag "--align-c";
    /// Where A's tile lies in shared memory.
    smem_a: SmemLayout, flag "--smem-a";
    /// Where B's tile lies in shared memory.
    smem_b: SmemLayout, flag "--smem-b";
    /// Blocks that a multiprocessor is to hold at once; bounds the registers of a thread.
    blocks_per_sm: u32, flag "--blocks-per-sm";
    /// Blocks of a cluster, along M and N: those in a line share what they copy. 1x1 but for the warp-specialized main loop.
    cluster: Mn, flag "--cluster";
    /// How warpgroups share tiles: all in one, or whole tiles in turns. Cooperative but for the warp-specialized main loop.
    schedule: ScheduleKind, flag "--schedule";
    /// How often sums of fp8, or of parts of f32, are promoted to f32: never, which is fast accumulation, or after each stage of 128 bytes.
    promotion: PromotionKind, flag "--promotion";
    /// How f32 is split for tensor cores: bf16x6 has all of its range, f16x3 a window of exponents; none but for f32 there.
    split: SplitKind, flag "--split", serde default;
    /// Where tensor cores of Hopper find A: in shared memory, or, of 8 or 32 bits and contiguous along M, in registers.
    source_a: SourceKind, flag "--source-a", serde default;
    /// Neighbours along M or N that a lane holds before the next lane's begin.
    interleave: InterleaveKind, flag "--interleave";
    /// K-groups of a tile in one turn of their loop; other main loops than the single-stage one have no such loop.
    unroll: UnrollKind, flag "--unroll";
    /// Whether a kernel may need more registers than its threads can have.
    spills: SpillKind, flag "--spills";
    /// What becomes of an accumulator on its way to D.
    epilogue: EpilogueDesc, flag "--epilogue";
}
