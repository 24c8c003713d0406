//! Kernels of this crate on a device.

use bytemuck::Pod;
use cudarc::driver::{CudaFunction, CudaStream};
use falchion::{
    Error,
    internals::{
        codegen::TranslationUnit,
        sys::driver::{Grid, VouchedUnit, enqueue},
    },
};

/// Enqueues a kernel of this crate.
///
/// # Errors
/// The errors of [`enqueue`].
///
/// There are two callers. `CuteGemmKernel::run` has checked its matrices: they are device memory
/// of the stream's context, which the call borrows and cudarc keeps until the stream has finished
/// with it. They are as long as the layouts whose offsets the kernel computes, and C does not
/// overlap A or B. `banks::probe::Probe::run` passes two tables of one word per lane, borrowed in
/// the same way, with offsets within the kernel's shared memory.
pub(crate) fn launch<Params: Pod>(
    function: &CudaFunction,
    stream: &CudaStream,
    grid: &Grid,
    params: &Params,
) -> Result<(), Error> {
    // SAFETY: the size of the kernel's struct was asserted when it was compiled; the callers have
    // checked everything else, as stated above.
    unsafe { enqueue(function, stream, grid, bytemuck::bytes_of(params)) }
}

/// Vouches for the source of a kernel of this crate that takes the library's parameters.
///
/// The only caller is `Textbook::prepare`. Its kernels take `GemmParams`. For each element of D
/// within the extents, a thread reads one row of A and one column of B, and writes that element.
pub(crate) fn vouched(unit: TranslationUnit) -> VouchedUnit {
    // SAFETY: as stated above.
    unsafe { VouchedUnit::new(unit) }
}
