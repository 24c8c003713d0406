//! The operands of a GEMM or a transpose in device memory, for tools and tests whose matrices are
//! run-time values.

use crate::layout::cute_gemm::CuteGemmKernel;
use cudarc::driver::{CudaSlice, CudaStream};
use falchion::{
    Error,
    cuda::{CudaCall, CudaKernel, CudaMatrices, DeviceMatrix, transpose},
    internals::{
        operand::{
            Elements, HostMatrices, HostSlice, HostSliceMut, Problem, Source, View,
            transpose::Choice,
        },
        shape::EpilogueOperands,
        sys::driver::driver,
    },
    numeric::ElementKind,
};
use std::sync::Arc;

/// A matrix in device memory.
pub(super) struct Copied {
    pub kind: ElementKind,
    pub bytes: CudaSlice<u8>,
}

impl Copied {
    pub fn new(stream: &Arc<CudaStream>, kind: ElementKind, bytes: &[u8]) -> Result<Self, Error> {
        // The driver rejects allocations of 0 bytes, so an empty matrix gets 16 bytes.
        let room = if bytes.is_empty() { &[0; 16][..] } else { bytes };
        Ok(Self { kind, bytes: stream.clone_htod(room).map_err(driver("cuMemcpyHtoDAsync"))? })
    }

    pub fn read<'a>(&'a self, stream: &'a CudaStream) -> DeviceMatrix<'a> {
        DeviceMatrix::read_bytes(self.kind, &self.bytes, stream)
    }

    /// Synchronizes the stream, and copies the matrix back.
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

/// The operands of a GEMM or a transpose in device memory.
pub struct Resident {
    stream: Arc<CudaStream>,
    a: Copied,
    b: Copied,
    c: Source<Copied>,
    d: Copied,
    operands: EpilogueOperands<Copied>,
    /// Group offsets on the host, which launches pass as parameters.
    offsets: Option<Vec<u32>>,
    /// Index lists of A, B, and D on the host, which launches pass as parameters.
    lists: [Option<Vec<u32>>; 3],
    /// A workspace of the size that the last run needed.
    workspace: Option<CudaSlice<u8>>,
}

impl Resident {
    /// Copies the operands to the device, including the content of D.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device memory is too small.
    pub fn new(stream: &Arc<CudaStream>, matrices: &HostMatrices<'_>) -> Result<Self, Error> {
        let HostMatrices { a, b, c, d, operands } = matrices;
        let copied = |matrix: &HostSlice<'_>| {
            let results = matrix.shared_bytes().to_vec();
            let bytes = if matrix.is_shared() { &results } else { matrix.bytes() };
            Copied::new(stream, matrix.kind(), bytes)
        };
        let c = c.as_ref().try_map(copied)?;
        let d = Copied::new(stream, d.kind(), d.bytes())?;
        let operands = operands.as_ref().try_map(|_, vector| copied(vector))?;
        Ok(Self {
            stream: stream.clone(),
            a: copied(a)?,
            b: copied(b)?,
            c,
            d,
            operands,
            offsets: None,
            lists: Default::default(),
            workspace: None,
        })
    }

    /// Adds the group offsets of a grouped GEMM.
    #[must_use]
    pub fn with_groups(self, offsets: Vec<u32>) -> Self {
        Self { offsets: Some(offsets), ..self }
    }

    /// Adds the index lists of A, B, and D.
    #[must_use]
    pub fn with_lists(self, lists: [Option<Vec<u32>>; 3]) -> Self {
        Self { lists, ..self }
    }

