//! Host execution of the warp level: the products of chains of multiply-adds.

pub(in crate::host) mod chains;
pub mod emulation;
pub(in crate::host) mod microkernel;
mod mma_sync;
pub(in crate::host) mod steps;
