//! From types and problems to descriptions: the rows of defaults, what completes pins, what a problem chooses.

mod check;
pub mod default_gemm_configuration;
mod extents;
mod request;
mod resolve;

pub use request::{Choice, Origin, Request, Resolved};
pub(crate) use resolve::{Completions, resolve};

use crate::{
    arch::Machine,
    desc::{Class, Described, FamilyDesc, GemmDesc, Pins},
    refusal::Refusal,
};

/// What is asked of a description's own family, whose room answers.
macro_rules! families {
    ($($Family:ident $room:ident;)*) => {
        $(mod $room;)*

        impl GemmDesc {
            /// What its family's rule book says.
            const fn check_family(&self, machine: &Machine) -> Result<(), Refusal> {
                match self.family {
                    $(FamilyDesc::$Family(knobs) => Described::of((self.class, self.frame), knobs).check_on(machine),)*
                }
            }
        }

        impl FamilyDesc {
            /// How many values each axis has.
            const fn values(&self) -> [u32; resolve::AXES] {
                match self {
                    $(Self::$Family(_) => $room::VALUES,)*
                }
            }

            /// The knobs at a place along the axes, of which these are the row's with what is pinned; `None` where there are none.
            const fn along_axes(&self, class: &Class, pins: &Pins, place: [u32; resolve::AXES]) -> Option<Self> {
                match self {
                    $(Self::$Family(knobs) => match $room::along_axes(class, *knobs, pins, place) {
                        Some(knobs) => Some(Self::$Family(knobs)),
                        None => None,
                    },)*
                }
            }

            /// The axis along which the next knobs may not be refused so.
            const fn axis_against(&self, class: &Class, pins: &Pins, refusal: &Refusal) -> usize {
                match self {
                    $(Self::$Family(_) => $room::axis_against(class, pins, refusal),)*
                }
            }
        }
    };
}

families! {
    Simt simt;
    WarpSpecialized warp_specialized;
}
