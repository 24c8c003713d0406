//! The CUDA driver: whether it is there, its answers as errors, and one launch, with or without clusters.

use crate::{
    arch::PORTABLE_CLUSTER,
    codegen::TranslationUnit,
    error::Error,
    refusal::{Field, Refusal},
};
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

/// Whether the driver has the function `call`. cudarc panics on the first use of one that it cannot find, so this is asked before.
///
/// # Errors
///
/// [`Error::Library`] without a driver, or with one that is too old.
pub(crate) fn offers(call: &'static str) -> Result<(), Error> {
    present()?;
    // SAFETY: the library is there. The symbol is looked for, and never called by this type.
    let found = unsafe { sys::culib().get::<unsafe extern "C" fn()>(call.as_bytes()).map(|_| ()) };
    found.map_err(|error| Error::Library {
        library: "libcuda",
        tried: vec![call.to_owned()],
        because: error.to_string(),
        remedy: "the driver is older than CUDA 12, which brought Hopper's copy engine and clusters; install a newer one",
    })
}

/// How many threads a launch has, and how they are grouped.
///
/// The blocks of a cluster are fixed when a kernel is compiled, by `__cluster_dims__` at its entry point: its masks and the counts
/// of its barriers are made for them, so no launch may choose otherwise, and the plain launch does. That the grid is whole clusters
/// is this struct's shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    /// Clusters.
    pub clusters: u32,
    /// Blocks of a cluster, along x; 1 for a kernel without clusters.
    pub cluster: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Dynamic shared memory of a block.
    pub shared_bytes: u32,
}

impl Grid {
    /// The grid of a kernel without clusters.
    pub const fn of_blocks(blocks: u32, threads: u32, shared_bytes: u32) -> Self {
        Self { clusters: blocks, cluster: 1, threads, shared_bytes }
    }

    /// All blocks.
    ///
    /// # Errors
    ///
    /// [`Refusal::OutOfRange`] for a cluster of none, or of more than [`PORTABLE_CLUSTER`]; [`Refusal::TooManyTiles`] for more
    /// blocks than the x axis of a grid has.
    pub const fn blocks(&self) -> Result<u32, Refusal> {
        let (value, most) = (self.cluster as u64, PORTABLE_CLUSTER as u64);
        if value == 0 || value > most {
            return Err(Refusal::OutOfRange { field: Field::BlocksOfACluster, value, least: 1, most });
        }
        let (tiles, most) = (self.clusters as u64 * value, i32::MAX as u64);
        if tiles > most { Err(Refusal::TooManyTiles { tiles, most }) } else { Ok(tiles as u32) }
    }
}

/// How many clusters of a kernel the device can hold at once: what a persistent kernel asks before it chooses its grid. Graphics
/// processing clusters have different numbers of multiprocessors, so it is not the multiprocessors over the cluster's blocks.
///
/// `grid.clusters` does not count. The function's limit of dynamic shared memory has to have been raised to `grid.shared_bytes`.
///
/// # Errors
///
/// [`Error::Refused`] where [`Grid::blocks`] refuses one cluster; [`Error::Library`], [`Error::Driver`].
pub fn max_active_clusters(function: &CudaFunction, stream: &CudaStream, grid: &Grid) -> Result<u32, Error> {
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
    let config = sys::CUlaunchConfig {
        gridDimX: blocks,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: one.threads,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: one.shared_bytes,
        hStream: stream.cu_stream(),
        attrs: &mut cluster,
        numAttrs: 1,
    };
    let mut clusters = 0;
    // SAFETY: the driver has the function; the context is current; all pointers are to values of ours that outlive the call.
    unsafe { sys::cuOccupancyMaxActiveClusters(&mut clusters, function.cu_function(), &config) }
        .result()
        .map_err(driver("cuOccupancyMaxActiveClusters"))?;
    Ok(u32::try_from(clusters).unwrap_or(0))
}

