//! The CUDA executor.
