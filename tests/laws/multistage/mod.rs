//! The multistage main loop, with each MMA.

mod mma_sync;
mod pipelined;
mod simt;
