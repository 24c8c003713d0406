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
/// Those of [`enqueue`].
///
/// Called from three places. `CuteGemmKernel::run` has checked its matrices: device memory of the
/// stream's context, borrowed for the call and kept by cudarc until the stream is done with it, as
/// long as the layouts reach whose offsets the kernel computes, C apart from A and B.
/// `banks::probe::Probe::run` gives two tables of a word for each lane, borrowed likewise, with
/// offsets within the kernel's shared memory. `WarpgroupProbe::run` gives tiles, fragments and D of
/// the sizes that its text reads and writes, which it has checked.
pub(crate) fn launch<Params: Pod>(
    function: &CudaFunction,
    stream: &CudaStream,
    grid: &Grid,
    params: &Params,
) -> Result<(), Error> {
    // SAFETY: the size of the kernel's struct was asserted when it was compiled; the rest the
    // callers have checked, as said above.
    unsafe { enqueue(function, stream, grid, bytemuck::bytes_of(params)) }
}

/// The text of a kernel of this crate that takes the library's parameters.
///
/// Called from one place, `Textbook::prepare`: its kernels take `GemmParams`, and a thread of
/// theirs reads the row of A and the column of B that it has an element of D for, within the
/// extents, and writes that element.
pub(crate) fn vouched(unit: TranslationUnit) -> VouchedUnit {
    // SAFETY: as said above.
    unsafe { VouchedUnit::new(unit) }
}
