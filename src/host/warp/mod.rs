//! Host execution of the warp level: accumulators, and the products that they add.

pub(in crate::host) mod accumulated;
pub(crate) mod accumulators;
pub(in crate::host) mod chains;
pub(in crate::host) mod microkernel;
