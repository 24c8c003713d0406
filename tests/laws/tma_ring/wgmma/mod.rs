//! Laws of kernels with a TMA ring and `wgmma`.

mod arrays;
mod bank_conflicts;
mod batches;
mod completions;
mod emulation_layout;
mod gathered;
mod l2_promotion;
mod refusals;
mod routes;
mod simt;
