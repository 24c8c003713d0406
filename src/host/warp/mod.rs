//! Host execution of the warp level: the products of chains of multiply-adds.

pub(in crate::host) mod chains;
pub(in crate::host) mod microkernel;
mod mma_sync;
