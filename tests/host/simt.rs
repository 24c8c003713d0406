//! SIMT kernels on the host. Calls whose types name no units use SIMT kernels on the host.

mod batches;
mod conformance;
mod contract;
mod counters;
pub(super) mod fast_equals_checked;
mod indexed;
pub(super) mod mutants;
mod operations;
mod small_gemms;
mod split_k;
mod transform_refusals;
mod transforms;
pub(super) mod types;
mod universal;
mod views;
mod wrong_kernels;
