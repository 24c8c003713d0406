//! Schedules: the order of a kernel's steps, as a value.
//!
//! Every copy, barrier, wait, and multiplication of a main loop is a step of a [`Schedule`]. The
//! CUDA executor writes the schedule to the generated header, and `kernels/schedule.cuh` and
//! `kernels/schedule/roles.cuh` unroll it. No other file in `kernels/` synchronizes. The machine of
//! the crate `falchion-check` runs the schedule. A schedule without one of its steps is a mutant,
//! which the machine detects.
//!
//! There are two kinds of steps. All threads of a kernel follow [`Step`]s. In warp-specialized
//! kernels, warpgroups have [`Roles`] and follow [`RoleStep`]s: a producer moves the tiles that the
//! consumers multiply.

mod fault;
mod kind;
mod roles;
mod step;
mod who;

pub use fault::Fault;
pub use kind::ScheduleKind;
pub use roles::{Role, RoleStep, Roles};
pub use step::Step;
pub use who::{ShareName, SubtileName, WarpName, Who};

use crate::shape::words::words;
use core::fmt;

words! {
    /// Section of a schedule.
    pub enum Section {
        /// Once, before the first tile of D.
        Opening = "opening",
        /// Once per work unit, before its main loop.
        Prologue = "prologue",
        /// Once per k-tile.
        Body = "body",
        /// Once per work unit, after its main loop: completes outstanding operations.
        Tail = "tail",
        /// Once per tile of D, in the consumer that holds its sum.
        Epilogue = "epilogue",
        /// Once, after the last tile of D.
        Closing = "closing",
    }
}

/// A kind of step, and its spelling in C++.
pub trait Spelled: Copy + fmt::Display {
    /// Type name in `kernels/schedule.cuh` or `kernels/schedule/roles.cuh`. The enumeration
    /// `<CUDA>Kind` lists its kinds.
    const CUDA: &'static str;
    /// Sections of schedules with such steps.
    const SECTIONS: &'static [Section];
    /// Step that fills the array of an empty section, because C++ has no empty arrays.
    const FILLER: Self;
    /// Returns the name of the step's kind, which is the same in both languages.
    fn name(self) -> &'static str;
    /// Returns the step's arguments: at most two numbers, padded with 0.
    fn arguments(self) -> (u8, u8);
}

