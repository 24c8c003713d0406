//! The CUDA driver: detection, errors, and kernel launches with or without clusters.

pub use crate::threadblock::Grid;
use crate::{
    Error,
    codegen::TranslationUnit,
    threadblock::{AddressRange, Launch},
};
use cudarc::driver::{
    CudaFunction, CudaStream, DriverError,
    result::{launch_kernel, memset_d8_async},
    sys,
};
use std::{ffi::c_void, sync::LazyLock};

/// Converts an `error` of the driver function `call` to an [`Error`].
pub fn driver(call: &'static str) -> impl FnOnce(DriverError) -> Error {
    move |error| Error::Driver {
        call,
        code: error.0 as u32 as i32,
        name: error.error_name().map_or_else(
            |_| "a code without a name".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        ),
    }
}

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Self {
        driver("the CUDA driver")(error)
    }
}

/// Checks that `libcuda` can be loaded. Call it before any use of cudarc, which panics on its first
/// use if the library is missing.
///
/// # Errors
/// [`Error::Library`] with the names that were tried.
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

/// Returns the newest CUDA version that the driver supports, as (major, minor).
///
/// # Errors
/// [`Error::Library`] without a driver. [`Error::Driver`] if the call fails.
pub fn version() -> Result<(i32, i32), Error> {
    present()?;
    let mut version = 0;
    // SAFETY: the library is present, and the pointer is to a live local integer.
    unsafe { sys::cuDriverGetVersion(&mut version) }
        .result()
        .map_err(driver("cuDriverGetVersion"))?;
    Ok((version / 1000, version % 1000 / 10))
}

/// Checks that the driver has the function `call`. Call it before the first use of a function that
/// cudarc may not find, because cudarc panics then.
///
/// # Errors
/// [`Error::Library`] without a driver, or if the driver is too old.
pub(crate) fn offers(call: &'static str) -> Result<(), Error> {
    present()?;
    // SAFETY: the library is present. The symbol is only looked up, and never called with this
    // type.
    let found = unsafe { sys::culib().get::<unsafe extern "C" fn()>(call.as_bytes()).map(|_| ()) };
    found.map_err(|error| Error::Library {
        library: "libcuda",
        tried: vec![call.to_owned()],
        because: error.to_string(),
        remedy: "the driver is older than CUDA 12, which brought TMA and clusters; install a newer one",
    })
}

/// Returns how many clusters of a kernel the device can hold at once. A persistent kernel needs
/// this number for its grid. It is not the number of SMs divided by the CTAs per cluster, because
/// GPCs have different numbers of SMs.
///
/// `grid.clusters` is ignored. The function's limit of dynamic shared memory must be at least
/// `grid.shared_bytes`.
///
/// # Errors
/// [`Error::Refused`] if [`Grid::blocks`] rejects one cluster. [`Error::Library`] or
/// [`Error::Driver`] if the driver is missing, too old, or reports a failure.
pub fn max_active_clusters(
    function: &CudaFunction,
    stream: &CudaStream,
    grid: &Grid,
) -> Result<u32, Error> {
    let one = Grid { clusters: 1, ..*grid };
    let blocks = one.blocks()?;
    offers("cuOccupancyMaxActiveClusters")?;
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    // SAFETY: a plain C struct of integers and a union of integers, for which all-zero bytes are
    // valid.
    let mut cluster: sys::CUlaunchAttribute = unsafe { std::mem::zeroed() };
    cluster.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = one.cluster;
    cluster.value.clusterDim.y = 1;
    cluster.value.clusterDim.z = 1;
    let config = config(stream, (blocks, &one), &mut cluster);
    let mut clusters = 0;
    // SAFETY: the driver has the function; the context is current; all pointers are to live local
    // values that outlive the call.
    unsafe { sys::cuOccupancyMaxActiveClusters(&mut clusters, function.cu_function(), &config) }
        .result()
        .map_err(driver("cuOccupancyMaxActiveClusters"))?;
    Ok(u32::try_from(clusters).unwrap_or(0))
}

/// Enqueues a kernel.
///
/// # Errors
/// [`Error::Refused`] if [`Grid::blocks`] rejects the grid. [`Error::Driver`] if the launch fails,
/// for example because the grid is not a whole number of the clusters that the kernel was compiled
/// for.
///
/// # Safety
/// The kernel takes one struct by value, and `params` begins with its bytes. All addresses in the
/// struct are device memory of the stream's context. This memory stays allocated, and has no other
/// use, until the kernel has ended.
pub unsafe fn enqueue(
    function: &CudaFunction,
    stream: &CudaStream,
    grid: &Grid,
    params: &[u8],
) -> Result<(), Error> {
    let blocks = grid.blocks()?;
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    let mut arguments = [params.as_ptr().cast_mut().cast::<c_void>()];
    let (threads, shared) = ((grid.threads, 1, 1), grid.shared_bytes);
    // SAFETY: the context is current; the one argument points to the struct that the kernel takes,
    // which the driver copies before it returns; the caller vouches for the memory that the kernel
    // touches.
    unsafe {
        launch_kernel(
            function.cu_function(),
            (blocks, 1, 1),
            threads,
            shared,
            stream.cu_stream(),
            &mut arguments,
        )
    }
    .map_err(driver("cuLaunchKernel"))
}

