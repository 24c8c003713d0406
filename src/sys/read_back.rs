//! A few values in device memory, read back.

use super::driver::driver;
use crate::error::Error;
use bytemuck::Pod;
use cudarc::driver::{CudaStream, sys};

/// Copies a value from each device address to the host, and waits for `stream` once.
///
/// Called from one place, `cuda::pass::check_window`, with addresses of such values within a workspace that `CudaKernel::run` has
/// found large enough, which is borrowed for the call.
///
/// # Errors
/// [`Error::Driver`] when the device has failed.
pub(crate) fn read_back<T: Pod, const N: usize>(stream: &CudaStream, addresses: [u64; N]) -> Result<[T; N], Error> {
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    let mut values = [T::zeroed(); N];
    let mut copied = Ok(());
    for (value, address) in values.iter_mut().zip(addresses) {
        let to = (&raw mut *value).cast();
        // SAFETY: the context is current; the value is ours and stays until the stream has been waited for below, whether or not this
        // fails; the address is of as many bytes of device memory, as said above.
        copied = unsafe { sys::cuMemcpyDtoHAsync_v2(to, address, size_of::<T>(), stream.cu_stream()) }.result();
        if copied.is_err() {
            break;
        }
    }
    stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
    copied.map_err(driver("cuMemcpyDtoHAsync"))?;
    Ok(values)
}
