//! Operands of a product or a transpose, copied to a device and back: for tools and tests, whose
//! matrices are values.

use crate::layout::cute_gemm::CuteGemmKernel;
use cudarc::driver::{CudaSlice, CudaStream};
use falchion::{
    Error,
    cuda::{CudaKernel, CudaMatrices, DeviceMatrix, transpose},
    internals::{
        call::{HostMatrices, HostSlice, HostSliceMut, Problem, Source},
        operand::Vectors,
        pass::transpose::{Choice, Combine, HostTransposeCall, TransposeProblem},
        sys::driver::driver,
    },
    numeric::ElementKind,
    refusal::{Operand, Refusal},
};
use std::sync::Arc;

/// One matrix on a device.
pub(super) struct Copied {
    pub kind: ElementKind,
    pub bytes: CudaSlice<u8>,
}

impl Copied {
    pub fn new(stream: &Arc<CudaStream>, kind: ElementKind, bytes: &[u8]) -> Result<Self, Error> {
        // The driver allocates nothing for nothing: an empty matrix gets the room of one element.
        let room = if bytes.is_empty() { &[0; 16][..] } else { bytes };
        Ok(Self { kind, bytes: stream.clone_htod(room).map_err(driver("cuMemcpyHtoDAsync"))? })
    }

    pub fn read<'a>(&'a self, stream: &'a CudaStream) -> DeviceMatrix<'a> {
        DeviceMatrix::read_bytes(self.kind, &self.bytes, stream)
    }

    /// Waits for the device, and copies the matrix back.
    pub fn download(
        &self,
        stream: &Arc<CudaStream>,
        mut into: HostSliceMut<'_>,
    ) -> Result<(), Error> {
        let bytes = into.bytes_mut();
        if !bytes.is_empty() {
            stream.memcpy_dtoh(&self.bytes, bytes).map_err(driver("cuMemcpyDtoHAsync"))?;
        }
        stream.synchronize().map_err(driver("cuStreamSynchronize"))
    }
}

/// The operands of a product or a transpose on a device.
pub struct Resident {
    stream: Arc<CudaStream>,
    a: Copied,
    /// B of a product.
    b: Option<Copied>,
    /// C of a product, B of a transpose.
    c: Source<Copied>,
    d: Copied,
    vectors: Vectors<Copied>,
    /// Where groups begin, which launches take by value.
    offsets: Option<Vec<u32>>,
    /// As large as the last run took.
    workspace: Option<CudaSlice<u8>>,
}

impl Resident {
    /// Copies the operands, what D holds among them.
    ///
    /// # Errors
    /// [`Error::Driver`] when the device has no room.
    pub fn new(stream: &Arc<CudaStream>, matrices: &HostMatrices<'_>) -> Result<Self, Error> {
        let HostMatrices { a, b, c, d, vectors } = matrices;
        let copied = |matrix: &HostSlice<'_>| Copied::new(stream, matrix.kind(), matrix.bytes());
        let c = c.as_ref().try_map(copied)?;
        let d = Copied::new(stream, d.kind(), d.bytes())?;
        let vectors = vectors.as_ref().try_map(|_, vector| copied(vector))?;
        Ok(Self {
            stream: stream.clone(),
            a: copied(a)?,
            b: Some(copied(b)?),
            c,
            d,
            vectors,
            offsets: None,
            workspace: None,
        })
    }

    /// Where the groups of a product's rows begin, too.
    #[must_use]
    pub fn with_groups(self, offsets: Vec<u32>) -> Self {
        Self { offsets: Some(offsets), ..self }
    }

