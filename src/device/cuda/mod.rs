//! The CUDA executor: NVRTC makes a cubin, the cache keeps it, the driver runs it.

pub mod cache;
pub mod report;
