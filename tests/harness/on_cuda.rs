//! CUDA executor as a runner. Copies whole buffers with their guard zones to the device, and copies
//! D's buffer back.

use crate::harness::prelude::*;

/// Runner on device 0.
pub struct OnCuda(pub Arc<CudaContext>);

/// Runner on device 0 through PTX of an architecture, which the driver compiles.
pub struct ByPtx(OnCuda, ArchKind);

impl ByPtx {
    /// Opens the device. Panics on a machine without one.
    pub fn new(ptx: ArchKind) -> Self {
        Self(OnCuda::new(), ptx)
    }
}

impl Runner for ByPtx {
    fn name(&self) -> &'static str {
        "the device, by PTX"
    }

    fn needs_alignment(&self) -> bool {
        true
    }

    fn run(&self, desc: &GemmDesc, placed: Placed<'_>) -> Result<(), Error> {
        let kernel = CudaKernel::prepare_ptx(&self.0.0, desc, self.1)?;
        // The driver reports registers only for code that it compiled.
        assert!(
            kernel.report().registers > 0 && kernel.report().kind == ImageKind::Ptx,
            "{:?}",
            kernel.report()
        );
        self.0.compute(&kernel, placed)
    }
}

impl OnCuda {
    /// Opens the device. Panics on a machine without one.
    pub fn new() -> Self {
        Self(open(0).expect("this test runs on an NVIDIA GPU"))
    }

    fn compute(&self, kernel: &CudaKernel, placed: Placed<'_>) -> Result<(), Error> {
        let stream = self.0.new_stream()?;
        let mut resident = Resident::new(&stream, &placed.whole)?;
        resident.run(kernel, &placed.problem, placed.first)?;
        resident.download_results(&placed.whole.operands)?;
        resident.download(placed.whole.d)
    }
}

impl Runner for OnCuda {
    fn name(&self) -> &'static str {
        "the device"
    }

    fn needs_alignment(&self) -> bool {
        true
    }

    fn run(&self, desc: &GemmDesc, placed: Placed<'_>) -> Result<(), Error> {
        self.compute(&CudaKernel::prepare(&self.0, desc)?, placed)
    }
}