    /// Enqueues the GEMM of matrices that begin at the elements `first` of A, B, C, and D.
    /// Allocates the workspace on first use.
    ///
    /// # Errors
    /// The errors of [`CudaKernel::run`]. [`Error::Driver`] if the device memory is too small.
    pub fn run(
        &mut self,
        kernel: &CudaKernel,
        problem: &Problem,
        first: [usize; 4],
    ) -> Result<(), Error> {
        let Self { stream, a, b, c, d, operands, offsets, lists, workspace } = self;
        let c = c.as_ref().map(|c| c.read(stream).from(first[2]));
        let d = DeviceMatrix::write_bytes(d.kind, &mut d.bytes, stream).from(first[3]);
        let of_up =
            |up: View<Elements>| up.with(b.read(stream).from(first[1] + problem.up_offset()));
        let up = problem.up.map(of_up);
        let (a, b) = (a.read(stream).from(first[0]), b.read(stream).from(first[1]));
        let operands = operands.as_ref().map(|_, vector| vector.read(stream));
        let mut call = problem.with(CudaMatrices { a, b, c, d, operands });
        call.up = up;
        call.groups = problem
            .groups
            .zip(offsets.as_ref())
            .map(|(groups, offsets)| groups.with(DeviceMatrix::by_value(offsets)));
        let [of_a, of_b, of_d] = lists.each_ref().map(Option::as_deref);
        let by_value = [of_a, of_b, of_d].map(|list| list.map(DeviceMatrix::by_value));
        call.indices = problem.indices.with(by_value);
        let needed = kernel.desc().routes(&call.problem())?.workspace_bytes();
        if needed > workspace.as_ref().map_or(0, |bytes| bytes.len() as u64) {
            // A refused call allocates nothing.
            problem.enter(&kernel.desc().for_scalars(&problem.scalars))?;
            *workspace =
                Some(stream.alloc_zeros(needed as usize).map_err(driver("cuMemAllocAsync"))?);
        }
        call.workspace = workspace
            .as_mut()
            .map(|bytes| DeviceMatrix::write_bytes(ElementKind::U8, bytes, stream));
        kernel.run(stream, call)
    }

    /// Enqueues the transpose of matrices that begin at the elements `first` of A, B, C, and D.
    ///
    /// # Errors
    /// The errors of [`transpose`].
    pub fn transpose(
        &mut self,
        choice: Choice,
        problem: &Problem,
        first: [usize; 4],
    ) -> Result<(), Error> {
        let stream = self.stream.clone();
        transpose(choice, &stream, self.call(problem, first))
    }

    /// Returns the call on matrices that begin at the elements `first` of A, B, C, and D.
    fn call(&mut self, problem: &Problem, first: [usize; 4]) -> CudaCall<'_> {
        let Self { stream, a, b, c, d, operands, .. } = self;
        problem.with(CudaMatrices {
            a: a.read(stream).from(first[0]),
            b: b.read(stream).from(first[1]),
            c: c.as_ref().map(|c| c.read(stream).from(first[2])),
            d: DeviceMatrix::write_bytes(d.kind, &mut d.bytes, stream).from(first[3]),
            operands: operands.as_ref().map(|_, vector| vector.read(stream)),
        })
    }

    /// Enqueues the GEMM of CuTe layouts, whose C is D here, on matrices that begin at the elements
    /// `first` of A, B, and D.
    ///
    /// # Errors
    /// The errors of [`CuteGemmKernel::run`].
    pub fn run_cute_gemm(
        &mut self,
        kernel: &CuteGemmKernel,
        first: [usize; 3],
    ) -> Result<(), Error> {
        let Self { stream, a, b, d, .. } = self;
        let written = DeviceMatrix::write_bytes(d.kind, &mut d.bytes, stream).from(first[2]);
        kernel.run(stream, a.read(stream).from(first[0]), b.read(stream).from(first[1]), written)
    }

    /// Synchronizes the stream, and copies D back.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device has failed.
    pub fn download(&self, d: HostSliceMut<'_>) -> Result<(), Error> {
        self.d.download(&self.stream, d)
    }

    /// Synchronizes the stream, and copies the results beside D back.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device has failed.
    pub fn download_results(
        &self,
        operands: &EpilogueOperands<HostSlice<'_>>,
    ) -> Result<(), Error> {
        for (operand, result) in operands.iter().filter(|(_, memory)| memory.is_shared()) {
            let Some(copied) = self.operands.get(operand) else { continue };
            let mut bytes = result.shared_bytes().to_vec();
            copied.download(&self.stream, HostSliceMut::from_bytes(result.kind(), &mut bytes))?;
            result.shared_bytes().write(0, &bytes);
        }
        Ok(())
    }
}

/// Computes one GEMM of host operands on a device: copies the operands, runs the kernel,
/// synchronizes, and copies D back.
///
/// # Errors
/// The errors of [`CudaKernel::prepare`] and [`CudaKernel::run`].
pub fn run_from_host(
    stream: &Arc<CudaStream>,
    kernel: &CudaKernel,
    problem: &Problem,
    matrices: HostMatrices<'_>,
) -> Result<(), Error> {
    let mut resident = Resident::new(stream, &matrices)?;
    resident.run(kernel, problem, [0; 4])?;
    resident.download_results(&matrices.operands)?;
    resident.download(matrices.d)
}
