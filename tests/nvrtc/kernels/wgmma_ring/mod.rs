//! Kernels of `wgmma` that a TMA ring feeds.

mod gathered;
mod products;
mod written_matrices;
