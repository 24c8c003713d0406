//! Every access to shared memory of a kernel's threads, step by step.
//!
//! The host executor runs one tile of one block, and what its warps touch is counted: the maps are
//! the executor's own. Of warp-specialized kernels the accesses are those of the kernels' text, at
//! the addresses of the same maps. A compiler may join neighbouring accesses that the kernel's text
//! keeps apart, and then a device takes fewer instructions.

use super::{WarpAccess, Wavefronts, roles, wavefronts};
use crate::{
    Error,
    counters::{Purpose, of_block},
};
use falchion::{desc::GemmDesc, internals::plan::Program, refusal::Operand};

/// The accesses of all warps of a block that do the same: for one k-tile; epilogue stores and loads
/// are once a tile of D.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedStep {
    /// What they are for.
    pub purpose: Purpose,
    /// Whose tile, as the user names A and B; C or D of staging buffers; partial accumulators of
    /// slices of K are of none.
    pub operand: Option<Operand>,
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

/// Steps, as they are found.
#[derive(Default)]
pub(super) struct Steps(Vec<SharedStep>);

impl Steps {
    /// Adds an access to those that do the same.
    pub fn add(&mut self, purpose: Purpose, operand: Option<Operand>, access: WarpAccess) {
        let same = |step: &SharedStep| (step.purpose, step.operand) == (purpose, operand);
        let place = self.0.iter().position(same).unwrap_or_else(|| {
            self.0.push(SharedStep {
                purpose,
                operand,
                accesses: 0,
                wavefronts: 0,
                ideal: 0,
                worst: access,
            });
            self.0.len() - 1
        });
        self.0[place].add(access, wavefronts(&access));
    }

    /// All of them in the order of [`Purpose`], A before B, C and D.
    pub fn in_order(mut self) -> Vec<SharedStep> {
        self.0.sort_by_key(|step| (step.purpose, step.operand.map(Operand::name)));
        self.0
    }
}

/// The accesses of a description: as [`of_program`] counts them, or, of a warp-specialized kernel,
/// fragments that threads load and what the epilogue does with its staging buffers.
///
/// ```
/// use falchion::prelude::*;
/// use falchion_lab::{
///     banks::{self, wavefronts},
///     counters::Purpose,
/// };
///
/// // Fragments of A come with lanes (i, i^2) on the same 16 bytes: two wavefronts for what would be four.
/// let steps = banks::of_desc(&Gemm::<f32>::DESC)?;
/// let loads: Vec<_> = steps.iter().filter(|step| step.purpose == Purpose::Load).collect();
/// assert!(loads.iter().all(|step| step.worst.bytes() == 16 && wavefronts(&step.worst).wavefronts == 2));
/// # Ok::<(), falchion_lab::Error>(())
/// ```
///
/// # Errors
/// [`falchion::Error::Refused`] if the description is invalid; the errors of [`of_program`].
pub fn of_desc(desc: &GemmDesc) -> Result<Vec<SharedStep>, Error> {
    desc.check()?;
    match (desc.warp_specialized(), desc.components()) {
        (Some(d), Some(components)) => roles::of_warp_specialized(&d.multiplied(), &components),
        _ => of_program(&desc.one_schedule()?),
    }
}

/// What a kernel reads and writes in shared memory by TMA and by matrix descriptors, and so without
/// wavefronts of threads: a sentence each. Nothing of a kernel on the CUDA cores whose threads
/// copy.
pub fn without_threads(desc: &GemmDesc) -> Vec<String> {
    match (desc.warp_specialized(), desc.components()) {
        (Some(d), Some(components)) => roles::without_threads(&d.multiplied(), &components),
        _ => Vec::new(),
    }
}

/// The accesses of a program, in the order of [`Purpose`], A before B.
///
/// # Errors
/// [`falchion::Error::Fault`] if the host executor finds a fault in the program.
pub fn of_program(program: &Program) -> Result<Vec<SharedStep>, Error> {
    let mut steps = Steps::default();
    of_block(program, 1, None, &mut |(purpose, operand), &access| {
        let operand = operand.map(|operand| operand.leave(program.desc.frame));
        steps.add(purpose, operand.map(Operand::of), access);
    })?;
    Ok(steps.in_order())
}
