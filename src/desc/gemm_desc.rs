//! The one value in the middle: a class of products, and a family's knobs.

use super::{
    class::{Class, GemmMode},
    kinds::{Cut, DecompositionKind},
    knobs::{self, Pins, families},
};
use crate::{
    arch::OpKind,
    layout::Orders,
    numeric::Combined,
    operand::{Axis, Frame, framed},
    schedule::ScheduleKind,
    shape::{Mn, Mnk, at_least_one},
    threadblock::{
        MOST_MAPPED, MOST_PRODUCTS, MOST_PRODUCTS_AT_ALL, MainloopKind, SwizzleKind,
        pipeline::WARPS,
    },
};

/// Everything a kernel has to know, as one plain value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GemmDesc {
    /// What the product is, in the kernel's frame.
    pub class: Class,
    /// Whose A and B the kernel has.
    pub frame: Frame,
    /// How it is computed.
    pub family: FamilyDesc,
}

/// A description whose family is known: what the family's own code reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Described<K> {
    /// What the product is, in the kernel's frame.
    pub class: Class,
    /// Whose A and B the kernel has.
    pub frame: Frame,
    /// The family's knobs.
    pub knobs: K,
}

macro_rules! sum {
    ($d:tt $($(#[doc = $doc:literal])* $Family:ident $room:ident $Desc:ident $Knobs:ident;)*) => {
        /// A family of kernels, and its knobs.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum FamilyDesc {
            $($(#[doc = $doc])* $Family(knobs::$Knobs),)*
        }

        $(/// A kernel, as its family's own code reads it.
        pub type $Desc = Described<knobs::$Knobs>;

        impl $Desc {
            /// As one of all families'.
            pub const fn sum(&self) -> GemmDesc {
                GemmDesc { class: self.class, frame: self.frame, family: FamilyDesc::$Family(self.knobs) }
            }
        }

        )*

        impl FamilyDesc {
            /// The pins that this family has no knobs for.
            pub const fn foreign(&self, pins: Pins) -> Pins {
                match self {
                    $(Self::$Family(_) => knobs::$Knobs::foreign(pins),)*
                }
            }

            /// The family of a main loop, with knobs all of which are pinned.
            #[cfg(feature = "serde")]
            pub(super) fn all(mainloop: MainloopKind, pins: Pins) -> Option<Self> {
                $(if let (true, Some(knobs)) = (mainloop.is_among(knobs::$Knobs::MAINLOOPS), knobs::$Knobs::all(pins)) {
                    return Some(Self::$Family(knobs));
                })*
                None
            }

            /// All its knobs, pinned.
            pub const fn pins(&self) -> Pins {
                match self {
                    $(Self::$Family(knobs) => knobs.pins(),)*
                }
            }

            /// How tiles come from global to shared memory.
            pub const fn mainloop(&self) -> MainloopKind {
                match (self.pins().mainloop, self) {
                    (Some(mainloop), _) => mainloop,
                    $((None, Self::$Family(_)) => knobs::$Knobs::MAINLOOPS[0],)*
                }
            }

            /// These knobs, but for what is pinned.
            #[must_use]
            pub const fn pinned(self, pins: Pins) -> Self {
                match self {
                    $(Self::$Family(knobs) => Self::$Family(knobs.pinned(pins)),)*
                }
            }
        }

        /// A knob that every family has.
        macro_rules! knob_of {
            ($d desc:ident, $d knobs:ident => $d value:expr) => {
                match $d desc.family {
                    $(FamilyDesc::$Family($d knobs) => $d value,)*
                }
            };
        }
    };
}
families!($ sum);

impl GemmDesc {
    /// Tile of C that a block computes, and its depth along K.
    pub const fn threadblock(&self) -> Mnk {
        knob_of!(self, knobs => knobs.threadblock)
    }

    /// Tile of C that a warp computes, and its share of the depth; on Hopper's tensor cores, that
    /// of a warpgroup.
    pub const fn warp(&self) -> Mnk {
        knob_of!(self, knobs => knobs.warp)
    }

    /// Tiles in shared memory at once.
    pub const fn stages(&self) -> u32 {
        knob_of!(self, knobs => knobs.stages)
    }

    /// Which block computes which tile.
    pub const fn swizzle(&self) -> SwizzleKind {
        knob_of!(self, knobs => knobs.swizzle)
    }

    /// Parts into which K is cut.
    pub const fn split_k(&self) -> u32 {
        knob_of!(self, knobs => knobs.split_k)
    }

    /// Blocks of a cluster.
    pub const fn cluster(&self) -> Mn {
        match &self.family {
            FamilyDesc::WarpSpecialized(knobs) => knobs.cluster,
            _ => Mn::ONE,
        }
    }

    /// Groups of threads that share a tile of D and add the parts of K of their own shares:
    /// consumers, where those do not take whole tiles.
    pub(crate) const fn sharing(&self) -> u32 {
        match self.family.pins().schedule {
            Some(ScheduleKind::Cooperative) => {
                let (tile, warp) = (self.threadblock(), self.warp());
                let groups =
                    (tile.m / at_least_one(warp.m)).saturating_mul(tile.n / at_least_one(warp.n));
                if matches!(self.class.op, OpKind::Simt) { groups / WARPS } else { groups }
            }
            _ => 1,
        }
    }

    /// The same with K in so many parts, where its family cuts K.
    #[must_use]
    pub const fn cut(self, parts: u32) -> Self {
        self.pinned(Pins { split_k: Some(parts), ..Pins::NONE })
    }

    /// Whether the k-tiles of what is left of whole waves are streamed.
    pub const fn streams_k(&self) -> bool {
        matches!(self.decomposition(), DecompositionKind::StreamK)
    }

    /// Whether there may be parts of K, whose accumulators are added.
    pub(crate) const fn has_parts(&self) -> bool {
        self.split_k() > 1 || self.streams_k()
    }

    /// Whether there are parts of K that a second kernel adds.
    pub const fn reduces_in_parallel(&self) -> bool {
        self.split_k() > 1 && matches!(self.decomposition(), DecompositionKind::SplitKParallel)
    }

    /// How the k-tiles of all tiles of D are divided.
    pub const fn decomposition(&self) -> DecompositionKind {
        knob_of!(self, knobs => knobs.decomposition)
    }

    /// Whether the kernel that is compiled has a second one with it that can add parts of K.
    pub(crate) const fn has_reduction(&self) -> bool {
        self.split_k() > 1 && !self.cuts_by_cluster() && self.may_reduce()
    }

    /// Whether its family has such a second kernel: not that whose consumers' threads multiply.
    pub(crate) const fn may_reduce(&self) -> bool {
        !(self.warp_specialized().is_some() && matches!(self.class.op, OpKind::Simt))
    }

    /// Whether the parts of K of a tile are those of the blocks of one cluster.
    pub const fn cuts_by_cluster(&self) -> bool {
        matches!(&self.family, FamilyDesc::WarpSpecialized(knobs) if matches!(knobs.decomposition, DecompositionKind::SplitKCluster))
    }

    /// How K is cut.
    pub(crate) const fn cut_of(&self) -> Cut {
        (self.split_k(), self.decomposition())
    }

    /// The same with another cut.
    #[must_use]
    pub(crate) const fn divided(self, (parts, decomposition): Cut) -> Self {
        self.pinned(Pins { split_k: Some(parts), decomposition: Some(decomposition), ..Pins::NONE })
    }

    /// The description that is compiled for this one: K is in two parts, if in several. How many
    /// there are is the launch's, and which kernel adds them, but of a cluster's.
    #[cfg(feature = "cuda")]
    #[must_use]
    pub(crate) const fn compiled(self) -> Self {
        match self.split_k() > 1 && !self.cuts_by_cluster() {
            true => self.divided((2, DecompositionKind::SplitK)),
            false => self,
        }
    }

    /// Elements in one access, of A, of B, and of C and D.
    pub const fn alignments(&self) -> [u32; 3] {
        knob_of!(self, knobs => [knobs.align_a, knobs.align_b, knobs.align_c])
    }

    /// All its knobs, pinned: the kernel's.
    pub const fn pins(&self) -> Pins {
        let pins = self.family.pins();
        Pins {
            mainloop: Some(self.family.mainloop()),
            epilogue: Some(self.class.output.epilogue),
            ..pins
        }
    }

    /// The description with some knobs of its family changed, and its epilogue where that is
    /// pinned; the kernel's, not checked yet.
    #[must_use]
    pub const fn pinned(self, pins: Pins) -> Self {
        let family = self.family.pinned(pins);
        let mut class = self.class;
        if let Some(epilogue) = pins.epilogue {
            class.output.epilogue = epilogue;
        }
        Self { class, frame: self.frame, family }
    }

    /// The description of the user's GEMM with A and B swapped. The kernel's D has the other order.
    #[must_use]
    pub(crate) const fn with_swapped_operands(self) -> Self {
        let mut other = self.swapped();
        other.frame.column_major_d = !self.frame.column_major_d;
        other
    }

    /// The description with A and B swapped: layouts are transposed, and knobs stay with their
    /// operands. The kernel's D keeps its order, so the user's D has the other order.
    #[must_use]
    pub const fn swapped(self) -> Self {
        let pins = self.pins().swapped();
        Self { class: self.class.swapped(), frame: self.frame.swapped(), ..self }.pinned(pins)
    }

    /// The description of the kernel for so many products: of more than one, in one launch.
    #[must_use]
    pub const fn for_batch(self, products: usize) -> Self {
        self.in_mode(GemmMode::of(None, products))
    }

    /// The description of the kernel for products of groups along an extent of the user's D.
    #[must_use]
    pub const fn for_groups(self, groups: Axis) -> Self {
        self.in_mode(GemmMode::of(Some(groups.enter(self.frame)), 1))
    }

    /// The description of the kernel for an array of so many products: of more than one, where a
    /// launch takes several. Where few parameters do not hold the addresses, or the maps, of all of
    /// them, that is the kernel of longer ones, or whose maps lie in a workspace, unless the
    /// description is of one that is not.
    #[must_use]
    pub const fn for_array(self, products: usize) -> Self {
        let of_parameters = self.in_mode(GemmMode::Array).products_of_launch();
        let many = products > of_parameters as usize && !matches!(self.class.mode, GemmMode::Array);
        self.in_mode(match products {
            0 | 1 => GemmMode::Gemm,
            _ if of_parameters == 1 => GemmMode::Gemm,
            _ if many && of_parameters == MOST_MAPPED => GemmMode::MappedArray,
            _ if many => GemmMode::LongArray,
            _ => GemmMode::Array,
        })
    }

    /// Products of an array that a launch takes: as many as its parameters hold the addresses of,
    /// and, of a kernel that TMA feeds, the maps of; where those lie in memory, as many as there
    /// are; one, where a pass makes what the kernel reads.
    pub const fn products_of_launch(&self) -> u32 {
        match self.warp_specialized() {
            None if matches!(self.class.mode, GemmMode::LongArray) => MOST_PRODUCTS_AT_ALL,
            None => MOST_PRODUCTS,
            Some(desc) if desc.reads_what_passes_make() => 1,
            Some(_) if self.class.mode.is_mapped() => i32::MAX as u32,
            Some(_) => MOST_MAPPED,
        }
    }

    /// Whether it is the description in a mode, with accesses of at most so many elements of A, B
    /// and D.
    #[cfg(feature = "cuda")]
    pub(crate) fn is_of(&self, mode: GemmMode, accesses: [u32; 3]) -> bool {
        self.class.mode == self.mode_for(mode)
            && core::iter::zip(self.alignments(), accesses).all(|(has, most)| has <= most)
    }

    /// The mode of the kernel for a call of a mode in the kernel's frame: one of batches computes
    /// single products, too, and one of groups or arrays nothing else.
    const fn mode_for(&self, mode: GemmMode) -> GemmMode {
        let apart = self.class.mode.groups().is_some() || self.class.mode.is_array();
        if mode.several() || apart { mode } else { self.class.mode }
    }

    /// The description in a mode of the kernel's frame.
    pub(crate) const fn in_mode(mut self, mode: GemmMode) -> Self {
        self.class.mode = self.mode_for(mode);
        self
    }

    /// The layouts as the user has them.
    pub const fn orders(&self) -> Orders {
        let class = &self.class;
        Orders { a: class.a.layout, b: class.b.layout, c: self.frame.d_order() }.leave(self.frame)
    }

    /// The element types as the user has them.
    pub const fn user_types(&self) -> Combined {
        self.class.combined().leave(self.frame)
    }

    /// The knobs as the user has them.
    pub const fn user_pins(&self) -> Pins {
        self.pins().leave(self.frame)
    }
}

framed!(GemmDesc);
