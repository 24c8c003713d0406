//! Operands in device memory.

use super::loaded::uncaptured;
use crate::{
    call::{Call, Matrices, Memory, Readable, Space, Writable, operand_memory},
    error::Error,
    numeric::{Element, ElementKind, MathType},
    pass::transpose::TransposeCall,
    refusal::Refusal,
    sys::device_memory::DeviceMemory,
};
use bytemuck::Pod;
use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, SyncOnDrop,
};
use std::sync::Arc;

/// Device memory: cudarc's slices and views.
#[derive(Clone, Copy, Debug)]
pub struct Cuda;

/// A matrix in device memory that is read.
pub struct CudaRef<'a, T>(pub(crate) &'a dyn DevicePtr<T>);

impl<T> Clone for CudaRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for CudaRef<'_, T> {}

/// A matrix in device memory that is written.
pub struct CudaMut<'a, T>(pub(crate) &'a mut dyn DevicePtrMut<T>);

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
        uncaptured(stream, Refusal::AllocationCaptured { length, element: T::KIND })?;
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
        DeviceMatrix::of_read(kind, matrix.0, stream)
    }

    fn by_value<'a: 'q, 'q>(offsets: &'a [u32], _: &'q Arc<CudaStream>) -> DeviceMatrix<'q> {
        DeviceMatrix::by_value(offsets)
    }

    fn write<'a: 'q, 'q, T: Pod>(
        kind: ElementKind,
        matrix: CudaMut<'a, T>,
        stream: &'q Arc<CudaStream>,
    ) -> DeviceMatrix<'q> {
        DeviceMatrix::of_written(kind, matrix.0, stream)
    }
}

operand_memory! { Cuda, Ref, |memory| CudaRef(memory), &'a CudaSlice<T>; &'a CudaView<'_, T>; &'a CudaViewMut<'_, T>; &'a DeviceMemory<T>; }
operand_memory! { Cuda, Mut, |memory| CudaMut(memory), &'a mut CudaSlice<T>; &'a mut CudaViewMut<'_, T>; &'a mut DeviceMemory<T>; }

/// A matrix in device memory whose element type is a value, while a launch is being enqueued.
pub struct DeviceMatrix<'a> {
    /// Elements.
    pub(crate) kind: ElementKind,
    /// Device address of the first.
    pub(crate) address: u64,
    /// Number of elements that are there.
    pub(crate) length: usize,
    /// The context it belongs to.
    pub(crate) context: usize,
    /// Its elements, where a launch takes them by value: then there is no address.
    pub(super) values: Option<&'a [u32]>,
    /// Tells cudarc, when dropped, that the stream uses the memory.
    _in_use: SyncOnDrop<'a>,
}

impl Memory for DeviceMatrix<'_> {
    fn length(&self) -> usize {
        self.length
    }

    fn address(&self) -> u64 {
        self.address
    }

    fn skip(self, elements: usize) -> Self {
        self.from(elements)
    }

    fn by_value(&self) -> bool {
        self.values.is_some()
    }

    fn kind(&self) -> Option<ElementKind> {
        Some(self.kind)
    }
}

impl<'a> DeviceMatrix<'a> {
    /// A matrix that work on `stream` will read.
    pub fn read<E: MathType>(
        matrix: &'a dyn DevicePtr<E::Storage>,
        stream: &'a CudaStream,
    ) -> Self {
        Self::of_read(E::KIND, matrix, stream)
    }

    /// A matrix that work on `stream` will write.
    pub fn write<E: MathType>(
        matrix: &'a mut dyn DevicePtrMut<E::Storage>,
        stream: &'a CudaStream,
    ) -> Self {
        Self::of_written(E::KIND, matrix, stream)
    }

    /// Bytes of any elements, to be read by work on `stream`.
    pub fn read_bytes(
        kind: ElementKind,
        bytes: &'a dyn DevicePtr<u8>,
        stream: &'a CudaStream,
    ) -> Self {
        Self::of_read(kind, bytes, stream)
    }

    /// Bytes of any elements, to be written by work on `stream`.
    pub fn write_bytes(
        kind: ElementKind,
        bytes: &'a mut dyn DevicePtrMut<u8>,
        stream: &'a CudaStream,
    ) -> Self {
        Self::of_written(kind, bytes, stream)
    }

    /// Memory that holds elements of a kind, as values or as bytes.
    fn of_read<T: Pod>(
        kind: ElementKind,
        memory: &'a dyn DevicePtr<T>,
        stream: &'a CudaStream,
    ) -> Self {
        let (length, owner) = (memory.len(), memory.stream().context().cu_ctx());
        Self::at(kind, elements::<T>(kind, length), owner as usize, memory.device_ptr(stream))
    }

    fn of_written<T: Pod>(
        kind: ElementKind,
        memory: &'a mut dyn DevicePtrMut<T>,
        stream: &'a CudaStream,
    ) -> Self {
        let (length, owner) = (memory.len(), memory.stream().context().cu_ctx());
        Self::at(kind, elements::<T>(kind, length), owner as usize, memory.device_ptr_mut(stream))
    }

    fn at(
        kind: ElementKind,
        length: usize,
        context: usize,
        (address, in_use): (u64, SyncOnDrop<'a>),
    ) -> Self {
        Self { kind, address, length, context, values: None, _in_use: in_use }
    }

    /// Offsets of groups in host memory, which launches take by value.
    pub fn by_value(offsets: &'a [u32]) -> Self {
        let _in_use = SyncOnDrop::Sync(None);
        Self {
            kind: ElementKind::I32,
            address: 0,
            length: offsets.len(),
            context: 0,
            values: Some(offsets),
            _in_use,
        }
    }

    /// A matrix of numbers alone, which no stream uses.
    #[cfg(test)]
    pub(crate) fn nowhere(kind: ElementKind, address: u64, length: usize, context: usize) -> Self {
        Self { kind, address, length, context, values: None, _in_use: SyncOnDrop::Sync(None) }
    }

    /// The matrix from its element `first` on.
    #[must_use]
    pub fn from(self, first: usize) -> Self {
        let first = first.min(self.length);
        Self {
            address: self.address + self.kind.matrix_bytes(first as u64),
            length: self.length - first,
            ..self
        }
    }

    /// The type of the elements.
    pub fn kind(&self) -> ElementKind {
        self.kind
    }

    /// Number of elements that are there.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Device address of the first element.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Whether it belongs to this context.
    pub fn is_of(&self, context: &CudaContext) -> bool {
        self.context == context.cu_ctx() as usize
    }

    /// Bytes of all its elements.
    pub(crate) fn bytes(&self) -> u64 {
        self.kind.matrix_bytes(self.length as u64)
    }

    /// Bytes from the first of `elements` elements to the last.
    pub fn range(&self, elements: u64) -> core::ops::Range<u64> {
        let bytes = self.kind.matrix_bytes(elements);
        self.address..self.address.saturating_add(bytes)
    }
}

/// How many elements of a kind so many values take, which are theirs or their bytes.
fn elements<T>(kind: ElementKind, values: usize) -> usize {
    kind.matrix_elements(values as u64 * size_of::<T>() as u64) as usize
}

/// Matrices in device memory, element types as values.
pub type CudaMatrices<'a> = Matrices<DeviceMatrix<'a>>;

/// A call on matrices in device memory.
pub type CudaCall<'a> = Call<DeviceMatrix<'a>>;

/// The same of a transpose.
pub type CudaTransposeCall<'a> = TransposeCall<DeviceMatrix<'a>>;
