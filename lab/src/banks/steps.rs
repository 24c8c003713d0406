//! The accesses of a kernel's threads to shared memory, step by step.
//!
//! The checked machine runs one tile of one CTA, and its accesses are counted, at the addresses of
//! the executor's own maps. For warp-specialized kernels, the accesses are those of the kernels'
//! source, at the addresses of the same maps. A compiler may merge adjacent accesses of the source,
//! and a device then needs fewer instructions.

use super::{WarpAccess, Wavefronts, tma_ring, wavefronts};
use crate::{
    Error,
    counters::{Purpose, walk_block},
};
use falchion::{internals::nest::Program, nest::GemmDesc, refusal::Operand, threadblock::Mainloop};

/// The accesses of all warps of a CTA with the same purpose and operand, for one k-tile. Epilogue
/// stores and loads occur once per tile of D.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedStep {
    /// The purpose of the accesses.
    pub purpose: Purpose,
    /// The operand whose tile is touched, in the user's frame; C or D for staging buffers; `None`
    /// for the partials of warp slices.
    pub operand: Option<Operand>,
    /// Number of warp-level instructions.
    pub accesses: u64,
    /// Total number of wavefronts.
    pub wavefronts: u64,
    /// Total of [`Wavefronts::ideal`].
    pub ideal: u64,
    /// The first access with the most wavefronts.
    pub worst: WarpAccess,
}

impl SharedStep {
    /// Returns the wavefronts that a layout without conflicts would save.
    pub const fn conflicts(&self) -> u64 {
        self.wavefronts - self.ideal
    }

    /// Returns the wavefronts divided by the ideal.
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

/// The steps so far.
#[derive(Default)]
pub(super) struct Steps(Vec<SharedStep>);

impl Steps {
    /// Adds an access to the step with the same purpose and operand.
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

    /// Returns all steps in the order of [`Purpose`], with A before B, C, and D.
    pub fn in_order(mut self) -> Vec<SharedStep> {
        self.0.sort_by_key(|step| (step.purpose, step.operand.map(Operand::name)));
        self.0
    }
}

/// Returns the accesses of a description, as [`program_steps`] counts them. For a warp-specialized
/// kernel, they are the fragments that threads load and the epilogue's accesses to its staging
/// buffers.
///
/// ```
/// use falchion::prelude::*;
/// use falchion_lab::{
///     banks::{self, wavefronts},
///     counters::Purpose,
/// };
///
/// // Fragments of A come with lanes (i, i^2) on the same 16 bytes: two wavefronts for what would be four.
/// let steps = banks::description_steps(&Gemm::<f32>::DESC)?;
/// let loads: Vec<_> = steps.iter().filter(|step| step.purpose == Purpose::Load).collect();
/// assert!(loads.iter().all(|step| step.worst.bytes() == 16 && wavefronts(&step.worst).wavefronts == 2));
/// # Ok::<(), falchion_lab::Error>(())
/// ```
///
/// # Errors
/// [`falchion::Error::Refused`] if the description is invalid; the errors of [`program_steps`].
pub fn description_steps(desc: &GemmDesc) -> Result<Vec<SharedStep>, Error> {
    desc.check()?;
    match desc.mainloop {
        Mainloop::TmaRing(_) => tma_ring::warp_specialized_steps(desc),
        _ => program_steps(&desc.one_schedule()?),
    }
}

/// Describes the accesses to shared memory by TMA and by matrix descriptors, which need no
/// wavefronts of threads. The list is empty for kernels whose threads copy the tiles.
pub fn without_threads(desc: &GemmDesc) -> Vec<String> {
    match desc.mainloop {
        Mainloop::TmaRing(_) => tma_ring::without_threads(desc),
        _ => Vec::new(),
    }
}

/// Returns the accesses of a program in the order of [`Purpose`], with A before B.
///
/// # Errors
/// [`falchion::Error::Fault`] if the checked machine finds a fault in the program.
pub fn program_steps(program: &Program) -> Result<Vec<SharedStep>, Error> {
    let mut steps = Steps::default();
    walk_block(program, 1, None, &mut |(purpose, operand), &access| {
        let operand = operand.map(|operand| operand.leave(program.desc.frame));
        steps.add(purpose, operand.map(Operand::from_kind), access);
    })?;
    Ok(steps.in_order())
}