/// Returns whether the driver supports programmatic dependent launch, also during stream capture.
/// CUDA 12.3 and newer drivers do.
pub(crate) fn launches_dependents() -> bool {
    static LAUNCHES: LazyLock<bool> =
        LazyLock::new(|| version().is_ok_and(|version| version >= (12, 3)));
    *LAUNCHES
}

/// Enqueues a kernel like [`enqueue`], but the grid may begin before the previous grid in the
/// stream has ended (programmatic dependent launch).
///
/// # Errors
/// The errors of [`enqueue`].
///
/// # Safety
/// The conditions of [`enqueue`]. In addition, [`launches_dependents`] is true, and the device has
/// compute capability 9.0 or newer. All threads of the kernel wait for the previous grids
/// (`griddepcontrol.wait`) before they touch memory.
unsafe fn enqueue_dependent(
    function: &CudaFunction,
    stream: &CudaStream,
    grid: &Grid,
    params: &[u8],
) -> Result<(), Error> {
    let blocks = grid.blocks()?;
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    let mut arguments = [params.as_ptr().cast_mut().cast::<c_void>()];
    // SAFETY: a plain C struct of integers and a union of integers, for which all-zero bytes are
    // valid.
    let mut dependent: sys::CUlaunchAttribute = unsafe { std::mem::zeroed() };
    dependent.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    dependent.value.programmaticStreamSerializationAllowed = 1;
    let config = config(stream, (blocks, grid), &mut dependent);
    // SAFETY: the context is current, and the driver is new enough to have the function; all
    // pointers are to live local values that outlive the call, which copies the one argument; the
    // caller vouches for the memory that the kernel touches, and for when it touches the memory.
    unsafe {
        sys::cuLaunchKernelEx(
            &raw const config,
            function.cu_function(),
            arguments.as_mut_ptr(),
            std::ptr::null_mut(),
        )
    }
    .result()
    .map_err(driver("cuLaunchKernelEx"))
}

/// Returns the configuration of a grid of `blocks` CTAs with one launch attribute.
fn config(
    stream: &CudaStream,
    (blocks, grid): (u32, &Grid),
    attribute: &mut sys::CUlaunchAttribute,
) -> sys::CUlaunchConfig {
    sys::CUlaunchConfig {
        gridDimX: blocks,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: grid.threads,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: grid.shared_bytes,
        hStream: stream.cu_stream(),
        attrs: attribute,
        numAttrs: 1,
    }
}

/// The source of a kernel from outside of this library, for whose correctness a caller has vouched.
#[derive(Clone, Debug)]
pub struct VouchedUnit(TranslationUnit);

impl VouchedUnit {
    /// Wraps a translation unit.
    ///
    /// # Safety
    /// The entry point takes [`GemmParams`](crate::codegen::GemmParams) by value and nothing else.
    /// It touches only the parts of the operands that the extents and leading dimensions span, and
    /// it writes only D.
    pub const unsafe fn new(unit: TranslationUnit) -> Self {
        Self(unit)
    }

    pub(crate) fn into_unit(self) -> TranslationUnit {
        self.0
    }
}

/// The kernels of one launch.
pub(crate) struct Kernels<'k> {
    /// The main kernel.
    pub function: &'k CudaFunction,
    /// The reduction kernel that adds split-K partials, if any.
    pub reduction: Option<&'k CudaFunction>,
    /// Whether to use programmatic dependent launch. The kernels must wait for the previous grid,
    /// and the device and the driver must support it.
    pub dependent: bool,
}

/// Enqueues a kernel of this library, which takes the struct that `params` begins with.
///
/// Only [`Loaded::launch`](crate::cuda::loaded::Loaded::launch) calls this function, for GEMMs,
/// transposes, and passes. The callers have checked all addresses in `params`, for each GEMM of an
/// array, or have checked the same addresses in an equal call. Each address is device memory of the
/// stream's context that the call borrows and that cudarc keeps until the stream has finished with
/// it. A [`BoundCall`](crate::cuda::BoundCall) borrows the memory until its last launch. The memory
/// is large enough for the extents and leading dimensions in `params`, aligned as the kernel was
/// compiled for, and D does not overlap the inputs. Addresses in the workspace are within its
/// checked size, and the workspace overlaps nothing else. Tensor maps are built from the same
/// addresses and extents.
///
/// # Errors
/// The errors of [`enqueue`].
pub(crate) fn launch(
    kernels: &Kernels<'_>,
    stream: &CudaStream,
    launch: &Launch,
    params: &[u8],
) -> Result<(), Error> {
    for AddressRange { start, end } in launch.clear.into_iter().flatten() {
        stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        // SAFETY: the context is current; the bytes are in the workspace, or in results of the
        // epilogue, which the callers have checked, as stated above.
        unsafe { memset_d8_async(start, 0, (end - start) as usize, stream.cu_stream()) }
            .map_err(driver("cuMemsetD8Async"))?;
    }
    let reduction = kernels.reduction.zip(launch.reduction.as_ref());
    [(kernels.function, &launch.grid)].into_iter().chain(reduction).try_for_each(
        |(function, grid)| {
            // SAFETY: the size of the kernels' struct was asserted when they were compiled, and
            // `params` begins with its bytes; the callers have checked everything else, as stated
            // above. The second kernel reads the slots that the first one wrote, and C, and writes
            // D. A kernel that is launched while another one ends waits for it.
            unsafe {
                match kernels.dependent {
                    true => enqueue_dependent(function, stream, grid, params),
                    false => enqueue(function, stream, grid, params),
                }
            }
        },
    )
}