/// Enqueues a kernel.
///
/// # Errors
///
/// [`Error::Refused`] where [`Grid::blocks`] does; [`Error::Driver`] when the driver refuses, as it does a grid that is not whole
/// clusters of those that the kernel was compiled for.
///
/// # Safety
///
/// The kernel takes `params` and nothing else, by value, and what it touches through the addresses in it is device memory of the
/// stream's context, which stays and is not otherwise used until the kernel is done.
pub unsafe fn enqueue<Params: Pod>(
    function: &CudaFunction,
    stream: &CudaStream,
    grid: &Grid,
    params: &Params,
) -> Result<(), Error> {
    let blocks = grid.blocks()?;
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    let mut arguments = [std::ptr::from_ref(params).cast_mut().cast::<c_void>()];
    let (threads, shared) = ((grid.threads, 1, 1), grid.shared_bytes);
    // SAFETY: the context is current; the one argument points to the struct that the kernel takes, which the driver copies before
    // it returns; what the kernel touches the caller answers for.
    unsafe { launch_kernel(function.cu_function(), (blocks, 1, 1), threads, shared, stream.cu_stream(), &mut arguments) }
        .map_err(driver("cuLaunchKernel"))
}

/// The text of a kernel that is not this library's, which somebody answers for.
#[derive(Clone, Debug)]
pub struct VouchedUnit(TranslationUnit);

impl VouchedUnit {
    /// The unit.
    ///
    /// # Safety
    ///
    /// Its entry point takes [`GemmParams`](crate::codegen::GemmParams) and nothing else, by value; of the operands it touches what
    /// the extents and leading dimensions in it span, and writes D alone.
    pub const unsafe fn new(unit: TranslationUnit) -> Self {
        Self(unit)
    }

    pub(crate) fn into_unit(self) -> TranslationUnit {
        self.0
    }
}

/// Enqueues a kernel of ours.
///
/// # Errors
///
/// Those of [`enqueue`].
///
/// Called from four places. `CudaKernel::run` and `CudaTranspose::run` have checked the addresses in `params`: device memory of
/// the stream's context, borrowed for the call and kept by cudarc until the stream is done with it, large enough for the extents
/// and leading dimensions beside them, aligned as the kernel was compiled for, D apart from what is read. `CudaKernel::run`
/// does so for kernels with roles, too, whose tensor maps are made of the same addresses and extents, or of those of the workspace, which it has
/// found large enough and apart from all else; relays, transposes and splits to it are launched by `Detour` with what that has checked. `CudaRelay::run`
/// checks its two matrices itself.
pub(crate) fn launch<Params: Pod>(
    function: &CudaFunction,
    stream: &CudaStream,
    grid: &Grid,
    params: &Params,
) -> Result<(), Error> {
    // SAFETY: the size of the kernel's struct was asserted when it was compiled; the rest the callers have checked, as said above.
    unsafe { enqueue(function, stream, grid, params) }
}

#[cfg(test)]
mod tests {
    use super::Grid;

    #[test]
    fn a_grid_is_whole_clusters_and_not_too_many() {
        let grid = |clusters, cluster| Grid { clusters, cluster, threads: 384, shared_bytes: 0 };
        assert_eq!(grid(66, 2).blocks(), Ok(132));
        assert_eq!(Grid::of_blocks(7, 32, 0).blocks(), Ok(7));
        let said = |clusters, cluster| grid(clusters, cluster).blocks().expect_err("refused").to_string();
        assert_eq!(said(1, 0), "blocks of a cluster = 0 is not from 1 to 8; the nearest is 1");
        assert_eq!(said(1, 16), "blocks of a cluster = 16 is not from 1 to 8; the nearest is 8");
        assert!(said(1 << 30, 2).starts_with("the problem has 2147483648 tiles, and a grid has at most 2147483647 blocks"));
        assert!(said(u32::MAX, 8).starts_with("the problem has 34359738360 tiles"));
    }
}
