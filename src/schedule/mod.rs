//! The order of a kernel's steps, as a value.
//!
//! Every copy, barrier, wait and multiplication of a main loop is a step of a [`Schedule`]. The
//! host executor runs the schedule; the CUDA executor spells it in the generated header, where
//! `kernels/schedule.cuh` and `kernels/schedule/roles.cuh` unroll it. Nothing else in `kernels/`
//! synchronizes anything. A schedule with a step left out is a mutant, which the checked executor
//! finds.
//!
//! There are two kinds of steps. [`Step`]s are of kernels whose threads all do the same.
//! [`RoleStep`]s are of kernels whose warpgroups have [`Roles`]: one moves what the others
//! multiply.

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

use crate::words::words;
use core::fmt;

words! {
    /// The part of a schedule that a step belongs to.
    pub enum Section {
        /// Once, before the first tile of D.
        Opening = "opening",
        /// Once for each unit of work, before its main loop.
        Prologue = "prologue",
        /// Once for each k-tile.
        Body = "body",
        /// Once for each unit of work, after its main loop: what is under way comes to its end.
        Tail = "tail",
        /// Once for each tile of D, by who holds its sum.
        Epilogue = "epilogue",
        /// Once, after the last tile of D.
        Closing = "closing",
    }
}

/// A kind of steps, and how it is spelled.
pub trait Spelled: Copy + fmt::Display {
    /// The type of `kernels/schedule.cuh` or `kernels/schedule/roles.cuh`. Its kinds are those of
    /// the enumeration `<CUDA>Kind`.
    const CUDA: &'static str;
    /// The sections that schedules of such steps have.
    const SECTIONS: &'static [Section];
    /// What fills the array of an empty section: C++ has none without elements.
    const FILLER: Self;
    /// The kind's name, in both languages.
    fn name(self) -> &'static str;
    /// The step's numbers: at most two.
    fn arguments(self) -> (u8, u8);
}

/// Declares a kind of steps: each step's name and its arguments. The names stand in the `.cuh` of
/// [`Spelled::CUDA`] too, and a law of the house compares the two lists. `FILLER` is `Advance`,
/// which all have.
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

/// The order of steps of one role of a kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Schedule<S = Step> {
    /// What a kernel of many tiles of D begins with.
    pub opening: Vec<S>,
    /// Fills the pipeline.
    pub prologue: Vec<S>,
    /// One k-tile.
    pub body: Vec<S>,
    /// Ends what is under way, and brings parts of K together.
    pub tail: Vec<S>,
    /// Brings what was summed up together, and to where D is.
    pub epilogue: Vec<S>,
    /// What a kernel of many tiles of D ends with.
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
    /// The steps of a section.
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

    /// The steps of a section, to be changed.
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

    /// Every place of the schedule, in order.
    pub fn places(&self) -> impl Iterator<Item = (Section, usize, S)> + '_ {
        S::SECTIONS.iter().flat_map(|section| {
            self.steps(*section)
                .iter()
                .enumerate()
                .map(move |(index, step)| (*section, index, *step))
        })
    }

    /// The schedule as a C++ struct.
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
            // C++ has no empty array: the number of steps stands beside it. A static member would
            // go to the device's memory.
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

    /// The schedule for `kernels/schedule.cuh`, under the name `Schedule`.
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
