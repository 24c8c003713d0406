//! Calls whose launches are prepared once and enqueued many times.

use super::{kernel::CudaKernel, loaded::uncaptured, operands::CudaCall, ready::Ready};
use crate::{error::Error, operand::Frame, refusal::Refusal};
use core::fmt;
use cudarc::driver::CudaStream;
use std::sync::Arc;

/// A checked call on device memory with prepared launches.
/// [`Kernel::bind`](crate::device::Kernel::bind) creates it.
///
/// The matrices and the workspace stay borrowed, so their addresses do not change. The records of a
/// pointer array and group offsets from the host are therefore written only once, when the call is
/// bound. A captured graph contains only the remaining launches. It must not run after the
/// workspace is freed or used by another call.
pub struct BoundCall<'a> {
    stream: &'a Arc<CudaStream>,
    ready: Vec<Ready>,
    frame: Frame,
    /// The memory that the launches read and write.
    _calls: Vec<CudaCall<'a>>,
}

impl BoundCall<'_> {
    /// Enqueues the GEMM with the current content of the matrices.
    ///
    /// # Errors
    /// [`Error::Driver`] if the driver refuses a launch. [`Error::Refused`] if `f16x3` cannot scale
    /// a row.
    pub fn run(&mut self) -> Result<(), Error> {
        let enqueued = match &self.ready[..] {
            [one] => one.enqueue_kernels(self.stream),
            // Several launches with records share the space for the records.
            all => all.iter().try_for_each(|ready| ready.enqueue(self.stream)),
        };
        enqueued.map_err(|error| error.leave(self.frame))
    }
}

impl fmt::Debug for BoundCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundCall").field("launches", &self.ready.len()).finish_non_exhaustive()
    }
}

impl CudaKernel {
    /// Checks a call, prepares its launches, and writes its records.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run), and [`Error::Refused`] if the stream is being captured.
    pub fn bind<'a>(
        &self,
        stream: &'a Arc<CudaStream>,
        call: CudaCall<'a>,
    ) -> Result<BoundCall<'a>, Error> {
        let desc = self.desc().for_scalars(&call.scalars);
        let call = call.enter(&desc)?;
        let ready = self.ready_call(stream, &desc, &call);
        let ready = ready.map_err(|error| error.leave(desc.frame))?;
        BoundCall { stream, ready: Vec::from_iter(ready), frame: desc.frame, _calls: vec![call] }
            .with_records()
    }

    /// Binds a pointer array, as [`bind`](Self::bind) does for one call.
    ///
    /// # Errors
    /// The errors of [`run_array`](Self::run_array), and [`Error::Refused`] if the stream is being
    /// captured.
    pub fn bind_array<'a>(
        &self,
        stream: &'a Arc<CudaStream>,
        calls: Vec<CudaCall<'a>>,
    ) -> Result<BoundCall<'a>, Error> {
        let (ready, calls) = self.ready_array(stream, calls)?;
        BoundCall { stream, ready, frame: self.desc().frame, _calls: calls }.with_records()
    }
}

impl BoundCall<'_> {
    /// Enqueues the records, which a captured stream would not write.
    fn with_records(self) -> Result<Self, Error> {
        uncaptured(self.stream, Refusal::BIND_CAPTURED)?;
        if let [one] = &self.ready[..] {
            one.enqueue_records(self.stream)?;
        }
        Ok(self)
    }
}
