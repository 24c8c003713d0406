//! Device memory as a memory space: cudarc's slices and views, matrices that own device memory, and
//! the workspace.

use super::{
    Mat, Readable, Space, Writable, operand_memory,
    space::sealed::Sealed,
    workspace::{GrowingWorkspace, OperandWorkspace, WorkspaceMemory},
};
use crate::{
    Error,
    cuda::{Cuda, CudaMut, CudaRef, DeviceMatrix, Workspace, loaded::uncaptured},
    numeric::{Element, ElementKind},
    refusal::Refusal,
    sys::device_memory::DeviceMemory,
};
use bytemuck::Pod;
use cudarc::driver::{CudaSlice, CudaStream, CudaView, CudaViewMut};
use std::sync::Arc;

impl Sealed for Cuda {}

impl Space for Cuda {
    type Ref<'a, T: Pod> = CudaRef<'a, T>;
    type Mut<'a, T: Pod> = CudaMut<'a, T>;
    type Read<'a> = DeviceMatrix<'a>;
    type Write<'a> = DeviceMatrix<'a>;
    type Queue = Arc<CudaStream>;
    type Owned<T: Element> = DeviceMemory<T>;

    fn shorter<'a, 'b: 'a, T: Pod>(matrix: CudaRef<'b, T>) -> CudaRef<'a, T> {
        matrix
    }

    fn shorter_mut<'a, 'b: 'a, T: Pod>(matrix: CudaMut<'b, T>) -> CudaMut<'a, T> {
        CudaMut(matrix.0)
    }

    fn length<T: Pod>(matrix: &CudaRef<'_, T>) -> usize {
        matrix.0.len()
    }

    fn length_mut<T: Pod>(matrix: &CudaMut<'_, T>) -> usize {
        matrix.0.len()
    }

    fn queue<T: Pod>(d: &CudaMut<'_, T>) -> Arc<CudaStream> {
        d.0.stream().clone()
    }

    fn queue_of_input<T: Pod>(matrix: &CudaRef<'_, T>) -> Arc<CudaStream> {
        matrix.0.stream().clone()
    }

    fn zeros<T: Element>(
        stream: &Arc<CudaStream>,
        length: usize,
    ) -> Result<DeviceMemory<T>, Error> {
        uncaptured(stream, Refusal::allocation_captured(length, T::KIND))?;
        DeviceMemory::zeros(stream, length)
    }

    fn owned<T: Element>(memory: &DeviceMemory<T>) -> CudaRef<'_, T> {
        CudaRef(memory)
    }

    fn owned_mut<T: Element>(memory: &mut DeviceMemory<T>) -> CudaMut<'_, T> {
        CudaMut(memory)
    }

    fn read<'a: 'q, 'q, T: Pod>(
        kind: ElementKind,
        matrix: CudaRef<'a, T>,
        stream: &'q Arc<CudaStream>,
    ) -> DeviceMatrix<'q> {
        DeviceMatrix::read_memory(kind, matrix.0, stream)
    }

    fn by_value<'a: 'q, 'q>(offsets: &'a [u32], _: &'q Arc<CudaStream>) -> DeviceMatrix<'q> {
        DeviceMatrix::by_value(offsets)
    }

    fn write<'a: 'q, 'q, T: Pod>(
        kind: ElementKind,
        matrix: CudaMut<'a, T>,
        stream: &'q Arc<CudaStream>,
    ) -> DeviceMatrix<'q> {
        DeviceMatrix::write_memory(kind, matrix.0, stream)
    }

    fn shared<'q: 'q>(output: DeviceMatrix<'q>) -> DeviceMatrix<'q> {
        output
    }
}

operand_memory! { Cuda, Ref, |memory| CudaRef(memory), &'a CudaSlice<T>; &'a CudaView<'_, T>; &'a CudaViewMut<'_, T>; &'a DeviceMemory<T>; }
operand_memory! { Cuda, Mut, |memory| CudaMut(memory), &'a mut CudaSlice<T>; &'a mut CudaViewMut<'_, T>; &'a mut DeviceMemory<T>; }

impl<T: Element> Mat<T> {
    /// Copies the matrix to the device of a stream.
    ///
    /// ```no_run
    /// use falchion::{cuda, prelude::*};
    ///
    /// let stream = cuda::open(0)?.default_stream();
    /// let a = Mat::from_fn((64, 32), |row, column| (row + column) as f32)?;
    /// let a = a.to_device(&stream)?;
    /// let product = falchion::matmul(a.view().t(), &a)?.to_host()?;
    /// assert_eq!(product.shape(), (32, 32));
    /// # Ok::<(), falchion::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Driver`] if the device has no memory left.
    pub fn to_device(&self, stream: &Arc<CudaStream>) -> Result<Mat<T, Cuda>, Error> {
        let elements = DeviceMemory::from_host(stream, &self.elements)?;
        Ok(Mat { elements, shape: self.shape })
    }
}

impl<T: Element> Mat<T, Cuda> {
    /// Copies the matrix to the host, and waits for its stream.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device has failed.
    pub fn to_host(&self) -> Result<Mat<T>, Error> {
        Ok(Mat { elements: self.elements.to_host()?, shape: self.shape })
    }
}

impl GrowingWorkspace<Cuda> for Workspace {
    fn grow(&mut self, stream: &Arc<CudaStream>, bytes: u64) -> Result<CudaMut<'_, u8>, Error> {
        Ok(CudaMut(Workspace::grow(self, stream, bytes)?))
    }
}

impl<'a> OperandWorkspace<'a, Cuda> for &'a mut Workspace {
    fn memory(self) -> WorkspaceMemory<'a, Cuda> {
        WorkspaceMemory::Growing(self)
    }
}
