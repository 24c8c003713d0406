//! The CUDA driver: whether it is there, its answers as errors, and one launch.

use crate::error::Error;
use bytemuck::Pod;
use cudarc::driver::{CudaFunction, CudaStream, DriverError, result::launch_kernel, sys};
use std::ffi::c_void;

/// `error` of the driver function `call`, as ours.
pub fn driver(call: &'static str) -> impl FnOnce(DriverError) -> Error {
    move |error| Error::Driver {
        call,
        code: error.0 as u32 as i32,
        name: error.error_name().map_or_else(|_| "a code without a name".to_owned(), |name| name.to_string_lossy().into_owned()),
    }
}

/// Whether `libcuda` can be loaded. cudarc panics on its first use when it cannot, so this is asked before.
///
/// # Errors
///
/// [`Error::Library`], naming what was tried.
pub fn present() -> Result<(), Error> {
    // SAFETY: the function only tries to load the library.
    if unsafe { sys::is_culib_present() } {
        return Ok(());
    }
    Err(Error::Library {
        library: "libcuda",
        tried: ["libcuda.so", "libcuda.so.1", "nvcuda.dll"].map(str::to_owned).to_vec(),
        because: "no file of these names is on the loader's path".to_owned(),
        remedy: "libcuda belongs to NVIDIA's driver; install the driver, or run on the host",
    })
}

/// The newest CUDA that the driver speaks, major and minor.
///
/// # Errors
///
/// [`Error::Library`] without a driver, [`Error::Driver`] when it does not answer.
pub fn version() -> Result<(i32, i32), Error> {
    present()?;
    let mut version = 0;
    // SAFETY: the library is there, and the pointer is to an integer of ours.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result().map_err(driver("cuDriverGetVersion"))?;
    Ok((version / 1000, version % 1000 / 10))
}

/// Enqueues a kernel of `blocks` blocks.
///
/// # Errors
///
/// [`Error::Driver`] when the driver refuses.
///
/// Called from five places. `CudaKernel::run` and `CudaTranspose::run` have checked the addresses in `params`: device memory of
/// the stream's context, borrowed for the call and kept by cudarc until the stream is done with it, large enough for the extents
/// and leading dimensions beside them, aligned as the kernel was compiled for, D apart from what is read. `CuteGemmKernel::run`
/// likewise: the matrices are as long as the layouts reach whose offsets the kernel computes, and C lies apart from A and B.
/// `banks::probe::Probe::run` gives two tables of a word for each lane, borrowed likewise, with offsets within the kernel's
/// shared memory. `WarpgroupProbe::run` gives tiles, fragments and D of the sizes that its text reads and writes, which it has
/// checked or made, borrowed likewise.
pub(crate) fn launch<Params: Pod>(
    function: &CudaFunction,
    stream: &CudaStream,
    blocks: u32,
    threads: u32,
    shared_bytes: u32,
    params: &Params,
) -> Result<(), Error> {
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    let mut arguments = [std::ptr::from_ref(params).cast_mut().cast::<c_void>()];
    // SAFETY: the context is current; the one argument points to the struct that the kernel takes (its size was asserted when it
    // was compiled), which the driver copies before it returns; what the kernel touches the caller has checked, as said above.
    unsafe {
        launch_kernel(function.cu_function(), (blocks, 1, 1), (threads, 1, 1), shared_bytes, stream.cu_stream(), &mut arguments)
    }
    .map_err(driver("cuLaunchKernel"))
}
