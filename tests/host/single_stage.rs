//! The single-stage main loop, which only SIMT kernels have.

mod simt;
