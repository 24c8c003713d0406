//! Launches of one algorithm on rotated buffer sets.
#![allow(unsafe_code)]

use super::plan::{LtAddresses, LtAlgorithm, LtPlan};
use super::{ALIGNMENT_BYTES, Lt, LtOperand};
use crate::Error;
use cudarc::driver::{CudaStream, DevicePtr};
use falchion::internals::sys::driver::driver;
use std::{marker::PhantomData, sync::Arc};

/// Device memory that outlives `'a`.
///
/// It is a shared borrow, although GEMMs write to it. The host has no reference to device memory,
/// all bit patterns are valid elements, and the stream orders reads, writes, and the release.
#[derive(Clone, Copy, Debug)]
pub struct Region<'a> {
    address: u64,
    bytes: usize,
    stream: usize,
    _memory: PhantomData<&'a ()>,
}

impl<'a> Region<'a> {
    /// Returns the memory of a slice or a view. Only work on the stream of its allocation may use
    /// it.
    pub fn from_slice<T: bytemuck::Pod>(slice: &'a impl DevicePtr<T>) -> Self {
        let stream = slice.stream();
        let (address, _guard) = slice.device_ptr(stream);
        Self {
            address,
            bytes: slice.num_bytes(),
            stream: stream.cu_stream() as usize,
            _memory: PhantomData,
        }
    }

    /// Returns the memory from a byte on.
    #[must_use]
    pub fn from(self, first: usize) -> Self {
        let first = first.min(self.bytes);
        Self { address: self.address + first as u64, bytes: self.bytes - first, ..self }
    }

    /// Returns the device address.
    pub(in crate::sys) fn address(&self) -> u64 {
        self.address
    }

    /// Returns the length in bytes.
    pub(in crate::sys) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The buffers of one GEMM. C may be D.
#[derive(Clone, Copy, Debug)]
pub struct LtSet<'a> {
    /// A.
    pub a: Region<'a>,
    /// B.
    pub b: Region<'a>,
    /// C.
    pub c: Region<'a>,
    /// D.
    pub d: Region<'a>,
}

/// One algorithm with its buffers. The constructor checks the buffers against the problem, so a
/// launch is one call.
pub struct LtLaunch<'a> {
    lt: &'a Lt,
    plan: &'a LtPlan,
    algorithm: LtAlgorithm,
    sets: &'a [LtSet<'a>],
    workspace: Option<Region<'a>>,
    stream: Arc<CudaStream>,
    name: String,
}

impl Lt {
    /// Enqueues a GEMM.
    ///
    /// # Safety
    /// The addresses belong to this device. They have the alignment of the plan's problem, and the
    /// workspace is aligned to 256 bytes. The memory covers the problem's spans and
    /// `workspace_bytes`, and stays alive until the stream has run the GEMM. No other launch uses
    /// the workspace at the same time.
    ///
    /// # Errors
    /// - [`Error::Measurement`] if `algorithm` belongs to another plan, or the stream to another
    ///   context.
    /// - [`falchion::Error::Driver`] if cuBLASLt returns an error code.
    pub unsafe fn launch(
        &self,
        plan: &LtPlan,
        algorithm: &LtAlgorithm,
        at: &LtAddresses,
        stream: &CudaStream,
    ) -> Result<(), Error> {
        if !plan.offers(algorithm) || stream.context() != self.context() {
            return Err(refused(
                "the algorithm is another plan's, or the stream another context's",
            ));
        }
        self.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        // SAFETY: the caller's promise, and the checks above.
        Ok(unsafe { plan.enqueue(self.handle, algorithm, at, stream.cu_stream().cast()) }?)
    }
}

impl<'a> LtLaunch<'a> {
    /// Binds `algorithm` to buffers, and checks every set and the workspace.
    ///
    /// # Errors
    /// [`Error::Measurement`] if there is no set, or if a buffer is too short, misaligned, or on
    /// another stream.
    pub fn new(
        lt: &'a Lt,
        plan: &'a LtPlan,
        algorithm: LtAlgorithm,
        sets: &'a [LtSet<'a>],
        workspace: Option<Region<'a>>,
        stream: &Arc<CudaStream>,
    ) -> Result<Self, Error> {
        if sets.is_empty() {
            return Err(refused("there is no set of buffers"));
        }
        let p = plan.problem();
        for set in sets {
            let [a, b, c, d] = p.alignment;
            fits("A", set.a, (span(&p.a, p.m, p.k, p.batch)?, a), stream)?;
            fits("B", set.b, (span(&p.b, p.k, p.n, p.batch)?, b), stream)?;
            fits("C", set.c, (span(&p.c, p.m, p.n, p.batch)?, c), stream)?;
            fits("D", set.d, (span(&p.d, p.m, p.n, p.batch)?, d), stream)?;
        }
        match workspace {
            Some(region) => {
                fits("the workspace", region, (algorithm.workspace_bytes, ALIGNMENT_BYTES), stream)?
            }
            None if algorithm.workspace_bytes == 0 => {}
            None => return Err(refused("the algorithm needs a workspace and there is none")),
        }
        let name = format!("cublaslt heuristic {}", algorithm.rank);
        Ok(Self { lt, plan, algorithm, sets, workspace, stream: Arc::clone(stream), name })
    }

    /// Returns the name. `cublaslt heuristic 0` is the library's own choice.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Enqueues the GEMM on buffers `set`, modulo the number of sets.
    ///
    /// # Errors
    /// The errors of [`Lt::launch`].
    pub fn enqueue(&self, set: usize) -> Result<(), Error> {
        let LtSet { a, b, c, d } = self.sets[set % self.sets.len()];
        let at = LtAddresses {
            a: a.address,
            b: b.address,
            c: c.address,
            d: d.address,
            workspace: self.workspace.map_or(0, |region| region.address),
            workspace_bytes: self.workspace.map_or(0, |region| region.bytes),
        };
        // SAFETY: `new` has checked the stream, the alignment, and the length of each buffer; the
        // borrows keep them alive, and cudarc releases memory after the work of the stream on which
        // it was allocated.
        unsafe { self.lt.launch(self.plan, &self.algorithm, &at, &self.stream) }
    }
}

fn span(x: &LtOperand, rows: u64, columns: u64, batch: u32) -> Result<usize, Error> {
    x.span_bytes(rows, columns, batch)
        .ok_or_else(|| refused("an operand is longer than the address space"))
}

fn fits(
    name: &str,
    region: Region<'_>,
    (bytes, alignment): (usize, u32),
    stream: &CudaStream,
) -> Result<(), Error> {
    let because = if region.bytes < bytes {
        format!("{name} has {} bytes and the problem needs {bytes}", region.bytes)
    } else if !region.address.is_multiple_of(alignment.into()) {
        format!("{name} starts at an address that is not a multiple of {alignment} bytes")
    } else if region.stream != stream.cu_stream() as usize {
        format!("{name} was allocated on another stream than the one that is timed")
    } else {
        return Ok(());
    };
    Err(refused(&because))
}

fn refused(because: &str) -> Error {
    Error::Measurement { because: because.to_owned() }
}
