//! The CUDA executor. NVRTC compiles a kernel to a cubin or PTX, the cache stores the result, and
//! the driver runs the kernel.
//!
//! [`open`] opens a device. [`CudaKernel::prepare`] compiles the kernel of a description, and
//! [`CudaKernel::run`] enqueues a GEMM. [`GemmOperation::run`](crate::device::GemmOperation::run)
//! prepares and runs a kernel. All calls of a process share the prepared kernels.

mod array;
mod bound_call;
#[doc(hidden)]
pub mod cache;
mod call_launches;
mod context;
mod growing_workspace;
pub(crate) mod kernel;
mod launch_cache;
mod lists;
pub(crate) mod loaded;
mod memory;
mod operands;
mod pass;
pub mod report;
mod target;
mod workspace;

pub use crate::sys::device_memory::DeviceMemory;
pub use bound_call::BoundCall;
pub(crate) use context::known_machine;
pub use context::{machine_of, open};
pub use growing_workspace::Workspace;
pub use kernel::CudaKernel;
#[doc(hidden)]
pub use kernel::kernel_unit;
#[doc(hidden)]
pub use loaded::{compile, compile_to_disk};
pub use operands::{Cuda, CudaCall, CudaMatrices, DeviceMatrix};
#[doc(hidden)]
pub use operands::{CudaMut, CudaRef};
#[doc(hidden)]
pub use pass::{CudaPass, pass_unit, repack, transpose};
#[doc(hidden)]
pub use target::CodeTarget;
