//! Reads a few values back from device memory.

use super::driver::driver;
use crate::Error;
use bytemuck::Pod;
use cudarc::driver::{CudaStream, sys};

/// Copies values from each device address to the host, as many as the host array holds, and then
/// synchronizes `stream` once.
///
/// There are two callers. `cuda::pass::check_window` passes addresses in a workspace whose size
/// `CudaKernel::run` has checked. `cuda::kernel::check_offsets` passes addresses in group offsets,
/// whose number it has checked. Both memories are borrowed for the call.
///
/// # Errors
/// [`Error::Driver`] if the device has failed.
pub(crate) fn read_back<T: Pod, const N: usize>(
    stream: &CudaStream,
    from: [(u64, &mut [T]); N],
) -> Result<(), Error> {
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    let mut copied = Ok(());
    for (address, values) in from {
        let (to, bytes) = (values.as_mut_ptr().cast(), size_of_val(values));
        // SAFETY: the context is current; the values are borrowed exclusively, and the stream is
        // synchronized below, whether or not this call fails; the address has `bytes` bytes of
        // device memory, as stated above.
        copied =
            unsafe { sys::cuMemcpyDtoHAsync_v2(to, address, bytes, stream.cu_stream()) }.result();
        if copied.is_err() {
            break;
        }
    }
    stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
    copied.map_err(driver("cuMemcpyDtoHAsync"))
}
