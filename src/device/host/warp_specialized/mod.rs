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

mod chains;
mod checked;
mod fast;
mod numbers;
mod program;
mod reading;
mod slices;
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
pub use threads::ThreadMaps;

/// What an element of C or D is in memory.
type Stored<T> = <<T as Combination>::C as Element>::Storage;

/// Runs a description of this family, which has been checked.
///
/// # Errors
///
/// [`Error::Refused`] when there is no such combination of types; in the checked mode [`Error::Fault`] and [`Error::Ring`].
pub(crate) fn execute(desc: &GemmDesc, mode: Mode, problem: Problem, inputs: Inputs<'_>) -> Result<(), Error> {
    match mode {
        Mode::Fast => with_types(&Fast(desc), problem, inputs),
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
    with_types(&Checked { program, seed }, problem, inputs)
}

struct Fast<'d>(&'d GemmDesc);

impl HostKernel for Fast<'_> {
    fn desc(&self) -> &GemmDesc {
        self.0
    }
    fn compute<T: Combination>(
        &self,
        typed: &Typed<'_, T>,
        source: Source<&[Stored<T>]>,
        d: &mut [Stored<T>],
    ) -> Result<(), Error> {
        if matches!(self.0.op, OpKind::Simt) {
            return chains::product(typed, source, d);
        }
        fast::product(typed, source, d);
        Ok(())
    }
}

struct Checked<'p> {
    program: &'p WarpSpecializedProgram,
    seed: u64,
}

impl HostKernel for Checked<'_> {
    fn desc(&self) -> &GemmDesc {
        &self.program.desc
    }
    fn compute<T: Combination>(
        &self,
        typed: &Typed<'_, T>,
        source: Source<&[Stored<T>]>,
        d: &mut [Stored<T>],
    ) -> Result<(), Error> {
        checked::product(self.program, self.seed, typed, source, d)
    }
}
