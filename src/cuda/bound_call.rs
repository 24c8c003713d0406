//! Calls whose launches are prepared once and enqueued many times.

use super::{
    call_launches::CallLaunches, kernel::CudaKernel, loaded::uncaptured, operands::CudaCall,
};
use crate::{Error, refusal::Refusal, shape::Frame};
use core::fmt;
use cudarc::driver::CudaStream;
use std::sync::Arc;

/// A checked call on device memory with prepared launches.
/// [`Kernel::bind`](crate::device::Kernel::bind) lends it to a closure.
///
/// The matrices and the workspace stay borrowed, so their addresses do not change. The records of a
/// pointer array and group offsets from the host are therefore written only once, when the call is
/// bound. Device offsets of `groups_checked` are checked only then. A captured graph contains only
/// the remaining launches. It must not run after the workspace is freed or used by another call.
pub struct BoundCall<'a> {
    stream: &'a Arc<CudaStream>,
    launches: Vec<CallLaunches>,
    frame: Frame,
    /// The memory that the launches read and write. When it is dropped, cudarc learns that the
    /// stream has used the memory. Only this crate owns a `BoundCall`, so a user cannot leak one.
    _calls: Vec<CudaCall<'a>>,
}

impl BoundCall<'_> {
    /// Enqueues the GEMM with the current content of the matrices.
    ///
    /// # Errors
    /// [`Error::Driver`] if the driver refuses a launch. [`Error::Refused`] if `f16x3` cannot scale
    /// a row.
    pub fn run(&mut self) -> Result<(), Error> {
        let enqueued = match &self.launches[..] {
            [one] => one.enqueue_kernels(self.stream),
            // Several launches with records share the space for the records.
            all => all.iter().try_for_each(|launches| launches.enqueue(self.stream)),
        };
        enqueued.map_err(|error| error.leave(self.frame))
    }

    /// Enqueues the records. A captured stream would not write them.
    fn with_records(self) -> Result<Self, Error> {
        uncaptured(self.stream, Refusal::BIND_CAPTURED)?;
        if let [one] = &self.launches[..] {
            one.enqueue_records(self.stream)?;
        }
        Ok(self)
    }
}

impl fmt::Debug for BoundCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundCall").field("launches", &self.launches.len()).finish_non_exhaustive()
    }
}

impl CudaKernel {
    /// Checks a call, prepares its launches, and writes its records.
    pub(crate) fn bound<'a>(
        &self,
        stream: &'a Arc<CudaStream>,
        call: CudaCall<'a>,
    ) -> Result<BoundCall<'a>, Error> {
        let desc = self.desc().for_scalars(&call.scalars);
        let (call, frame) = (call.enter(&desc)?, desc.frame);
        let launches = self.entered_launches(stream, &desc, &call);
        let launches = Vec::from_iter(launches.map_err(|error| error.leave(frame))?);
        BoundCall { stream, launches, frame, _calls: vec![call] }.with_records()
    }

    /// Checks a pointer array, prepares its launches, and writes its records.
    pub(crate) fn bound_array<'a>(
        &self,
        stream: &'a Arc<CudaStream>,
        calls: Vec<CudaCall<'a>>,
    ) -> Result<BoundCall<'a>, Error> {
        let (launches, calls) = self.array_launches(stream, calls)?;
        BoundCall { stream, launches, frame: self.desc().frame, _calls: calls }.with_records()
    }

    /// Binds pointer arrays, and lends them to `body`.
    ///
    /// # Errors
    /// The errors of [`run_array`](Self::run_array) and of `body`, and [`Error::Refused`] if the
    /// stream is being captured.
    pub fn bind_arrays<T, E: From<Error>>(
        &self,
        stream: &Arc<CudaStream>,
        arrays: Vec<Vec<CudaCall<'_>>>,
        body: impl FnOnce(&mut [BoundCall<'_>]) -> Result<T, E>,
    ) -> Result<T, E> {
        let bound = arrays.into_iter().map(|calls| self.bound_array(stream, calls));
        body(&mut bound.collect::<Result<Vec<_>, _>>()?)
    }
}
