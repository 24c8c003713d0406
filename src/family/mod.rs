//! Kernel families: from types and problems to descriptions, and from a description to its kernel.
//!
//! This module holds the table of defaults, the resolver that completes pins, and the choice among
//! candidates for a problem. `families!` is the only list of families. The module of a family has
//! its default table `ROWS`, the axes that complete pins, and its rules. It also has the facts for
//! the cost model, the plan, and the explanation.

mod check;
mod check_pins;
mod choose;
pub mod default_gemm_configuration;
mod explain;
mod extents;
mod features;
mod lowering;
mod one_schedule;
mod predicted_time;
mod request;
mod resolve;
mod units;

pub use predicted_time::PredictedTime;
pub use request::{Choice, Origin, ProblemSize, Request, Resolved};
pub(crate) use resolve::Completions;
pub use units::Target;
pub(crate) use units::TypedRequest;

use self::{default_gemm_configuration::Row, features::Features};
use crate::{
    arch::Machine,
    call::{OperandNeed, Problem, Routes, fitting},
    desc::{Class, Described, FamilyDesc, GemmDesc, Pins, families},
    plan::{Geometry, HostProgram, Plan, Program},
    refusal::Refusal,
    threadblock::MOST_STREAMS,
};
use std::sync::Arc;

/// Declares the modules of the families, and dispatches from a description to its family.
macro_rules! rooms {
    ($d:tt $($(#[doc = $doc:literal])* $Family:ident $room:ident $Desc:ident $Knobs:ident;)*) => {
        $(#[doc(hidden)]
        pub mod $room;)*

        /// The default tables of all families.
        const ALL_ROWS: &[&[Row]] = &[$($room::ROWS),*];

        /// The derived facts of a description, by family. The JSON form contains only the facts.
        #[derive(Clone, PartialEq, Eq, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
        pub enum Explanation {
            $($(#[doc = $doc])* $Family($room::Explanation),)*
        }

        impl Explanation {
            /// Returns the schedule, one line per section.
            pub fn schedule(&self) -> &[String] {
                match self {
                    $(Self::$Family(facts) => &facts.schedule,)*
                }
            }
        }

        /// Evaluates an expression over the description of the family.
        macro_rules! asked {
            ($d desc:ident, $d room:ident => $d answer:expr) => {
                match $d desc.family {
                    $(FamilyDesc::$Family(knobs) => {
                        let $d room = Described { class: $d desc.class, frame: $d desc.frame, knobs };
                        $d answer
                    })*
                }
            };
        }

        impl GemmDesc {
            /// Returns the derived facts of the description.
            ///
            /// # Errors
            /// The errors of [`check`](Self::check).
            pub fn explain(&self) -> Result<Explanation, Refusal> {
                self.check()?;
                match self.family {
                    $(FamilyDesc::$Family(knobs) => {
                        Described { class: self.class, frame: self.frame, knobs }.explained().map(Explanation::$Family)
                    })*
                }
            }
        }

        impl FamilyDesc {
            /// Returns the number of values of each axis.
            const fn values(&self) -> [u32; resolve::AXES] {
                match self {
                    $(Self::$Family(_) => $room::VALUES,)*
                }
            }

            /// Returns the knobs at a place along the axes, or `None` if the place has none. `self`
            /// holds the row's knobs with the pins applied.
            const fn along_axes(&self, class: &Class, pins: &Pins, place: [u32; resolve::AXES]) -> Option<Self> {
                match self {
                    $(Self::$Family(knobs) => match $room::along_axes(class, *knobs, pins, place) {
                        Some(knobs) => Some(Self::$Family(knobs)),
                        None => None,
                    },)*
                }
            }

            /// Returns the axis along which the next knobs may avoid the refusal.
            const fn axis_against(&self, class: &Class, pins: &Pins, refusal: &Refusal) -> usize {
                match self {
                    $(Self::$Family(_) => $room::axis_against(class, pins, refusal),)*
                }
            }
        }
    };
}
families!($ rooms);

impl GemmDesc {
    /// Checks the description by the rules of its family.
    const fn check_family(&self, machine: &Machine) -> Result<(), Refusal> {
        asked!(self, desc => desc.check_on(machine))
    }

    /// Returns the alignment of the first tile of a group, in rows or columns of D.
    #[doc(hidden)]
    pub const fn group_step(&self) -> u32 {
        self.geometry().group_step
    }

    /// Returns the properties that determine the launch.
    #[doc(hidden)]
    pub const fn geometry(&self) -> Geometry {
        asked!(self, desc => desc.geometry())
    }

    /// Returns the facts for the cost model.
    const fn features(&self) -> Features {
        asked!(self, desc => desc.features())
    }

    /// Returns the maximum number of stream-K clusters, which bounds the workspace.
    ///
    /// The workspace size is computed before the device and the registers per thread are known. The
    /// bound therefore assumes the largest device. On each multiprocessor, it assumes the estimated
    /// or the pinned number of CTAs, whichever is larger.
    #[doc(hidden)]
    pub const fn most_streams(&self) -> u32 {
        let held = self.features().resident(&self.class.arch.machine());
        let asked = match self.family.pins().blocks_per_sm {
            Some(blocks) => blocks,
            None => 1,
        };
        MOST_STREAMS.saturating_mul(if held > asked { held } else { asked })
    }

    /// Returns the requirements under which the kernel reads A and B in place.
    pub(crate) fn needs(&self) -> [OperandNeed; 2] {
        asked!(self, desc => desc.needs())
    }

    /// Returns the plan, which is cached with the kernel.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check).
    #[doc(hidden)]
    pub fn plan(&self) -> Result<Arc<dyn Plan>, Refusal> {
        self.check()?;
        asked!(self, desc => desc.planned())
    }

    /// Returns the host program of a kernel whose threads all follow one schedule.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check), and [`Refusal`] for another kernel.
    #[doc(hidden)]
    pub fn one_schedule(&self) -> Result<Program, Refusal> {
        match self.plan()?.program()? {
            HostProgram::OneSchedule(program) => Ok(*program),
            HostProgram::Roles(_) => Err(Refusal::warp_specialized(self.family.mainloop().name())),
        }
    }

    /// Returns the threads per CTA. The number is arbitrary for an invalid description.
    pub const fn threads(&self) -> u32 {
        self.geometry().threads
    }

    /// Returns the shared memory per CTA in bytes. The number is arbitrary for an invalid
    /// description.
    pub const fn smem_bytes(&self) -> u32 {
        self.geometry().shared_bytes
    }

    /// Returns the routes of the operands to the kernel, for a problem in the user's frame. Unknown
    /// addresses count as multiples of 16 bytes, as in allocations.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check).
    #[doc(hidden)]
    pub fn routes(&self, problem: &Problem) -> Result<Routes, Refusal> {
        self.check()?;
        Ok(Routes::new(self, &problem.enter_unchecked(self)).leave(self.frame))
    }

    /// Returns the bytes of workspace for one problem, or for the GEMMs of an array, one after the
    /// other. The problems are in the user's frame, and kernels read them in place if possible.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check), and the refusal of a problem that the description
    /// cannot compute.
    #[doc(hidden)]
    pub fn workspace_of(&self, problems: &[Problem]) -> Result<u64, Refusal> {
        let Some(first) = problems.first() else { return Ok(0) };
        let desc = if problems.len() > 1 { self.for_array(problems.len()) } else { *self }
            .for_scalars(&first.scalars);
        desc.check()?;
        let seen =
            problems.iter().map(|problem| problem.enter(&desc)).collect::<Result<Vec<_>, _>>()?;
        Ok(Routes::for_array(&desc, &seen).iter().map(Routes::workspace_bytes).max().unwrap_or(0))
    }

    /// Returns the description with accesses as wide as a problem in the user's frame allows.
    /// Leading dimensions, extents, and known addresses limit the accesses.
    ///
    /// # Errors
    /// The refusal of a problem that the description cannot compute.
    #[doc(hidden)]
    pub fn fitted(&self, problem: &Problem) -> Result<GemmDesc, Refusal> {
        self.check()?;
        let seen = problem.enter(self)?;
        Ok(fitting(self, &Routes::new(self, &seen).problem(self, &seen, 0)))
    }
}
