//! Host execution of the threadblock level: the main loops, and the work units of CTAs.

pub(in crate::host) mod fast;
pub(in crate::host) mod mma;
pub(in crate::host) mod tma_ring;
pub(in crate::host) mod units;
