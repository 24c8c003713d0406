//! The pipelined main loop, with each MMA.

mod mma_sync;
mod simt;
