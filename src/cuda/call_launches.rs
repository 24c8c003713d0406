//! Launches of a checked call.

use super::{
    kernel::CudaKernel,
    pass::{CudaPass, check_window},
};
use crate::{
    Error,
    operand::{
        Pass, PassDesc,
        records::{Records, RecordsLaunch},
    },
    threadblock::Launch,
};
use cudarc::driver::CudaStream;
use std::sync::Arc;

/// Launches of a GEMM or of an array. All checks that do not need the device have passed.
pub(super) struct CallLaunches {
    /// The pass that writes the records of the call, with its launches.
    records: Option<(CudaPass, Vec<RecordsLaunch>)>,
    passes: [Option<Pass>; 3],
    /// The passes that copy operands, with their launches.
    copies: Vec<(CudaPass, Vec<Launch>)>,
    kernel: CudaKernel,
    launch: Launch,
}

impl CallLaunches {
    /// Creates a launch without passes.
    pub const fn new(kernel: CudaKernel, launch: Launch) -> Self {
        Self { records: None, passes: [None, None, None], copies: Vec::new(), kernel, launch }
    }

    /// Adds the passes of A and B, and the launches of these passes.
    pub fn with_passes(
        self,
        passes: [Option<Pass>; 3],
        copies: Vec<(CudaPass, Vec<Launch>)>,
    ) -> Self {
        Self { passes, copies, ..self }
    }

    /// Adds the pass that writes `records` to `address`.
    pub fn with_records(
        self,
        stream: &CudaStream,
        records: &Records,
        address: u64,
    ) -> Result<Self, Error> {
        let pass = CudaPass::for_run(stream, &PassDesc::Records(records.desc()))?;
        Ok(Self { records: Some((pass, records.launches(address))), ..self })
    }

    /// Returns the launch of `kernel`, if it is the only work of the call.
    pub fn only_launch_of(&self, kernel: &CudaKernel) -> Option<&Launch> {
        let only = self.records.is_none()
            && self.passes.iter().all(Option::is_none)
            && Arc::ptr_eq(&self.kernel.0, &kernel.0);
        only.then_some(&self.launch)
    }

    /// Enqueues all launches.
    pub fn enqueue(&self, stream: &CudaStream) -> Result<(), Error> {
        self.enqueue_records(stream)?;
        self.enqueue_kernels(stream)
    }

    /// Enqueues the pass that writes the records.
    pub fn enqueue_records(&self, stream: &CudaStream) -> Result<(), Error> {
        let Some((pass, launches)) = &self.records else { return Ok(()) };
        pass.enqueue_records(stream, launches)
    }

    /// Enqueues the kernel, and the passes for its operands. The records have been written.
    pub fn enqueue_kernels(&self, stream: &CudaStream) -> Result<(), Error> {
        for (pass, launches) in &self.copies {
            pass.enqueue(stream, launches)?;
        }
        // Only the device detects rows that a pass cannot scale.
        check_window(stream, &self.passes)?;
        self.kernel.0.loaded.launch(stream, &self.launch)
    }
}
