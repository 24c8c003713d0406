//! The order of a kernel's steps, as a value.
//!
//! Every copy, barrier, wait and multiplication of a main loop is a [`Step`] of a [`Schedule`]. The host executor runs the
//! schedule; the CUDA executor spells it in the generated header, where `kernels/schedule.cuh` unrolls it. No other file in
//! `kernels/` synchronizes anything. A schedule with a step left out is a mutant, which the checked executor finds.
//!
//! Two counters belong to each thread: `written`, the tiles along K put into shared memory so far, and `read`, the tile being
//! multiplied. Tile `t` lives in stage `t mod stages`. Steps that would touch a tile beyond the last do nothing.

use crate::desc::GemmDesc;
use core::fmt;

/// One step of every thread of a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// Tile `written`: global memory to the thread's staging registers.
    Fetch,
    /// Tile `written`: staging registers to shared memory; then `written` is one more.
    Store,
    /// Tile `written`: accesses of part `part` of `of`, from global to shared memory, asynchronously.
    Copy {
        /// Which part.
        part: u8,
        /// Of how many.
        of: u8,
    },
    /// The copies issued since the last commit become one group; then `written` is one more.
    Commit,
    /// Waits until at most `pending` of the thread's groups are under way.
    Wait {
        /// How many may be.
        pending: u8,
    },
    /// All threads of the block meet; what they wrote to shared memory is visible to all.
    Barrier,
    /// K-group `group` of tile `read`: shared memory to fragment `group mod 2`.
    Load {
        /// Which k of the warp's tile.
        group: u8,
    },
    /// Accumulators += the outer product of the fragments of k-group `group`.
    Multiply {
        /// Which k of the warp's tile.
        group: u8,
    },
    /// Every k-group of tile `read`, one after the other: both fragments are loaded, then multiplied.
    MultiplyTile,
    /// `read` is one more.
    Advance,
    /// Slice `slice` of K puts its accumulators into shared memory.
    Deposit {
        /// Which slice, from 1.
        slice: u8,
    },
    /// Slice 0 adds what slice `slice` deposited.
    Collect {
        /// Which slice, from 1.
        slice: u8,
    },
    /// What the thread is to write: from shared memory, or from its registers where there is none, to D.
    Write,
}

impl Step {
    /// The name in `kernels/schedule.cuh`.
    const fn name(self) -> &'static str {
        match self {
            Self::Fetch => "Fetch",
            Self::Store => "Store",
            Self::Copy { .. } => "Copy",
            Self::Commit => "Commit",
            Self::Wait { .. } => "Wait",
            Self::Barrier => "Barrier",
            Self::Load { .. } => "Load",
            Self::Multiply { .. } => "Multiply",
            Self::MultiplyTile => "MultiplyTile",
            Self::Advance => "Advance",
            Self::Deposit { .. } => "Deposit",
            Self::Collect { .. } => "Collect",
            Self::Write => "Write",
        }
    }

    /// The step's numbers: at most two.
    const fn arguments(self) -> (u8, u8) {
        match self {
            Self::Copy { part, of } => (part, of),
            Self::Wait { pending } => (pending, 0),
            Self::Load { group } | Self::Multiply { group } => (group, 0),
            Self::Deposit { slice } | Self::Collect { slice } => (slice, 0),
            _ => (0, 0),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.arguments() {
            (0, 0) if !matches!(self, Self::Wait { .. } | Self::Load { .. } | Self::Multiply { .. }) => f.write_str(self.name()),
            (a, 0) => write!(f, "{}({a})", self.name()),
            (a, b) => write!(f, "{}({a} of {b})", self.name()),
        }
    }
}

/// The part of a schedule that a step belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Section {
    /// Once, before the main loop.
    Prologue,
    /// Once for each tile along K.
    Body,
    /// Once, after the main loop.
    Epilogue,
}

/// The order of steps of one role of a kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Schedule {
    /// Fills the pipeline.
    pub prologue: Vec<Step>,
    /// One tile along K.
    pub body: Vec<Step>,
    /// Brings the slices of K together.
    pub epilogue: Vec<Step>,
}

impl Schedule {
    /// The schedule of a description.
    pub fn of(d: &GemmDesc) -> Self {
        let mut schedule = d.mainloop.behaviour().schedule(d);
        for slice in 1..d.warps().k as u8 {
            schedule.epilogue.extend([Step::Deposit { slice }, Step::Barrier, Step::Collect { slice }]);
            if u32::from(slice) + 1 < d.warps().k {
                // The next slice deposits where this one was read.
                schedule.epilogue.push(Step::Barrier);
            }
        }
        schedule
    }

    /// The schedule of a transpose's tile, through shared memory or through registers alone.
    pub fn of_transpose(staged: bool) -> Self {
        let body =
            if staged { vec![Step::Fetch, Step::Store, Step::Barrier, Step::Write] } else { vec![Step::Fetch, Step::Write] };
        Self { body, ..Self::default() }
    }

    /// Every place of the schedule, in order.
    pub fn places(&self) -> impl Iterator<Item = (Section, usize, Step)> + '_ {
        let of = |section, steps: &'_ Vec<Step>| {
            steps.iter().copied().enumerate().map(move |(i, step)| (section, i, step)).collect::<Vec<_>>()
        };
        [of(Section::Prologue, &self.prologue), of(Section::Body, &self.body), of(Section::Epilogue, &self.epilogue)]
            .into_iter()
            .flatten()
    }

    /// The schedule with one step left out: a mutant.
    pub fn without(&self, section: Section, index: usize) -> Self {
        let mut mutant = self.clone();
        let steps = match section {
            Section::Prologue => &mut mutant.prologue,
            Section::Body => &mut mutant.body,
            Section::Epilogue => &mut mutant.epilogue,
        };
        if index < steps.len() {
            steps.remove(index);
        }
        mutant
    }

    /// The schedule for `kernels/schedule.cuh`.
    pub fn header(&self) -> String {
        let list = |name: &str, steps: &[Step]| {
            let spelled: Vec<_> = steps
                .iter()
                .map(|step| {
                    let (a, b) = step.arguments();
                    format!("{{StepKind::{}, {a}, {b}}}", step.name())
                })
                .collect();
            // C++ has no empty array: the number of steps stands beside it. A static member would go to the device's memory.
            format!(
                "  struct {name} {{\n    static constexpr int kCount = {};\n    static constexpr Step step(int i) {{\n      constexpr Step steps[] = {{{}}};\n      return steps[i];\n    }}\n  }};\n",
                steps.len(),
                if spelled.is_empty() { "{StepKind::Advance, 0, 0}".to_owned() } else { spelled.join(", ") }
            )
        };
        format!(
            "struct Schedule {{\n{}{}{}}};\n",
            list("Prologue", &self.prologue),
            list("Body", &self.body),
            list("Epilogue", &self.epilogue)
        )
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, steps) in [("prologue", &self.prologue), ("body", &self.body), ("epilogue", &self.epilogue)] {
            let line: Vec<_> = steps.iter().map(Step::to_string).collect();
            writeln!(f, "{name:>8}: {}", if line.is_empty() { "-".to_owned() } else { line.join(" ") })?;
        }
        Ok(())
    }
}
