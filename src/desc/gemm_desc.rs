//! The one value in the middle: a class of products, and a family's knobs.

use super::{
    class::{Class, Frame},
    knobs::{Pins, SimtKnobs, WarpSpecializedKnobs},
};
use crate::{
    layout::Orders,
    numeric::Combined,
    refusal::{Refusal, Word},
    shape::Mnk,
    threadblock::{MainloopKind, SwizzleKind},
};

/// A family of kernels, and its knobs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FamilyDesc {
    /// The CUDA cores, all threads in one schedule.
    Simt(SimtKnobs),
    /// Hopper: a producer and consumers.
    WarpSpecialized(WarpSpecializedKnobs),
}

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

/// A kernel on the CUDA cores, as its own code reads it.
pub type SimtDesc = Described<SimtKnobs>;

/// A kernel of Hopper's, as its own code reads it.
pub type WarpSpecializedDesc = Described<WarpSpecializedKnobs>;

macro_rules! of_every_family {
    ($self:ident, $knobs:ident => $value:expr) => {
        match $self.family {
            FamilyDesc::Simt($knobs) => $value,
            FamilyDesc::WarpSpecialized($knobs) => $value,
        }
    };
}

impl<K: Copy> Described<K> {
    /// A class, seen from a frame, and knobs.
    pub(crate) const fn of((class, frame): (Class, Frame), knobs: K) -> Self {
        Self { class, frame, knobs }
    }
}

impl FamilyDesc {
    /// The pins that this family has no knobs for.
    pub const fn foreign(&self, pins: Pins) -> Pins {
        match (self, pins.mainloop) {
            // The main loop is what makes a family, and a knob of one of them.
            (Self::Simt(_), Some(MainloopKind::WarpSpecialized)) => Pins { mainloop: pins.mainloop, ..SimtKnobs::foreign(pins) },
            (Self::Simt(_), _) => SimtKnobs::foreign(pins),
            (Self::WarpSpecialized(_), Some(MainloopKind::WarpSpecialized)) => {
                WarpSpecializedKnobs::foreign(Pins { mainloop: None, ..pins })
            }
            (Self::WarpSpecialized(_), _) => WarpSpecializedKnobs::foreign(pins),
        }
    }

    /// All its knobs, pinned.
    pub const fn pins(&self) -> Pins {
        match self {
            Self::Simt(knobs) => knobs.pins(),
            Self::WarpSpecialized(knobs) => knobs.pins(),
        }
    }

    /// How tiles come from global to shared memory.
    pub const fn mainloop(&self) -> MainloopKind {
        match self {
            Self::Simt(knobs) => knobs.mainloop,
            Self::WarpSpecialized(_) => MainloopKind::WarpSpecialized,
        }
    }

    /// These knobs, but for what is pinned.
    #[must_use]
    pub const fn pinned(self, pins: Pins) -> Self {
        match self {
            Self::Simt(knobs) => Self::Simt(knobs.pinned(pins)),
            Self::WarpSpecialized(knobs) => Self::WarpSpecialized(knobs.pinned(pins)),
        }
    }
}

macro_rules! summed {
    ($($Desc:ident $Family:ident;)*) => {
        $(impl $Desc {
            /// As one of all families'.
            pub const fn sum(&self) -> GemmDesc {
                GemmDesc { class: self.class, frame: self.frame, family: FamilyDesc::$Family(self.knobs) }
            }
        }

        impl From<$Desc> for GemmDesc {
            fn from(desc: $Desc) -> Self {
                desc.sum()
            }
        })*
    };
}

summed! {
    SimtDesc Simt;
    WarpSpecializedDesc WarpSpecialized;
}

impl GemmDesc {
    /// The description, where its family is the one of the CUDA cores.
    pub const fn simt(&self) -> Option<SimtDesc> {
        match self.family {
            FamilyDesc::Simt(knobs) => Some(Described { class: self.class, frame: self.frame, knobs }),
            FamilyDesc::WarpSpecialized(_) => None,
        }
    }

    /// The description, where its threads all follow one schedule.
    ///
    /// # Errors
    ///
    /// [`Refusal::HasRoles`] where they do not.
    pub fn as_simt(&self) -> Result<SimtDesc, Refusal> {
        self.simt().ok_or(Refusal::HasRoles { mainloop: Word(self.family.mainloop().name()) })
    }

    /// The description, where its family is Hopper's.
    pub const fn warp_specialized(&self) -> Option<WarpSpecializedDesc> {
        match self.family {
            FamilyDesc::WarpSpecialized(knobs) => Some(Described { class: self.class, frame: self.frame, knobs }),
            FamilyDesc::Simt(_) => None,
        }
    }

    /// Tile of C that a block computes, and its depth along K.
    pub const fn threadblock(&self) -> Mnk {
        of_every_family!(self, knobs => knobs.threadblock)
    }

    /// Tile of C that a warp computes, and its share of the depth; on Hopper's tensor cores, that of a warpgroup.
    pub const fn warp(&self) -> Mnk {
        of_every_family!(self, knobs => knobs.warp)
    }

    /// Tiles in shared memory at once.
    pub const fn stages(&self) -> u32 {
        of_every_family!(self, knobs => knobs.stages)
    }

    /// Which block computes which tile.
    pub const fn swizzle(&self) -> SwizzleKind {
        of_every_family!(self, knobs => knobs.swizzle)
    }

    /// Elements in one access, of A, of B, and of C and D.
    pub const fn alignments(&self) -> [u32; 3] {
        of_every_family!(self, knobs => [knobs.align_a, knobs.align_b, knobs.align_c])
    }

    /// All its knobs, pinned: the kernel's.
    pub const fn pins(&self) -> Pins {
        let pins = self.family.pins();
        Pins { mainloop: Some(self.family.mainloop()), epilogue: Some(self.class.output.epilogue), ..pins }
    }

    /// The description with some knobs of its family changed, and its epilogue where that is pinned; the kernel's, not checked yet.
    #[must_use]
    pub const fn pinned(self, pins: Pins) -> Self {
        let family = self.family.pinned(pins);
        let mut class = self.class;
        if let Some(epilogue) = pins.epilogue {
            class.output.epilogue = epilogue;
        }
        Self { class, frame: self.frame, family }
    }

    /// The same kernel with A and B in each other's place: layouts transposed, each operand's knobs with it. D keeps the kernel's order, and
    /// so has the user's other one.
    #[must_use]
    pub const fn exchange(self) -> Self {
        let pins = self.pins().exchange();
        Self { class: self.class.exchange(), frame: self.frame.exchange(), ..self }.pinned(pins)
    }

    /// The layouts as the user has them, before A and B changed places.
    pub const fn orders(&self) -> Orders {
        let class = &self.class;
        let orders = Orders { a: class.a.layout, b: class.b.layout, c: class.output.layout };
        if self.frame.is_exchanged() {
            Orders { a: orders.b.transposed(), b: orders.a.transposed(), c: orders.c.transposed() }
        } else {
            orders
        }
    }

    /// The element types as the user has them.
    pub const fn user_types(&self) -> Combined {
        if self.frame.is_exchanged() { self.class.exchange().combined() } else { self.class.combined() }
    }

    /// The knobs as the user has them.
    pub const fn user_pins(&self) -> Pins {
        if self.frame.is_exchanged() { self.pins().exchange() } else { self.pins() }
    }
}
