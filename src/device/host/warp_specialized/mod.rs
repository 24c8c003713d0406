//! Kernels whose warpgroups have roles, on the host.
//!
//! A description becomes a [`WarpSpecializedProgram`]: the ring, every map, every number that its kernel has. Two modes run it:
//!
//! - **checked** (`checked.rs`, `numbers.rs`): cluster by cluster, every warp a machine of [`roles`](super::roles), in an order
//!   drawn from a seed. What moves through the ring are bytes: boxes that a [`TensorCopy`](crate::threadblock::TensorCopy) wrote,
//!   read back through descriptors (`reading.rs`), summed as the instruction sums, deposited and stored (`slices.rs`), or read, summed
//!   and stored thread by thread (`threads.rs`). Every element of D has to be written once.
//! - **fast** (`fast.rs`): the same sums in the same order, parallel over rows of tiles, without a ring: the bits are the same. On the
//!   CUDA cores (`chains.rs`) sums are chains of fused multiply-adds, and the panels and wide products of the other main loops make them.
//!
//! Factors that are split are split first (`split.rs`): both modes multiply their parts.

mod chains;
mod checked;
mod fast;
mod numbers;
mod program;
mod reading;
mod slices;
mod split;
mod threads;

use super::{
    Mode,
    run::{HostKernel, Inputs, Problem, Typed, with_types},
};
use crate::{
    arch::OpKind,
    desc::GemmDesc,
    device::arguments::Source,
    error::Error,
    numeric::{Combination, Element},
};
pub use program::{OperandMaps, SliceMaps, TakenTiles, WarpSpecializedProgram};
pub use split::SplitProgram;
use split::{Scales, SplitOperands};
pub use threads::ThreadMaps;

/// What an element of C or D is in memory.
type Stored<T> = <<T as Combination>::C as Element>::Storage;

/// Runs a description of this family, which has been checked.
///
/// # Errors
///
/// [`Error::Refused`] when there is no such combination of types, or factors cannot be split; in the checked mode [`Error::Fault`] and
/// [`Error::Ring`].
pub(crate) fn execute(desc: &GemmDesc, mode: Mode, problem: Problem, inputs: Inputs<'_>) -> Result<(), Error> {
    match mode {
        Mode::Fast => in_parts(&SplitProgram::RIGHT, desc, problem, inputs, |scales, problem, inputs| {
            with_types(&Fast { desc: &desc.multiplied(), scales }, problem, inputs)
        }),
        Mode::Checked { seed } => execute_program(&WarpSpecializedProgram::of(desc)?, seed, problem, inputs),
    }
}

/// Runs a program, checked.
///
/// # Errors
///
/// Those of [`execute`].
pub(crate) fn execute_program(
    program: &WarpSpecializedProgram,
    seed: u64,
    problem: Problem,
    inputs: Inputs<'_>,
) -> Result<(), Error> {
    in_parts(&program.split, &program.desc, problem, inputs, |scales, problem, inputs| {
        with_types(&Checked { desc: &program.multiplied, program, seed, scales }, problem, inputs)
    })
}

/// Does `compute` with the problem as the kernel has it: of the operands' parts where they are split.
fn in_parts(
    program: &SplitProgram,
    desc: &GemmDesc,
    problem: Problem,
    inputs: Inputs<'_>,
    compute: impl FnOnce(Scales<'_>, Problem, Inputs<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    if !desc.split.splits() {
        let shifts = Default::default();
        return compute(Scales { shifts: &shifts, unscaled: program.unscaled }, problem, inputs);
    }
    let operands = SplitOperands::of(program, desc, &problem, &inputs)?;
    let scales = Scales { shifts: &operands.shifts, unscaled: program.unscaled };
    compute(scales, operands.problem(problem), operands.inputs(inputs))
}

struct Fast<'d> {
    desc: &'d GemmDesc,
    scales: Scales<'d>,
}

impl HostKernel for Fast<'_> {
    fn desc(&self) -> &GemmDesc {
        self.desc
    }
    fn compute<T: Combination>(
        &self,
        typed: &Typed<'_, T>,
        source: Source<&[Stored<T>]>,
        d: &mut [Stored<T>],
    ) -> Result<(), Error> {
        if matches!(self.desc.op, OpKind::Simt) {
            return chains::product(typed, source, d);
        }
        fast::product(typed, self.scales, source, d);
        Ok(())
    }
}

struct Checked<'p> {
    desc: &'p GemmDesc,
    program: &'p WarpSpecializedProgram,
    seed: u64,
    scales: Scales<'p>,
}

impl HostKernel for Checked<'_> {
    fn desc(&self) -> &GemmDesc {
        self.desc
    }
    fn compute<T: Combination>(
        &self,
        typed: &Typed<'_, T>,
        source: Source<&[Stored<T>]>,
        d: &mut [Stored<T>],
    ) -> Result<(), Error> {
        checked::product(self.program, (self.seed, self.scales), typed, source, d)
    }
}
