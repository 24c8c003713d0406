//! Host execution of the threadblock level: the main loops, and the work units of CTAs.

pub(in crate::host) mod fast;
pub mod mma;
pub mod tma_ring;
pub mod units;
