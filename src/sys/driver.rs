//! The CUDA driver: whether it is there, its answers as errors, and one launch, with or without
//! clusters.

pub use crate::call::Grid;
use crate::{
    call::{AddressRange, Launch},
    codegen::TranslationUnit,
    error::Error,
};
use cudarc::driver::{
    CudaFunction, CudaStream, DriverError,
    result::{launch_kernel, memset_d8_async},
    sys,
};
use std::{ffi::c_void, sync::LazyLock};

/// `error` of the driver function `call`, as ours.
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

/// Whether `libcuda` can be loaded. cudarc panics on its first use when it cannot, so this is asked
/// before.
///
/// # Errors
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
/// [`Error::Library`] without a driver, [`Error::Driver`] when it does not answer.
pub fn version() -> Result<(i32, i32), Error> {
    present()?;
    let mut version = 0;
    // SAFETY: the library is there, and the pointer is to an integer of ours.
    unsafe { sys::cuDriverGetVersion(&mut version) }
        .result()
        .map_err(driver("cuDriverGetVersion"))?;
    Ok((version / 1000, version % 1000 / 10))
}

/// Whether the driver has the function `call`. cudarc panics on the first use of one that it cannot
/// find, so this is asked before.
///
/// # Errors
/// [`Error::Library`] without a driver, or with one that is too old.
pub(crate) fn offers(call: &'static str) -> Result<(), Error> {
    present()?;
    // SAFETY: the library is there. The symbol is looked for, and never called by this type.
    let found = unsafe { sys::culib().get::<unsafe extern "C" fn()>(call.as_bytes()).map(|_| ()) };
    found.map_err(|error| Error::Library {
        library: "libcuda",
        tried: vec![call.to_owned()],
        because: error.to_string(),
        remedy: "the driver is older than CUDA 12, which brought TMA and clusters; install a newer one",
    })
}

/// How many clusters of a kernel the device can hold at once: what a persistent kernel asks before
/// it chooses its grid. Graphics processing clusters have different numbers of multiprocessors, so
/// it is not the multiprocessors over the cluster's blocks.
///
/// `grid.clusters` does not count. The function's limit of dynamic shared memory has to have been
/// raised to `grid.shared_bytes`.
///
/// # Errors
/// [`Error::Refused`] where [`Grid::blocks`] refuses one cluster; [`Error::Library`],
/// [`Error::Driver`].
pub fn max_active_clusters(
    function: &CudaFunction,
    stream: &CudaStream,
    grid: &Grid,
) -> Result<u32, Error> {
    let one = Grid { clusters: 1, ..*grid };
    let blocks = one.blocks()?;
    offers("cuOccupancyMaxActiveClusters")?;
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    // SAFETY: a plain C struct of integers and a union of them, for which zeros are values.
    let mut cluster: sys::CUlaunchAttribute = unsafe { std::mem::zeroed() };
    cluster.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = one.cluster;
    cluster.value.clusterDim.y = 1;
    cluster.value.clusterDim.z = 1;
    let config = config(stream, (blocks, &one), &mut cluster);
    let mut clusters = 0;
    // SAFETY: the driver has the function; the context is current; all pointers are to values of
    // ours that outlive the call.
    unsafe { sys::cuOccupancyMaxActiveClusters(&mut clusters, function.cu_function(), &config) }
        .result()
        .map_err(driver("cuOccupancyMaxActiveClusters"))?;
    Ok(u32::try_from(clusters).unwrap_or(0))
}

/// Enqueues a kernel.
///
/// # Errors
/// [`Error::Refused`] where [`Grid::blocks`] does; [`Error::Driver`] when the driver refuses, as it
/// does a grid that is not whole clusters of those that the kernel was compiled for.
///
/// # Safety
/// The kernel takes one struct by value, whose bytes `params` begins with, and what it touches
/// through the addresses in it is device memory of the stream's context, which stays and is not
/// otherwise used until the kernel is done.
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
    // which the driver copies before it returns; what the kernel touches the caller answers for.
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

/// Whether the driver launches a grid that begins while the one before it ends, and captures such
/// launches: since CUDA 12.3.
pub(crate) fn launches_dependents() -> bool {
    static LAUNCHES: LazyLock<bool> =
        LazyLock::new(|| version().is_ok_and(|version| version >= (12, 3)));
    *LAUNCHES
}

