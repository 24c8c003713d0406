//! A few values in device memory, read back.

use super::driver::driver;
use crate::error::Error;
use bytemuck::Pod;
use cudarc::driver::{CudaStream, sys};

/// Copies values from each device address to the host, as many as there is room for, and waits for
/// `stream` once.
///
/// Called from two places with addresses of such values: `cuda::pass::check_window`, within a
/// workspace that `CudaKernel::run` has found large enough, and `cuda::kernel::check_offsets`,
/// within offsets of groups as many as it has found there are. Both are borrowed for the call.
///
/// # Errors
/// [`Error::Driver`] when the device has failed.
pub(crate) fn read_back<T: Pod, const N: usize>(
    stream: &CudaStream,
    from: [(u64, &mut [T]); N],
) -> Result<(), Error> {
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    let mut copied = Ok(());
    for (address, values) in from {
        let (to, bytes) = (values.as_mut_ptr().cast(), size_of_val(values));
        // SAFETY: the context is current; the values are borrowed alone, and the stream is waited
        // for below, whether or not this fails; the address is of as many bytes of device memory,
        // as said above.
        copied =
            unsafe { sys::cuMemcpyDtoHAsync_v2(to, address, bytes, stream.cu_stream()) }.result();
        if copied.is_err() {
            break;
        }
    }
    stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
    copied.map_err(driver("cuMemcpyDtoHAsync"))
}
