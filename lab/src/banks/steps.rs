//! Every access to shared memory of a kernel, step by step.
//!
//! The host executor runs one tile of one block, and what its warps touch is counted: the maps are the executor's own. A compiler
//! may join neighbouring accesses that the kernel's text keeps apart, and then a device takes fewer instructions.

use crate::banks::{WarpAccess, Wavefronts, wavefronts};
use crate::counters::of_block;
use falchion::{
    Error,
    desc::GemmDesc,
    internals::{host::Purpose, operand::OperandKind},
    threadblock::Program,
};

/// The accesses of all warps of a block that do the same: for one tile along K; deposits and collections are once a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedStep {
    /// What they are for.
    pub purpose: Purpose,
    /// Whose tile, as the user names A and B; accumulators are of neither.
    pub operand: Option<OperandKind>,
    /// Instructions of a warp.
    pub accesses: u64,
    /// Wavefronts of all of them.
    pub wavefronts: u64,
    /// What [`Wavefronts::ideal`] says of all of them.
    pub ideal: u64,
    /// The first of those that take the most wavefronts.
    pub worst: WarpAccess,
}

impl SharedStep {
    /// Wavefronts that another layout could do without.
    pub const fn conflicts(&self) -> u64 {
        self.wavefronts - self.ideal
    }

    /// Wavefronts as a multiple of the ideal.
    pub fn ratio(&self) -> f64 {
        self.wavefronts as f64 / self.ideal as f64
    }

    fn add(&mut self, access: WarpAccess, of_access: Wavefronts) {
        self.accesses += 1;
        self.wavefronts += u64::from(of_access.wavefronts);
        self.ideal += u64::from(of_access.ideal);
        if of_access.wavefronts > wavefronts(&self.worst).wavefronts {
            self.worst = access;
        }
    }
}

/// The accesses of a description, as [`of_program`] counts them.
///
/// ```
/// use falchion::{internals::host::Purpose, prelude::*};
/// use falchion_lab::banks::wavefronts;
/// use falchion_lab::banks;
///
/// // Fragments of A come with lanes (i, i^2) on the same 16 bytes: two wavefronts for what would be four.
/// let steps = banks::of_desc(&Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::DESC)?;
/// let loads: Vec<_> = steps.iter().filter(|step| step.purpose == Purpose::Load).collect();
/// assert!(loads.iter().all(|step| step.worst.bytes() == 16 && wavefronts(&step.worst).wavefronts == 2));
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Refused`] for a description that does not check, and those of [`of_program`].
pub fn of_desc(desc: &GemmDesc) -> Result<Vec<SharedStep>, Error> {
    desc.check()?;
    let program = Program::of(&desc.as_simt()?);
    of_program(&program)
}

/// The accesses of a program, in the order of [`Purpose`], A before B.
///
/// # Errors
///
/// [`Error::Fault`] for a program that does what it must not.
pub fn of_program(program: &Program) -> Result<Vec<SharedStep>, Error> {
    let mut steps: Vec<SharedStep> = Vec::new();
    of_block(program, 1, None, &mut |(purpose, operand), &access| {
        let operand = operand.map(|operand| if program.desc.frame.is_exchanged() { operand.other() } else { operand });
        let place = steps.iter().position(|step| (step.purpose, step.operand) == (purpose, operand)).unwrap_or_else(|| {
            steps.push(SharedStep { purpose, operand, accesses: 0, wavefronts: 0, ideal: 0, worst: access });
            steps.len() - 1
        });
        steps[place].add(access, wavefronts(&access));
    })?;
    steps.sort_by_key(|step| (step.purpose, step.operand.map(OperandKind::index)));
    Ok(steps)
}
