//! The multistage main loop, with each MMA.

mod mma_sync;
mod mma_sync_ring;
mod simt;
