//! From types and problems to descriptions: the rows of defaults, what completes pins, what a
//! problem chooses; and from a description to its family's room, which answers for it.
//!
//! `families!` is the one list. Each room has `ROWS`, the axes that complete pins, the rule book,
//! the facts that choose among kernels, the plan, and the explanation.

mod check;
mod check_pins;
mod choose;
pub mod default_gemm_configuration;
mod explain;
mod extents;
mod features;
mod lowering;
mod one_schedule;
mod request;
mod resolve;
mod terms;
mod units;

pub use request::{Choice, Origin, ProblemSize, Request, Resolved};
pub(crate) use resolve::Completions;
pub use terms::Terms;
pub use units::Target;
pub(crate) use units::TypedRequest;

use self::{default_gemm_configuration::Row, features::Features};
use crate::{
    arch::Machine,
    call::{OperandNeed, Problem, Routes, fitting},
    desc::{Class, Described, FamilyDesc, GemmDesc, Pins, families},
    plan::{Geometry, HostProgram, Plan, Program},
    refusal::{Refusal, Word},
    threadblock::MOST_STREAMS,
};
use std::sync::Arc;

/// What is asked of a description's own family, whose room answers.
macro_rules! rooms {
    ($d:tt $($(#[doc = $doc:literal])* $Family:ident $room:ident $Desc:ident $Knobs:ident;)*) => {
        $(#[doc(hidden)]
        pub mod $room;)*

        /// The rows of every family.
        const ALL_ROWS: &[&[Row]] = &[$($room::ROWS),*];

        /// The facts that follow from a description, by its family. As JSON, the facts themselves.
        #[derive(Clone, PartialEq, Eq, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
        pub enum Explanation {
            $($(#[doc = $doc])* $Family($room::Explanation),)*
        }

        impl Explanation {
            /// The order of steps, a line for each section.
            pub fn schedule(&self) -> &[String] {
                match self {
                    $(Self::$Family(facts) => &facts.schedule,)*
                }
            }
        }

        /// What a description's own family answers.
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
            /// What follows from a description.
            ///
            /// # Errors
            /// Those of [`check`](Self::check): of what is refused nothing follows.
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
            /// How many values each axis has.
            const fn values(&self) -> [u32; resolve::AXES] {
                match self {
                    $(Self::$Family(_) => $room::VALUES,)*
                }
            }

            /// The knobs at a place along the axes, of which these are the row's with what is
            /// pinned; `None` where there are none.
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
families!($ rooms);

impl GemmDesc {
    /// What its family's rule book says.
    const fn check_family(&self, machine: &Machine) -> Result<(), Refusal> {
        asked!(self, desc => desc.check_on(machine))
    }

    /// Lines of D that tiles of groups begin at multiples of.
    #[doc(hidden)]
    pub const fn group_step(&self) -> u32 {
        self.geometry().group_step
    }

    /// What a launch has to know of it.
    #[doc(hidden)]
    pub const fn geometry(&self) -> Geometry {
        asked!(self, desc => desc.geometry())
    }

    /// What a cost model has to know of it.
    const fn features(&self) -> Features {
        asked!(self, desc => desc.features())
    }

    /// The most clusters that stream: what a workspace has room for, which is counted before the
    /// device is known, and before a compiler has said how many registers a thread takes. As many
    /// as a multiprocessor should hold by what the description says, on each multiprocessor that
    /// there may be.
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

    /// What its family makes of it, which is kept with its kernel.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    #[doc(hidden)]
    pub fn plan(&self) -> Result<Arc<dyn Plan>, Refusal> {
        self.check()?;
        asked!(self, desc => desc.planned())
    }

    /// What the host runs, where its threads all follow one schedule.
    ///
    /// # Errors
    /// Those of [`check`](Self::check); [`Refusal::IsWarpSpecialized`] where they do not.
    #[doc(hidden)]
    pub fn one_schedule(&self) -> Result<Program, Refusal> {
        match self.plan()?.program()? {
            HostProgram::OneSchedule(program) => Ok(*program),
            HostProgram::Roles(_) => {
                Err(Refusal::IsWarpSpecialized { mainloop: Word(self.family.mainloop().name()) })
            }
        }
    }

    /// Threads of a block; of a description that is refused, any number.
    pub const fn threads(&self) -> u32 {
        self.geometry().threads
    }

    /// Shared memory of a block, in bytes; of a description that is refused, any number.
    pub const fn smem_bytes(&self) -> u32 {
        self.geometry().shared_bytes
    }

    /// How the operands of a problem, the user's, reach its kernel. Where addresses are not known,
    /// they are multiples of 16 bytes, as allocations begin.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    #[doc(hidden)]
    pub fn routes(&self, problem: &Problem) -> Result<Routes, Refusal> {
        self.check()?;
        Ok(Routes::of(self, &problem.enter_unchecked(self)).leave(self.frame))
    }

    /// Bytes of the workspace that the products of an array take, one after the other, or a problem
    /// alone: the user's, whose kernel reads them at their addresses.
    ///
    /// # Errors
    /// Those of [`check`](Self::check), and why the description cannot compute one of them.
    #[doc(hidden)]
    pub fn workspace_of(&self, problems: &[Problem]) -> Result<u64, Refusal> {
        let Some(first) = problems.first() else { return Ok(0) };
        let desc = if problems.len() > 1 { self.for_array(problems.len()) } else { *self }
            .for_scalars(&first.scalars);
        desc.check()?;
        let seen =
            problems.iter().map(|problem| problem.enter(&desc)).collect::<Result<Vec<_>, _>>()?;
        Ok(Routes::of_each(&desc, &seen).iter().map(Routes::workspace_bytes).max().unwrap_or(0))
    }

    /// The description that a problem, the user's, runs with: accesses are as wide as its leading
    /// dimensions, extents and, where they are known, addresses allow.
    ///
    /// # Errors
    /// Why this description cannot compute the problem.
    #[doc(hidden)]
    pub fn fitted(&self, problem: &Problem) -> Result<GemmDesc, Refusal> {
        self.check()?;
        let seen = problem.enter(self)?;
        Ok(fitting(self, &Routes::of(self, &seen).problem(self, &seen, 0)))
    }
}
