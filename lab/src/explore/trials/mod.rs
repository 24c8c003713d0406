//! Trials: compile in parallel, verify, screen beside the reference, measure the best.
//!
//! What runs a kernel is a [`Device`], what compiles one a [`Compiler`], and time is a
//! [`Session`](crate::bench::Session)'s: tests have their own.

mod compile;
mod plan;
mod stage;

pub use compile::{BATCH, Compiled, Compiler, compile_all, compile_only};
pub use plan::{Book, Plan};
pub use stage::Stage;

use crate::{Error, bench::Launch};
use falchion::desc::GemmDesc;

/// What runs kernels of descriptions on one problem.
pub trait Device {
    /// Computes the product once, and compares it; `None` when it is right, what is wrong
    /// otherwise.
    ///
    /// # Errors
    /// [`falchion::Error::Driver`] and [`Error::Measurement`] if the kernel left the device
    /// unusable; other errors if the kernel did not run.
    fn verify(&self, desc: &GemmDesc) -> Result<Option<String>, Error>;

    /// Enqueues the product on the buffers `set`.
    ///
    /// # Errors
    /// Whatever stopped it.
    fn launch(&self, desc: &GemmDesc, set: usize) -> Result<(), Error>;
}

/// A description on a device, to be timed.
pub struct Contestant<'d> {
    device: &'d dyn Device,
    desc: GemmDesc,
    name: String,
}

impl<'d> Contestant<'d> {
    /// A description under a name of its own.
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
