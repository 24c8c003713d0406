//! Matrices that own device memory.

use super::Cuda;
use crate::{call::Mat, error::Error, numeric::Element, sys::device_memory::DeviceMemory};
use cudarc::driver::CudaStream;
use std::sync::Arc;

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
