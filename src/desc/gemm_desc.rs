//! [`GemmDesc`]: a class of GEMMs, a frame, and the knobs of one kernel family.

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
    threadblock::{MainloopKind, SwizzleKind, pipeline::WARPS},
};

/// The complete description of a kernel, as a plain value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GemmDesc {
    /// Operands, output, types, and architecture, in the kernel's frame.
    pub class: Class,
    /// Relation of the kernel's GEMM to the user's GEMM.
    pub frame: Frame,
    /// Kernel family with its knobs.
    pub family: FamilyDesc,
}

/// A description whose family is known statically. The code of a family reads this type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Described<K> {
    /// Operands, output, types, and architecture, in the kernel's frame.
    pub class: Class,
    /// Relation of the kernel's GEMM to the user's GEMM.
    pub frame: Frame,
    /// Knobs of the family.
    pub knobs: K,
}

macro_rules! sum {
    ($d:tt $($(#[doc = $doc:literal])* $Family:ident $room:ident $Desc:ident $Knobs:ident;)*) => {
        /// A kernel family with its knobs.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum FamilyDesc {
            $($(#[doc = $doc])* $Family(knobs::$Knobs),)*
        }

        $(/// A kernel of this family, as the family's own code reads it.
        pub type $Desc = Described<knobs::$Knobs>;

        impl $Desc {
            /// Returns the description as the [`GemmDesc`] of all families.
            pub const fn sum(&self) -> GemmDesc {
                GemmDesc { class: self.class, frame: self.frame, family: FamilyDesc::$Family(self.knobs) }
            }
        }

        )*

        impl FamilyDesc {
            /// Returns the pins for which this family has no knob.
            pub const fn foreign(&self, pins: Pins) -> Pins {
                match self {
                    $(Self::$Family(_) => knobs::$Knobs::foreign(pins),)*
                }
            }

            /// Returns all knobs of the family as pins.
            pub const fn pins(&self) -> Pins {
                match self {
                    $(Self::$Family(knobs) => knobs.pins(),)*
                }
            }

            /// Returns the main loop, which moves tiles from global to shared memory.
            pub const fn mainloop(&self) -> MainloopKind {
                match (self.pins().mainloop, self) {
                    (Some(mainloop), _) => mainloop,
                    $((None, Self::$Family(_)) => knobs::$Knobs::MAINLOOPS[0],)*
                }
            }

            /// Returns these knobs with the pinned ones replaced.
            #[must_use]
            pub const fn pinned(self, pins: Pins) -> Self {
                match self {
                    $(Self::$Family(knobs) => Self::$Family(knobs.pinned(pins)),)*
                }
            }
        }

        /// Evaluates an expression over a knob that every family has.
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
    /// Returns the threadblock tile in elements: the tile of D that one CTA computes, and its depth
    /// along K.
    pub const fn threadblock(&self) -> Mnk {
        knob_of!(self, knobs => knobs.threadblock)
    }

    /// Returns the warp tile in elements: the tile of D that one warp computes, and its share of
    /// the depth. On Hopper's tensor cores it is the tile of a warpgroup.
    pub const fn warp(&self) -> Mnk {
        knob_of!(self, knobs => knobs.warp)
    }

    /// Returns the number of k-tiles that shared memory holds at once.
    pub const fn stages(&self) -> u32 {
        knob_of!(self, knobs => knobs.stages)
    }

    /// Returns the order in which CTAs compute the tiles of D.
    pub const fn swizzle(&self) -> SwizzleKind {
        knob_of!(self, knobs => knobs.swizzle)
    }

    /// Returns the number of split-K slices.
    pub const fn split_k(&self) -> u32 {
        knob_of!(self, knobs => knobs.split_k)
    }

    /// Returns the cluster shape in CTAs along M and N.
    pub const fn cluster(&self) -> Mn {
        match &self.family {
            FamilyDesc::WarpSpecialized(knobs) => knobs.cluster,
            _ => Mn::ONE,
        }
    }

    /// Returns the number of consumer warpgroups that share a tile of D. Each reduces the split-K
    /// partials of its own part of the tile. Without the cooperative schedule, the number is 1.
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

    /// Returns the description with K divided into `slices` split-K slices.
    #[must_use]
    pub const fn cut(self, slices: u32) -> Self {
        self.pinned(Pins { split_k: Some(slices), ..Pins::NONE })
    }

    /// Returns whether the kernel uses stream-K.
    pub const fn streams_k(&self) -> bool {
        matches!(self.decomposition(), DecompositionKind::StreamK)
    }

    /// Returns whether the kernel can produce partial accumulators, by split-K or stream-K.
    pub(crate) const fn has_slices(&self) -> bool {
        self.split_k() > 1 || self.streams_k()
    }

    /// Returns whether a second kernel reduces the split-K partials.
    pub const fn reduces_in_parallel(&self) -> bool {
        self.split_k() > 1 && matches!(self.decomposition(), DecompositionKind::SplitKParallel)
    }

    /// Returns how the k-tiles of all tiles of D are divided.
    pub const fn decomposition(&self) -> DecompositionKind {
        knob_of!(self, knobs => knobs.decomposition)
    }

    /// Returns whether the compiled module has a second kernel that can reduce split-K partials.
    pub(crate) const fn has_reduction(&self) -> bool {
        self.split_k() > 1 && !self.cuts_by_cluster() && self.may_reduce()
    }

    /// Returns whether the family has a reduction kernel. The warp-specialized SIMT kernel has
    /// none.
    pub(crate) const fn may_reduce(&self) -> bool {
        !(self.warp_specialized().is_some() && matches!(self.class.op, OpKind::Simt))
    }

    /// Returns whether the CTAs of one cluster compute the split-K slices of a tile.
    pub const fn cuts_by_cluster(&self) -> bool {
        matches!(&self.family, FamilyDesc::WarpSpecialized(knobs) if matches!(knobs.decomposition, DecompositionKind::SplitKCluster))
    }

    /// Returns the number of split-K slices and the decomposition.
    pub(crate) const fn cut_of(&self) -> Cut {
        (self.split_k(), self.decomposition())
    }

    /// Returns the description with another number of slices and another decomposition.
    #[must_use]
    pub(crate) const fn divided(self, (slices, decomposition): Cut) -> Self {
        self.pinned(Pins {
            split_k: Some(slices),
            decomposition: Some(decomposition),
            ..Pins::NONE
        })
    }

    /// Returns the description whose kernel is compiled for this one. Any split-K description
    /// becomes two slices under `splitk`, because the launch passes the number of slices and
    /// selects the reduction. With `splitkcluster`, both are compile-time constants.
    #[cfg(feature = "cuda")]
    #[must_use]
    pub(crate) const fn compiled(self) -> Self {
        match self.split_k() > 1 && !self.cuts_by_cluster() {
            true => self.divided((2, DecompositionKind::SplitK)),
            false => self,
        }
    }

    /// Returns the elements per access of A, of B, and of C and D.
    pub const fn alignments(&self) -> [u32; 3] {
        knob_of!(self, knobs => [knobs.align_a, knobs.align_b, knobs.align_c])
    }

    /// Returns all knobs and the epilogue as pins, in the kernel's frame.
    pub const fn pins(&self) -> Pins {
        let pins = self.family.pins();
        Pins {
            mainloop: Some(self.family.mainloop()),
            epilogue: Some(self.class.output.epilogue),
            ..pins
        }
    }

    /// Returns the description with the pinned knobs, and the epilogue if it is pinned, replaced.
    /// The pins are in the kernel's frame. The result is not checked.
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
        let family = self.family.pinned(self.family.pins().swapped());
        Self { class: self.class.swapped(), frame: self.frame.swapped(), family }
    }

    /// Returns the description of the kernel for a batch of `products` GEMMs. More than one GEMM
    /// needs a batched kernel.
    #[must_use]
    pub const fn for_batch(self, products: usize) -> Self {
        self.in_mode(GemmMode::for_batch(None, products))
    }

    /// Returns the description of the kernel for a grouped GEMM. `groups` is the axis of the user's
    /// D along which the groups lie.
    #[must_use]
    pub const fn for_groups(self, groups: Axis) -> Self {
        self.in_mode(GemmMode::for_batch(Some(groups.enter(self.frame)), 1))
    }

    /// Returns the description of the kernel for an array of `products` GEMMs.
    ///
    /// The mode is [`GemmMode::Gemm`] for one GEMM, and if each GEMM of an array is a separate
    /// launch.
    #[must_use]
    pub const fn for_array(self, products: usize) -> Self {
        let one = products < 2 || self.launches_each_gemm();
        self.in_mode(if one { GemmMode::Gemm } else { GemmMode::Array })
    }

    /// Returns whether each GEMM of an array is a separate launch: with stream-K, so that the bits
    /// of a GEMM do not depend on the others, and if a pass decomposes operands.
    pub const fn launches_each_gemm(&self) -> bool {
        self.streams_k()
            || matches!(self.warp_specialized(), Some(desc) if desc.reads_what_passes_make())
    }

    /// Returns whether the records of an array contain positions.
    pub(crate) const fn has_positions(&self) -> bool {
        self.class.mode.is_array() && self.matrices_by_tma() > 0
    }

    /// Returns the number of matrices of a GEMM that TMA moves: A and B, or all four.
    pub(crate) const fn matrices_by_tma(&self) -> usize {
        match self.warp_specialized() {
            Some(desc) if desc.by_tma() => 4,
            Some(_) => 2,
            None => 0,
        }
    }

    /// Returns whether the description is in `mode` and its accesses of A, B, and D have at most
    /// `accesses` elements.
    #[cfg(feature = "cuda")]
    pub(crate) fn is_of(&self, mode: GemmMode, accesses: [u32; 3]) -> bool {
        self.class.mode == self.mode_for(mode)
            && core::iter::zip(self.alignments(), accesses).all(|(has, most)| has <= most)
    }

    /// Returns the mode of the kernel for a call in `mode`, in the kernel's frame. A batched kernel
    /// also computes single GEMMs. Grouped and array kernels compute only their own mode.
    const fn mode_for(&self, mode: GemmMode) -> GemmMode {
        let apart = self.class.mode.groups().is_some() || self.class.mode.is_array();
        if mode.several() || apart { mode } else { self.class.mode }
    }

    /// Returns the description in `mode`, which is in the kernel's frame.
    pub(crate) const fn in_mode(mut self, mode: GemmMode) -> Self {
        self.class.mode = self.mode_for(mode);
        self
    }

    /// Returns the layouts in the user's frame.
    pub const fn orders(&self) -> Orders {
        let class = &self.class;
        Orders { a: class.a.layout, b: class.b.layout, c: self.frame.d_order() }.leave(self.frame)
    }

    /// Returns the element types in the user's frame.
    pub const fn user_types(&self) -> Combined {
        self.class.combined().leave(self.frame)
    }

    /// Returns the knobs in the user's frame.
    pub const fn user_pins(&self) -> Pins {
        self.pins().leave(self.frame)
    }
}

framed!(GemmDesc);
