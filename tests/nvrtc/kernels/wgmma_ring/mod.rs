//! Kernels of `wgmma` that a TMA ring feeds.

mod gathered;
mod written_matrices;
