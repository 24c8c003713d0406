//! Time on the device: events that keep time, and launches recorded once to be replayed.

use crate::Error;
use cudarc::driver::{CudaEvent, CudaGraph, CudaStream, sys};
use falchion::internals::sys::driver::driver;
use std::sync::Arc;

/// Two events on one stream, and the time between them.
///
/// The events are made with `CU_EVENT_DEFAULT`: cudarc's own default switches timing off.
#[derive(Debug)]
pub struct Stopwatch {
    stream: Arc<CudaStream>,
    start: CudaEvent,
    end: CudaEvent,
}

impl Stopwatch {
    /// A stopwatch for the work of `stream`.
    ///
    /// # Errors
    /// What the driver answers when an event cannot be made.
    pub fn new(stream: &Arc<CudaStream>) -> Result<Self, Error> {
        let event = || {
            stream
                .context()
                .new_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT))
                .map_err(driver("cuEventCreate"))
        };
        Ok(Self { stream: Arc::clone(stream), start: event()?, end: event()? })
    }

    /// The stream whose work is timed.
    #[must_use]
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Enqueues what `work` enqueues, waits for it, and answers the device time it took, in
    /// microseconds.
    ///
    /// The resolution is half a microsecond: time many launches at once.
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

/// While it lives, cudarc keeps no events of memory that is allocated: work on it can be captured,
/// and no launch waits for another.
///
/// Made where all memory is allocated, used and released on one stream: by
/// [`Bench`](crate::bench::measure::Bench), by
/// [`TransposeBench`](crate::bench::transpose::measure::TransposeBench) and by
/// [`Gpu`](crate::explore::device::Gpu).
pub(crate) struct Untracked(Arc<CudaStream>);

impl Untracked {
    /// From now on.
    pub(crate) fn new(stream: &Arc<CudaStream>) -> Self {
        // SAFETY: what is allocated meanwhile is used on this stream alone, which orders its uses
        // and its release.
        unsafe { stream.context().disable_event_tracking() };
        Self(Arc::clone(stream))
    }
}

impl Drop for Untracked {
    fn drop(&mut self) {
        // SAFETY: events are kept again of what is allocated from now on; nothing of before is left
        // that has none.
        unsafe { self.0.context().enable_event_tracking() };
    }
}

/// Launches captured from a stream into a graph: replaying them costs no host time each.
pub struct Recording {
    graph: CudaGraph,
}

impl Recording {
    /// Captures what `work` enqueues on `stream`; `None` when it cannot be captured, and nothing
    /// was run.
    ///
    /// The default stream cannot be captured, nor can work that allocates, synchronizes, or waits
    /// for events recorded before: cudarc does the latter unless its event tracking is off. Kernels
    /// should have run once before, since modules load lazily.
    ///
    /// # Errors
    /// What the driver answers when the stream cannot be brought back from a capture that failed.
    pub fn capture(
        stream: &Arc<CudaStream>,
        work: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Option<Self>, Error> {
        // Relaxed: a peer library may call functions that the stricter modes forbid to the whole
        // thread.
        if stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED).is_err() {
            return Ok(None);
        }
        let worked = work();
        // cudarc keeps errors of dropped guards for the next call, which would fail in their place:
        // here, before it has ended the capture. They belong to work that could not be captured.
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

    /// Enqueues the recorded launches once, on the stream they were captured from.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn replay(&self) -> Result<(), Error> {
        Ok(self.graph.launch().map_err(driver("cuGraphLaunch"))?)
    }
}
