//! The CUDA executor as a runner: buffers are copied to the device whole, guard zones and all, and D's comes back whole.

use super::case::Runner;
use falchion::{
    Error,
    cuda::{CudaKernel, open},
    desc::GemmDesc,
    internals::call::{HostMatrices, Problem},
};
use falchion_lab::owned::resident::Resident;
use std::sync::Arc;

/// The first device.
pub struct OnCuda(pub Arc<cudarc::driver::CudaContext>);

impl OnCuda {
    /// Opens the device; a machine without one fails the test.
    pub fn new() -> Self {
        Self(open(0).expect("this test runs on an NVIDIA GPU"))
    }
}

impl Runner for OnCuda {
    fn name(&self) -> &'static str {
        "the device"
    }

    fn needs_alignment(&self) -> bool {
        true
    }

    fn run(&self, desc: &GemmDesc, problem: &Problem, whole: HostMatrices<'_>, first: [usize; 4]) -> Result<(), Error> {
        let failed = |error: cudarc::driver::DriverError| Error::Measurement { because: error.to_string() };
        let stream = self.0.new_stream().map_err(failed)?;
        let kernel = CudaKernel::prepare(&self.0, desc)?;
        let mut resident = Resident::new(&stream, &whole)?;
        resident.run(&kernel, problem, first)?;
        resident.download(whole.d)
    }
}
