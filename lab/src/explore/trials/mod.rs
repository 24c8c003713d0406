//! Trials: compile in parallel, verify, screen beside the reference, and measure the best.
//!
//! A [`Device`] runs kernels, a [`Compiler`] compiles them, and a
//! [`Session`](crate::bench::Session) measures time. Tests have their own implementations.

mod compile;
mod plan;
mod stage;

pub use compile::{BATCH, Compiled, Compiler, compile_all, compile_only};
pub use plan::{Book, Plan};
pub use stage::Stage;

use crate::{Error, bench::Launch};
use falchion::nest::GemmDesc;

/// A device that runs kernels of descriptions on one problem.
pub trait Device {
    /// Computes the GEMM once, and compares the result. Returns `None` if it is right, and a
    /// description of the error otherwise.
    ///
    /// # Errors
    /// [`falchion::Error::Driver`] and [`Error::Measurement`] if the kernel left the device
    /// unusable; other errors if the kernel did not run.
    fn verify(&self, desc: &GemmDesc) -> Result<Option<String>, Error>;

    /// Enqueues the GEMM on the buffers `set`.
    ///
    /// # Errors
    /// The error of the launch.
    fn launch(&self, desc: &GemmDesc, set: usize) -> Result<(), Error>;
}

/// A description on a device, ready for timing.
pub struct Contestant<'d> {
    device: &'d dyn Device,
    desc: GemmDesc,
    name: String,
}

impl<'d> Contestant<'d> {
    /// Returns a contender with its own name.
    pub fn new(device: &'d dyn Device, desc: &GemmDesc, name: impl Into<String>) -> Self {
        Self { device, desc: *desc, name: name.into() }
    }
}

impl Launch for Contestant<'_> {
    fn launch(&mut self, set: usize) -> Result<(), Error> {
        self.device.launch(&self.desc, set)
    }

    fn name(&self) -> &str {
        &self.name
    }
}
