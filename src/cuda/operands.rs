//! Operands in device memory.

use crate::{
    numeric::{ElementKind, MathType},
    operand::{Call, Matrices, Memory},
};
use bytemuck::Pod;
use cudarc::driver::{CudaContext, CudaStream, DevicePtr, DevicePtrMut, SyncOnDrop};

/// Device memory. Operands are cudarc's slices and views, or memory of Falchion.
#[derive(Clone, Copy, Debug)]
pub struct Cuda;

/// Input matrix in device memory.
pub struct CudaRef<'a, T>(pub(crate) &'a dyn DevicePtr<T>);

impl<T> Clone for CudaRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for CudaRef<'_, T> {}

/// Output matrix in device memory.
pub struct CudaMut<'a, T>(pub(crate) &'a mut dyn DevicePtrMut<T>);

/// Matrix in device memory whose element type is a value. It lives while a launch is enqueued.
pub struct DeviceMatrix<'a> {
    /// Element type.
    pub(crate) kind: ElementKind,
    /// Device address of the first element.
    pub(crate) address: u64,
    /// Number of elements from the first element on.
    pub(crate) length: usize,
    /// Address of the CUDA context that owns the memory.
    pub(crate) context: usize,
    /// A list in host memory that kernel parameters carry. Such a matrix has no device address.
    pub(super) values: Option<&'a [u32]>,
    /// Guard that, when dropped, tells cudarc that the stream uses the memory.
    _in_use: SyncOnDrop<'a>,
}

impl Memory for DeviceMatrix<'_> {
    fn length(&self) -> usize {
        self.length
    }

    fn address(&self) -> u64 {
        self.address
    }

    fn empty() -> Self {
        Self::by_value(&[])
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
    /// Creates a matrix that work on `stream` reads.
    pub fn read<E: MathType>(
        matrix: &'a dyn DevicePtr<E::Storage>,
        stream: &'a CudaStream,
    ) -> Self {
        Self::read_memory(E::KIND, matrix, stream)
    }

    /// Creates a matrix that work on `stream` writes.
    pub fn write<E: MathType>(
        matrix: &'a mut dyn DevicePtrMut<E::Storage>,
        stream: &'a CudaStream,
    ) -> Self {
        Self::write_memory(E::KIND, matrix, stream)
    }

    /// Creates a matrix from bytes and an element type, which work on `stream` reads.
    pub fn read_bytes(
        kind: ElementKind,
        bytes: &'a dyn DevicePtr<u8>,
        stream: &'a CudaStream,
    ) -> Self {
        Self::read_memory(kind, bytes, stream)
    }

    /// Creates a matrix from bytes and an element type, which work on `stream` writes.
    pub fn write_bytes(
        kind: ElementKind,
        bytes: &'a mut dyn DevicePtrMut<u8>,
        stream: &'a CudaStream,
    ) -> Self {
        Self::write_memory(kind, bytes, stream)
    }

    /// Creates a matrix that work on `stream` reads. The memory holds elements, or their bytes.
    pub(crate) fn read_memory<T: Pod>(
        kind: ElementKind,
        memory: &'a dyn DevicePtr<T>,
        stream: &'a CudaStream,
    ) -> Self {
        let (length, owner) = (memory.len(), memory.stream().context().cu_ctx());
        Self::at(kind, elements::<T>(kind, length), owner as usize, memory.device_ptr(stream))
    }

    /// Creates a matrix that work on `stream` writes. The memory holds elements, or their bytes.
    pub(crate) fn write_memory<T: Pod>(
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

    /// Creates a matrix of group offsets or indices in host memory, which kernel parameters carry.
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

    /// Creates a matrix for tests, whose memory no stream uses.
    #[cfg(test)]
    pub(crate) fn nowhere(kind: ElementKind, address: u64, length: usize, context: usize) -> Self {
        Self { kind, address, length, context, values: None, _in_use: SyncOnDrop::Sync(None) }
    }

    /// Returns the matrix without its first `first` elements.
    #[must_use]
    pub fn from(self, first: usize) -> Self {
        let first = first.min(self.length);
        Self {
            address: self.address + self.kind.matrix_bytes(first as u64),
            length: self.length - first,
            ..self
        }
    }

    /// Returns the element type.
    pub fn kind(&self) -> ElementKind {
        self.kind
    }

    /// Returns the number of elements.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the device address of the first element.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Returns whether the memory belongs to a CUDA context.
    pub fn is_of(&self, context: &CudaContext) -> bool {
        self.context == context.cu_ctx() as usize
    }

    /// Returns the size of all elements in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.kind.matrix_bytes(self.length as u64)
    }

    /// Returns the address range of the first `elements` elements.
    pub fn range(&self, elements: u64) -> core::ops::Range<u64> {
        let bytes = self.kind.matrix_bytes(elements);
        self.address..self.address.saturating_add(bytes)
    }
}

/// Returns the number of elements in `values` values of type `T`, which are elements or their
/// bytes.
fn elements<T>(kind: ElementKind, values: usize) -> usize {
    kind.matrix_elements(values as u64 * size_of::<T>() as u64) as usize
}

/// Matrices in device memory with element types as values.
pub type CudaMatrices<'a> = Matrices<DeviceMatrix<'a>>;

/// Call on matrices in device memory.
pub type CudaCall<'a> = Call<DeviceMatrix<'a>>;

impl CudaCall<'_> {
    /// Returns the words of the lists that kernel parameters carry, each rounded up to an even
    /// count.
    pub(super) fn carried_words(&self) -> Vec<u32> {
        let mut words = Vec::new();
        for (list, _, count) in self.lists() {
            if let Some(numbers) = list.memory.values {
                words.extend(numbers.iter().take(count));
                words.resize(words.len().next_multiple_of(2), 0);
            }
        }
        words
    }

    /// Returns whether all operands and the workspace belong to a CUDA context.
    pub(super) fn lies_in(&self, context: &CudaContext) -> bool {
        let (c, up) = (self.c.matrix(), self.up.matrix());
        let views = [Some(&self.a), Some(&self.b), up, Some(&self.d), c];
        let operands = self.operands.iter().map(|(_, vector)| vector);
        let memory = views.into_iter().flatten().chain(operands).map(|view| &view.memory);
        memory.chain(&self.workspace).all(|memory| memory.is_of(context))
    }
}
