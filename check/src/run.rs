//! Entry points: run a description or a program on the machine, or in a mode.

use crate::{
    gemm,
    program::{HostProgram, WarpSpecializedProgram},
    tma_ring, transpose,
};
use core::slice;
use falchion::{
    Error, Refusal,
    device::run_on_host,
    internals::{
        host::{
            Array,
            shared::{each_launch, has_roles, in_frame_of},
        },
        nest::Program,
        operand::{
            HostCall,
            transpose::{TransposeDesc, TransposeProgram},
        },
        shape::Axis,
        sys::DefaultFloatMode,
    },
    nest::GemmDesc,
};

/// The executor of a call on the host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// Falchion's host executor: composed, vectorized, and parallel over CTAs.
    Fast,
    /// The machine: warp by warp, with race detection, in a pseudorandom order.
    Checked {
        /// Seed of the order.
        seed: u64,
    },
}

/// A description or a program that runs in both modes.
pub trait CheckedKernel {
    /// The arguments: matrices and scalars.
    type Call<'a>;

    /// Computes a call.
    ///
    /// # Errors
    /// The errors of [`run_in_mode`].
    fn run(&self, mode: Mode, call: Self::Call<'_>) -> Result<(), Error>;
}

/// Runs a description or a program on the machine. `seed` determines the order of warps and lanes.
///
/// # Errors
/// [`Error::Refused`] if the description or the call is invalid. [`Error::Fault`] if the machine
/// finds a fault.
pub fn run_checked<K: CheckedKernel>(
    kernel: &K,
    seed: u64,
    call: K::Call<'_>,
) -> Result<(), Error> {
    run_in_mode(kernel, Mode::Checked { seed }, call)
}

/// Runs a description or a program in a mode.
///
/// # Errors
/// [`Error::Refused`] if the description or the call is invalid, or if a warp-specialized program
/// is run in the fast mode, which supports only their descriptions. [`Error::Fault`] if the program
/// has a fault.
pub fn run_in_mode<K: CheckedKernel>(
    kernel: &K,
    mode: Mode,
    call: K::Call<'_>,
) -> Result<(), Error> {
    let _mode = DefaultFloatMode::enter();
    kernel.run(mode, call)
}

impl CheckedKernel for GemmDesc {
    type Call<'a> = HostCall<'a>;

    fn run(&self, mode: Mode, call: HostCall<'_>) -> Result<(), Error> {
        if mode == Mode::Fast {
            return run_on_host(self, call);
        }
        let desc = self.for_scalars(&call.scalars);
        // The consumers of groups along K have steps of their own.
        let along_k = call.groups.is_some_and(|groups| groups.axis == Axis::K);
        let desc = if along_k { desc.for_groups(Axis::K) } else { desc };
        HostProgram::new(&desc)?.run(mode, call)
    }
}

impl CheckedKernel for HostProgram {
    type Call<'a> = HostCall<'a>;

    fn run(&self, mode: Mode, call: HostCall<'_>) -> Result<(), Error> {
        match self {
            Self::OneSchedule(program) => program.run(mode, call),
            Self::Roles(program) => program.run(mode, call),
        }
    }
}

impl CheckedKernel for Program {
    type Call<'a> = HostCall<'a>;

    fn run(&self, mode: Mode, call: HostCall<'_>) -> Result<(), Error> {
        let Mode::Checked { seed } = mode else { return run_on_host(self, call) };
        self.desc.check()?;
        in_frame_of(&self.desc, call, |mut call| {
            gemm::execute(self, seed, slice::from_mut(&mut call))
        })
    }
}

impl CheckedKernel for WarpSpecializedProgram {
    type Call<'a> = HostCall<'a>;

    fn run(&self, mode: Mode, call: HostCall<'_>) -> Result<(), Error> {
        self.desc.check()?;
        let Mode::Checked { seed } = mode else { return Err(has_roles(&self.desc).into()) };
        if self.desc.epilogue.is_gated() {
            return Err(Refusal::GATES_NOT_CHECKED.into());
        }
        in_frame_of(&self.desc, call, |call| tma_ring::execute(self, seed, call))
    }
}

impl CheckedKernel for Array<'_, GemmDesc> {
    type Call<'a> = Vec<HostCall<'a>>;

    /// The machine runs a launch of several GEMMs as the GPU does. Without a kernel for pointer
    /// arrays, it runs the GEMMs one by one.
    fn run(&self, mode: Mode, calls: Vec<HostCall<'_>>) -> Result<(), Error> {
        if mode == Mode::Fast {
            return run_on_host(self, calls);
        }
        let Some(desc) = self.desc(&calls)? else { return Ok(()) };
        if !desc.work.mode.is_array() {
            let alone = desc.for_array(1);
            return calls.into_iter().try_for_each(|call| alone.run(mode, call));
        }
        match HostProgram::new(&desc)? {
            HostProgram::OneSchedule(program) => Array(&*program).run(mode, calls),
            HostProgram::Roles(program) => Array(&*program).run(mode, calls),
        }
    }
}

impl CheckedKernel for Array<'_, Program> {
    type Call<'a> = Vec<HostCall<'a>>;

    fn run(&self, mode: Mode, calls: Vec<HostCall<'_>>) -> Result<(), Error> {
        let Mode::Checked { seed } = mode else { return run_on_host(self, calls) };
        each_launch(&self.0.desc, calls, |calls| gemm::execute(self.0, seed, calls))
    }
}

impl CheckedKernel for Array<'_, WarpSpecializedProgram> {
    type Call<'a> = Vec<HostCall<'a>>;

    fn run(&self, mode: Mode, calls: Vec<HostCall<'_>>) -> Result<(), Error> {
        let desc = &self.0.desc;
        desc.check()?;
        let Mode::Checked { seed } = mode else { return Err(has_roles(desc).into()) };
        each_launch(desc, calls, |calls| tma_ring::array::gathered(self.0, seed, calls))
    }
}

impl CheckedKernel for TransposeDesc {
    type Call<'a> = HostCall<'a>;

    fn run(&self, mode: Mode, call: HostCall<'_>) -> Result<(), Error> {
        if mode == Mode::Fast {
            return run_on_host(self, call);
        }
        self.check()?;
        TransposeProgram::new(self).run(mode, call)
    }
}

impl CheckedKernel for TransposeProgram {
    type Call<'a> = HostCall<'a>;

    /// The fast mode runs one tile on names, which verifies the maps, and then the description.
    fn run(&self, mode: Mode, call: HostCall<'_>) -> Result<(), Error> {
        self.desc.check()?;
        let Some(call) = transpose::entered(&self.desc, call)? else { return Ok(()) };
        let Mode::Checked { seed } = mode else {
            transpose::compose(self, &call.problem())?;
            return run_on_host(&self.desc, call);
        };
        transpose::tile_by_tile(self, call, seed)
    }
}
