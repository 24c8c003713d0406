//! Workspace that grows to the size that a call needs.

use super::loaded::uncaptured;
use crate::{Error, refusal::Refusal, sys::driver::driver};
use cudarc::driver::{CudaSlice, CudaStream};
use std::sync::Arc;

/// Device memory for copies of operands, split-K partials, and tables. [`Arguments::workspace`]
/// accepts a `Workspace`. A call that needs more bytes allocates the bytes on its stream.
///
/// ```no_run
/// use falchion::{cuda::{Workspace, open}, prelude::*};
///
/// let stream = open(0)?.default_stream();
/// let (a, b) = (stream.alloc_zeros::<f32>(64 * 4096)?, stream.alloc_zeros::<f32>(4096 * 64)?);
/// let mut d = stream.alloc_zeros::<f32>(64 * 64)?;
/// let gemm = Gemm::<f32>::new();
/// let mut workspace = Workspace::new();
/// gemm.run(Arguments::new((64, 64, 4096), &a, &b, &mut d).workspace(&mut workspace))?;
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// A stream that is being captured cannot allocate. Reserve the bytes before the capture.
/// Falchion refuses a call that needs more bytes, and the refusal states the number of bytes. Calls
/// on several streams may share a workspace, because each stream waits for the previous stream.
///
/// [`Arguments::workspace`]: crate::device::Arguments::workspace
#[derive(Debug, Default)]
pub struct Workspace {
    memory: Option<CudaSlice<u8>>,
    /// The stream of the last call.
    last: Option<Arc<CudaStream>>,
}

impl Workspace {
    /// Creates an empty workspace, without an allocation.
    pub const fn new() -> Self {
        Self { memory: None, last: None }
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> u64 {
        self.memory.as_ref().map_or(0, |memory| memory.len() as u64)
    }

    /// Grows the workspace to at least `bytes` bytes, allocated on `stream`. A workspace that is
    /// large enough stays as it is.
    ///
    /// # Errors
    /// [`Refusal`] if the workspace must grow and `stream` is being captured. [`Error::Driver`] if
    /// the device has no memory left.
    pub fn reserve(&mut self, stream: &Arc<CudaStream>, bytes: u64) -> Result<(), Error> {
        let given = self.bytes();
        if given >= bytes {
            return Ok(());
        }
        uncaptured(stream, Refusal::workspace_captured(given, bytes))?;
        // The allocating stream frees the old memory after the last call has finished.
        if let (Some(old), Some(last)) = (&self.memory, &self.last)
            && old.stream() != last
        {
            old.stream().join(last)?;
        }
        self.memory = None;
        self.last = None;
        self.memory = Some(stream.alloc_zeros(bytes as usize).map_err(driver("cuMemAllocAsync"))?);
        self.last = Some(stream.clone());
        Ok(())
    }

    /// Returns at least `bytes` bytes for work on `stream`, which waits for the last call.
    ///
    /// # Errors
    /// The errors of [`reserve`](Self::reserve).
    pub(crate) fn grow(
        &mut self,
        stream: &Arc<CudaStream>,
        bytes: u64,
    ) -> Result<&mut CudaSlice<u8>, Error> {
        self.reserve(stream, bytes)?;
        if let Some(last) = self.last.as_ref().filter(|last| *last != stream) {
            stream.join(last)?;
            self.last = Some(stream.clone());
        }
        self.memory.as_mut().ok_or_else(|| Refusal::workspace_captured(0, bytes).into())
    }
}
