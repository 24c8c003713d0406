//! Device memory by its address.

use super::driver::driver;
use crate::{Error, numeric::Element, refusal::Refusal};
use bytemuck::Pod;
use core::{fmt, marker::PhantomData};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop};
use std::sync::Arc;

/// Device memory that another library owns, by its address. Views, arguments, and workspaces accept
/// a `&DeviceMemory` where they accept a `&CudaSlice`.
///
/// ```no_run
/// use falchion::{cuda, cuda::DeviceMemory, prelude::*};
///
/// # let (pointer_a, pointer_b, pointer_d) = (0, 0, 0);
/// let stream = cuda::open(0)?.default_stream();
/// // SAFETY: the pointers come from an allocator that keeps 64 x 64 floats until the stream ends.
/// let (a, b, mut d) = unsafe {
///     (
///         DeviceMemory::<f32>::from_raw(pointer_a, 64 * 64, &stream)?,
///         DeviceMemory::<f32>::from_raw(pointer_b, 64 * 64, &stream)?,
///         DeviceMemory::<f32>::from_raw(pointer_d, 64 * 64, &stream)?,
///     )
/// };
/// let (a, b) = (MatRef::new(&a, (64, 64)), MatRef::new(&b, (64, 64)));
/// falchion::gemm(a.t(), b, MatMut::new(&mut d, (64, 64)))?;
/// # Ok::<(), falchion::Error>(())
/// ```
pub struct DeviceMemory<T> {
    address: u64,
    length: usize,
    stream: Arc<CudaStream>,
    /// The allocation, if this crate allocated the memory.
    owner: Option<CudaSlice<u8>>,
    _elements: PhantomData<T>,
}

impl<T: Element> DeviceMemory<T> {
    /// Creates memory from a device address, the number of elements, and the stream on which calls
    /// run.
    ///
    /// # Safety
    /// The context of `stream` owns `length` elements at `address`. They stay allocated until all
    /// work that reads or writes them has ended. The caller orders work on other streams.
    ///
    /// # Errors
    /// [`Refusal`] for address 0 with elements, or if the elements exceed the address space. A call
    /// refuses an address that is not aligned to an element.
    pub unsafe fn from_raw(
        address: u64,
        length: usize,
        stream: &Arc<CudaStream>,
    ) -> Result<Self, Refusal> {
        if address == 0 && length > 0 {
            return Err(Refusal::null_pointer(length));
        }
        let bytes = bytes_of::<T>(length)? as u64;
        if address.checked_add(bytes).is_none() {
            return Err(Refusal::matrix_too_large([length, 1], T::KIND));
        }
        let stream = stream.clone();
        Ok(Self { address, length, stream, owner: None, _elements: PhantomData })
    }

    /// Allocates zeros on a stream.
    ///
    /// # Errors
    /// [`Refusal`] if the elements exceed the address space. [`Error::Driver`] if the device has no
    /// memory left.
    pub(crate) fn zeros(stream: &Arc<CudaStream>, length: usize) -> Result<Self, Error> {
        let bytes = bytes_of::<T>(length)?;
        let owner = stream.alloc_zeros::<u8>(bytes).map_err(driver("cuMemAllocAsync"))?;
        let address = owner.device_ptr(stream).0;
        let (owner, stream) = (Some(owner), stream.clone());
        Ok(Self { address, length, stream, owner, _elements: PhantomData })
    }

    /// Copies elements of the host to new memory on a stream.
    ///
    /// # Errors
    /// The errors of [`zeros`](Self::zeros).
    pub(crate) fn from_host(stream: &Arc<CudaStream>, elements: &[T]) -> Result<Self, Error> {
        let mut memory = Self::zeros(stream, elements.len())?;
        if let Some(owner) = &mut memory.owner {
            let bytes: &[u8] = bytemuck::cast_slice(elements);
            stream.memcpy_htod(bytes, owner).map_err(driver("cuMemcpyHtoDAsync"))?;
        }
        Ok(memory)
    }

    /// Copies the elements of memory that this crate allocated to the host.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device has failed.
    pub(crate) fn to_host(&self) -> Result<Vec<T>, Error> {
        let mut elements = vec![T::ZERO; self.length];
        if let Some(owner) = &self.owner {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut elements);
            self.stream.memcpy_dtoh(owner, bytes).map_err(driver("cuMemcpyDtoHAsync"))?;
            self.stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
        }
        Ok(elements)
    }
}

/// Size of elements in bytes, which an allocation can have.
fn bytes_of<T: Element>(length: usize) -> Result<usize, Refusal> {
    let bytes = length.checked_mul(size_of::<T>()).filter(|&bytes| isize::try_from(bytes).is_ok());
    bytes.ok_or(Refusal::matrix_too_large([length, 1], T::KIND))
}

impl<T: Element> fmt::Debug for DeviceMemory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceMemory")
            .field("address", &self.address)
            .field("length", &self.length)
            .field("element", &T::KIND)
            .finish_non_exhaustive()
    }
}

impl<T: Pod> DeviceSlice<T> for DeviceMemory<T> {
    fn len(&self) -> usize {
        self.length
    }

    fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }
}

impl<T: Pod> DevicePtr<T> for DeviceMemory<T> {
    fn device_ptr<'a>(&'a self, stream: &'a CudaStream) -> (u64, SyncOnDrop<'a>) {
        match &self.owner {
            Some(owner) => owner.device_ptr(stream),
            None => (self.address, SyncOnDrop::Sync(None)),
        }
    }
}

impl<T: Pod> DevicePtrMut<T> for DeviceMemory<T> {
    fn device_ptr_mut<'a>(&'a mut self, stream: &'a CudaStream) -> (u64, SyncOnDrop<'a>) {
        match &mut self.owner {
            Some(owner) => owner.device_ptr_mut(stream),
            None => (self.address, SyncOnDrop::Sync(None)),
        }
    }
}