/// Declares a kind of step: the name and arguments of each step. The `.cuh` file of
/// [`Spelled::CUDA`] also lists the names; a house test compares the two lists. `FILLER` is
/// `Advance`, which all kinds have.
macro_rules! steps {
    (sections $($Section:ident)*; $(#[$meta:meta])* pub enum $Step:ident {
        $($(#[$doc:meta])* $Kind:ident $({ $($(#[$argument_doc:meta])* $argument:ident: $ty:ty,)+ })?,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $Step {
            $($(#[$doc])* $Kind $({ $($(#[$argument_doc])* $argument: $ty),+ })?,)+
        }

        impl $crate::schedule::Spelled for $Step {
            const CUDA: &'static str = stringify!($Step);
            const SECTIONS: &'static [$crate::schedule::Section] = &[$($crate::schedule::Section::$Section),*];
            const FILLER: Self = Self::Advance;

            fn name(self) -> &'static str {
                match self {
                    $(Self::$Kind { .. } => stringify!($Kind),)+
                }
            }

            fn arguments(self) -> (u8, u8) {
                let numbers = match self {
                    $(Self::$Kind $({ $($argument),+ })? => vec![$($($argument as u8),+)?],)+
                };
                (numbers.first().map_or(0, |first| *first), numbers.get(1).map_or(0, |second| *second))
            }
        }

        impl core::fmt::Display for $Step {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let arguments: Vec<String> = match self {
                    $(Self::$Kind $({ $($argument),+ })? => vec![$($($argument.to_string()),+)?],)+
                };
                f.write_str($crate::schedule::Spelled::name(*self))?;
                if arguments.is_empty() { Ok(()) } else { write!(f, "({})", arguments.join(" of ")) }
            }
        }
    };
}
use steps;

/// Order of the steps of one role of a kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Schedule<S = Step> {
    /// Steps before the first tile of D.
    pub opening: Vec<S>,
    /// Steps that fill the pipeline.
    pub prologue: Vec<S>,
    /// Steps of one k-tile.
    pub body: Vec<S>,
    /// Steps that complete outstanding operations and reduce split-K slices.
    pub tail: Vec<S>,
    /// Steps that reduce warp slices and store D.
    pub epilogue: Vec<S>,
    /// Steps after the last tile of D.
    pub closing: Vec<S>,
}

impl<S> Default for Schedule<S> {
    fn default() -> Self {
        Self {
            opening: Vec::new(),
            prologue: Vec::new(),
            body: Vec::new(),
            tail: Vec::new(),
            epilogue: Vec::new(),
            closing: Vec::new(),
        }
    }
}

impl<S: Spelled> Schedule<S> {
    /// Returns the steps of a section.
    pub fn steps(&self, section: Section) -> &[S] {
        match section {
            Section::Opening => &self.opening,
            Section::Prologue => &self.prologue,
            Section::Body => &self.body,
            Section::Tail => &self.tail,
            Section::Epilogue => &self.epilogue,
            Section::Closing => &self.closing,
        }
    }

    /// Returns the steps of a section for modification.
    pub fn steps_mut(&mut self, section: Section) -> &mut Vec<S> {
        match section {
            Section::Opening => &mut self.opening,
            Section::Prologue => &mut self.prologue,
            Section::Body => &mut self.body,
            Section::Tail => &mut self.tail,
            Section::Epilogue => &mut self.epilogue,
            Section::Closing => &mut self.closing,
        }
    }

    /// Yields all steps in order, with their sections and indices.
    pub fn places(&self) -> impl Iterator<Item = (Section, usize, S)> + '_ {
        S::SECTIONS.iter().flat_map(|section| {
            self.steps(*section)
                .iter()
                .enumerate()
                .map(move |(index, step)| (*section, index, *step))
        })
    }

    /// Returns the schedule as a C++ struct.
    pub fn spell(&self, name: &str) -> String {
        let mut text = format!("struct {name} {{\n");
        for section in S::SECTIONS {
            let steps = self.steps(*section);
            let one = |step: &S| {
                let (a, b) = step.arguments();
                format!("{{{}Kind::{}, {a}, {b}}}", S::CUDA, step.name())
            };
            let spelled: Vec<_> = if steps.is_empty() {
                vec![one(&S::FILLER)]
            } else {
                steps.iter().map(one).collect()
            };
            let mut list = section.name().to_owned();
            list[..1].make_ascii_uppercase();
            // C++ has no empty array, so `kCount` holds the number of steps. The array is local
            // because a static member would occupy device memory.
            text.push_str(&format!(
                "  struct {list} {{\n    static constexpr int kCount = {count};\n    static constexpr {cuda} step(int i) {{\n      constexpr {cuda} steps[] = {{{steps}}};\n      return steps[i];\n    }}\n  }};\n",
                count = steps.len(),
                cuda = S::CUDA,
                steps = spelled.join(", ")
            ));
        }
        text.push_str("};\n");
        text
    }

    /// Returns the schedule for `kernels/schedule.cuh`, as a struct `Schedule`.
    pub fn header(&self) -> String {
        self.spell("Schedule")
    }
}

impl<S: Spelled> fmt::Display for Schedule<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for section in S::SECTIONS {
            let line: Vec<_> = self.steps(*section).iter().map(S::to_string).collect();
            writeln!(
                f,
                "{:>8}: {}",
                section.name(),
                if line.is_empty() { "-".to_owned() } else { line.join(" ") }
            )?;
        }
        Ok(())
    }
}