/// The same as [`enqueue`], and the grid begins while the one before it in the stream ends
/// (programmatic dependent launch).
///
/// # Errors
/// Those of [`enqueue`].
///
/// # Safety
/// Those of [`enqueue`]; [`launches_dependents`], the device is of compute capability 9.0 or newer,
/// and all threads of the kernel wait for the grids before it (`griddepcontrol.wait`) before they
/// touch memory.
unsafe fn enqueue_dependent(
    function: &CudaFunction,
    stream: &CudaStream,
    grid: &Grid,
    params: &[u8],
) -> Result<(), Error> {
    let blocks = grid.blocks()?;
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    let mut arguments = [params.as_ptr().cast_mut().cast::<c_void>()];
    // SAFETY: a plain C struct of integers and a union of them, for which zeros are values.
    let mut dependent: sys::CUlaunchAttribute = unsafe { std::mem::zeroed() };
    dependent.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    dependent.value.programmaticStreamSerializationAllowed = 1;
    let config = config(stream, (blocks, grid), &mut dependent);
    // SAFETY: the context is current, and the driver has the function, since it is as new; all
    // pointers are to values of ours that outlive the call, which copies the one argument; what the
    // kernel touches, and when, the caller answers for.
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

/// A grid of so many blocks, with one attribute.
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

/// The text of a kernel that is not this library's, which somebody answers for.
#[derive(Clone, Debug)]
pub struct VouchedUnit(TranslationUnit);

impl VouchedUnit {
    /// The unit.
    ///
    /// # Safety
    /// Its entry point takes [`GemmParams`](crate::codegen::GemmParams) and nothing else, by value;
    /// of the operands it touches what the extents and leading dimensions in it span, and writes D
    /// alone.
    pub const unsafe fn new(unit: TranslationUnit) -> Self {
        Self(unit)
    }

    pub(crate) fn into_unit(self) -> TranslationUnit {
        self.0
    }
}

/// What a launch names.
pub(crate) struct Kernels<'k> {
    /// The kernel.
    pub function: &'k CudaFunction,
    /// The one that adds parts of K, where there is one.
    pub reduction: Option<&'k CudaFunction>,
    /// Whether they are launched while the grid before ends: they wait for it, and device and
    /// driver have that.
    pub dependent: bool,
}

/// Enqueues a kernel of ours, which takes the struct that `params` begins with.
///
/// Called from [`Loaded::launch`](crate::cuda::loaded::Loaded::launch) alone, for products,
/// transposes and passes. Those who make a launch have checked the addresses in `params`, of each
/// product of an array: device memory of the stream's context, borrowed for the call and kept by
/// cudarc until the stream is done with it, large enough for the extents and leading dimensions
/// beside them, aligned as the kernel was compiled for, D apart from what is read; or of the
/// workspace, which was found large enough and apart from all else. Tensor maps are made of the
/// same addresses and extents.
///
/// # Errors
/// Those of [`enqueue`].
pub(crate) fn launch(
    kernels: &Kernels<'_>,
    stream: &CudaStream,
    launch: &Launch,
    params: &[u8],
) -> Result<(), Error> {
    if let Some(AddressRange { start, end }) = launch.clear {
        stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        // SAFETY: the context is current; the bytes are of the workspace, which the callers have
        // checked, as said above.
        unsafe { memset_d8_async(start, 0, (end - start) as usize, stream.cu_stream()) }
            .map_err(driver("cuMemsetD8Async"))?;
    }
    let reduction = kernels.reduction.zip(launch.reduction.as_ref());
    [(kernels.function, &launch.grid)].into_iter().chain(reduction).try_for_each(
        |(function, grid)| {
            // SAFETY: the size of the kernels' struct was asserted when they were compiled, and the
            // first of these are its bytes; the rest the callers have checked, as said above. The
            // second kernel reads the slots that the first one wrote, and C, and writes D. Those
            // that are launched while others end wait for them.
            unsafe {
                match kernels.dependent {
                    true => enqueue_dependent(function, stream, grid, params),
                    false => enqueue(function, stream, grid, params),
                }
            }
        },
    )
}
