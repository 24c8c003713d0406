//! Time on the device: timing events, and graphs of recorded launches.

use crate::Error;
use cudarc::driver::{CudaEvent, CudaGraph, CudaStream, sys};
use falchion::internals::sys::driver::driver;
use std::sync::Arc;

/// Two events on one stream, which measure the time between them.
///
/// The events have the flag `CU_EVENT_DEFAULT`, because cudarc's default disables timing.
#[derive(Debug)]
pub struct Stopwatch {
    stream: Arc<CudaStream>,
    start: CudaEvent,
    end: CudaEvent,
}

impl Stopwatch {
    /// Returns a stopwatch for the work on `stream`.
    ///
    /// # Errors
    /// The error of the driver if an event cannot be created.
    pub fn new(stream: &Arc<CudaStream>) -> Result<Self, Error> {
        let event = || {
            stream
                .context()
                .new_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT))
                .map_err(driver("cuEventCreate"))
        };
        Ok(Self { stream: Arc::clone(stream), start: event()?, end: event()? })
    }

    /// Returns the stream.
    #[must_use]
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Runs `work`, synchronizes, and returns the device time of the enqueued work in microseconds.
    ///
    /// The resolution is half a microsecond, so time many launches at once.
    ///
    /// # Errors
    /// The error of `work`, or of the driver; a kernel that failed on the device is found here.
    pub fn time<E: From<falchion::Error>>(
        &self,
        work: impl FnOnce() -> Result<(), E>,
    ) -> Result<f64, E> {
        self.start.record(&self.stream).map_err(driver("cuEventRecord"))?;
        work()?;
        self.end.record(&self.stream).map_err(driver("cuEventRecord"))?;
        self.end.synchronize().map_err(driver("cuEventSynchronize"))?;
        let milliseconds =
            self.start.elapsed_ms(&self.end).map_err(driver("cuEventElapsedTime"))?;
        Ok(f64::from(milliseconds) * 1000.0)
    }
}

/// A guard that disables cudarc's event tracking for new allocations. Work on them can be captured,
/// and no launch waits for another.
///
/// All memory under the guard must be allocated, used, and released on one stream, as in
/// [`Bench`](crate::bench::measure::Bench) and [`Gpu`](crate::explore::device::Gpu).
pub(crate) struct Untracked(Arc<CudaStream>);

impl Untracked {
    /// Disables event tracking.
    pub(crate) fn new(stream: &Arc<CudaStream>) -> Self {
        // SAFETY: memory that is allocated under the guard is used only on this stream, which
        // orders its uses and its release.
        unsafe { stream.context().disable_event_tracking() };
        Self(Arc::clone(stream))
    }
}

impl Drop for Untracked {
    fn drop(&mut self) {
        // SAFETY: tracking covers later allocations; no memory without events from the guarded
        // period is left.
        unsafe { self.0.context().enable_event_tracking() };
    }
}

/// Launches that were captured from a stream into a graph. A replay needs no host time per launch.
pub struct Recording {
    graph: CudaGraph,
}

impl Recording {
    /// Captures the work that `work` enqueues on `stream`. Returns `None` if it cannot be captured;
    /// nothing has run then.
    ///
    /// The default stream cannot be captured. Work that allocates, synchronizes, or waits for
    /// earlier events cannot be captured either. cudarc waits for events unless its event tracking
    /// is off. Kernels should run once before the capture, because modules load lazily.
    ///
    /// # Errors
    /// The error of the driver if the stream cannot leave a failed capture.
    pub fn capture(
        stream: &Arc<CudaStream>,
        work: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Option<Self>, Error> {
        // Relaxed, because a peer library may call functions that the stricter modes forbid for the
        // whole thread.
        if stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED).is_err() {
            return Ok(None);
        }
        let worked = work();
        // cudarc stores errors of dropped guards, and the next call would return them. They are
        // read here, before the capture ends, because they belong to the work that could not be
        // captured.
        let kept = stream.context().check_err();
        let ended = stream.end_capture(sys::CUgraphInstantiate_flags(0));
        match (worked.and(kept.map_err(|error| driver("cuStreamWaitEvent")(error).into())), ended) {
            (Ok(()), Ok(Some(graph))) => Ok(graph.upload().is_ok().then_some(Self { graph })),
            _ => {
                let _ = stream.context().check_err();
                let capturing = stream.capture_status().map_err(driver("cuStreamIsCapturing"))?;
                if capturing == sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE {
                    Ok(None)
                } else {
                    Err(Error::Measurement {
                        because: "a stream stayed in capture after the capture had ended"
                            .to_owned(),
                    })
                }
            }
        }
    }

    /// Enqueues the recorded launches once, on the stream of the capture.
    ///
    /// # Errors
    /// The error of the driver.
    pub fn replay(&self) -> Result<(), Error> {
        Ok(self.graph.launch().map_err(driver("cuGraphLaunch"))?)
    }
}