    /// Enqueues the product of matrices that begin at the elements `first` of A, B, C and D. The
    /// workspace that it takes is allocated when it is first needed.
    ///
    /// # Errors
    /// Those of [`CudaKernel::run`]; [`Error::Driver`] when the device has no room.
    pub fn run(
        &mut self,
        kernel: &CudaKernel,
        problem: &Problem,
        first: [usize; 4],
    ) -> Result<(), Error> {
        let Self { stream, a, b, c, d, vectors, offsets, workspace } = self;
        let c = c.as_ref().map(|c| c.read(stream).from(first[2]));
        let d = DeviceMatrix::write_bytes(d.kind, &mut d.bytes, stream).from(first[3]);
        let (a, b) = (a.read(stream).from(first[0]), factor(b)?.read(stream).from(first[1]));
        let vectors = vectors.as_ref().map(|_, vector| vector.read(stream));
        let mut call = problem.with(CudaMatrices { a, b, c, d, vectors });
        call.groups = problem
            .groups
            .zip(offsets.as_ref())
            .map(|(groups, offsets)| groups.with(DeviceMatrix::by_value(offsets)));
        let needed = kernel.desc().routes(&call.problem())?.workspace_bytes();
        if needed > workspace.as_ref().map_or(0, |bytes| bytes.len() as u64) {
            // What is refused takes no memory.
            problem.enter(&kernel.desc().for_scalars(&problem.scalars))?;
            *workspace =
                Some(stream.alloc_zeros(needed as usize).map_err(driver("cuMemAllocAsync"))?);
        }
        call.workspace = workspace
            .as_mut()
            .map(|bytes| DeviceMatrix::write_bytes(ElementKind::U8, bytes, stream));
        kernel.run(stream, call)
    }

    /// Copies the operands of a transpose, what D holds among them.
    ///
    /// # Errors
    /// [`Error::Driver`] when the device has no room.
    pub fn of_transpose(
        stream: &Arc<CudaStream>,
        call: &HostTransposeCall<'_>,
    ) -> Result<Self, Error> {
        let copied = |matrix: &HostSlice<'_>| Copied::new(stream, matrix.kind(), matrix.bytes());
        let c = call.b.as_ref().try_map(|b| copied(&b.memory))?;
        let d = Copied::new(stream, call.d.memory.kind(), call.d.memory.bytes())?;
        Ok(Self {
            stream: stream.clone(),
            a: copied(&call.a.memory)?,
            b: None,
            c,
            d,
            vectors: Vectors::NONE,
            offsets: None,
            workspace: None,
        })
    }

    /// Enqueues the transpose of matrices that begin at the elements `first` of A, B and D.
    ///
    /// # Errors
    /// Those of [`transpose`].
    pub fn transpose(
        &mut self,
        choice: Choice,
        combine: Combine,
        problem: &TransposeProblem,
        first: [usize; 3],
    ) -> Result<(), Error> {
        let Self { stream, a, c, d, .. } = self;
        let b = c.as_ref().map(|b| b.read(stream).from(first[1]));
        let d = DeviceMatrix::write_bytes(d.kind, &mut d.bytes, stream).from(first[2]);
        transpose(choice, combine, stream, &problem.with(a.read(stream).from(first[0]), b, d))
    }

    /// Enqueues the GEMM of CuTe's layouts, whose C is D here, of matrices that begin at the
    /// elements `first` of A, B and D.
    ///
    /// # Errors
    /// Those of [`CuteGemmKernel::run`].
    pub fn run_cute_gemm(
        &mut self,
        kernel: &CuteGemmKernel,
        first: [usize; 3],
    ) -> Result<(), Error> {
        let Self { stream, a, b, d, .. } = self;
        let written = DeviceMatrix::write_bytes(d.kind, &mut d.bytes, stream).from(first[2]);
        kernel.run(
            stream,
            a.read(stream).from(first[0]),
            factor(b)?.read(stream).from(first[1]),
            written,
        )
    }

    /// Waits for the device, and copies D back.
    ///
    /// # Errors
    /// [`Error::Driver`] when the device has failed.
    pub fn download(&self, d: HostSliceMut<'_>) -> Result<(), Error> {
        self.d.download(&self.stream, d)
    }
}

/// B of a product.
fn factor(b: &Option<Copied>) -> Result<&Copied, Refusal> {
    b.as_ref().ok_or(Refusal::MissingOperand { operand: Operand::B })
}

/// Computes one product of host operands on a device: copies, runs, waits, copies back.
///
/// # Errors
/// Those of [`CudaKernel::prepare`] and [`CudaKernel::run`].
pub fn run_from_host(
    stream: &Arc<CudaStream>,
    kernel: &CudaKernel,
    problem: &Problem,
    matrices: HostMatrices<'_>,
) -> Result<(), Error> {
    let mut resident = Resident::new(stream, &matrices)?;
    resident.run(kernel, problem, [0; 4])?;
    resident.download(matrices.d)
}
