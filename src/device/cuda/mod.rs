//! The CUDA executor: NVRTC makes a cubin, the cache keeps it, the driver runs it.
//!
//! [`open`] finds a device, [`CudaKernel::prepare`] makes a kernel of a description, [`CudaKernel::run`] enqueues a product.
//! [`Gemm::run`](super::Gemm::run) does both, with a cache of kernels for the whole process.

pub mod cache;
mod context;
mod detour;
mod executor;
pub(crate) mod kernel;
pub(crate) mod loaded;
mod operands;
mod relay;
pub mod report;
mod split;
mod tensor_maps;
mod transpose;
mod warp_specialized;
mod warpgroup;

pub use context::{machine_of, multiprocessors, open};
pub use detour::detour_units;
pub use executor::Kernel;
pub use kernel::{CudaKernel, kernel_unit};
pub use loaded::compile;
pub use operands::{Cuda, CudaMatrices, DeviceMatrix};
pub use relay::{CudaRelay, relay_unit};
pub use split::{CudaSplit, split_unit};
pub use tensor_maps::{TensorMaps, tensor_map};
pub use transpose::{CudaTranspose, TransposeKernel, TransposeOperands, transpose_unit};
pub use warpgroup::WarpgroupProbe;
