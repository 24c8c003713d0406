//! Tests of the host executor: results, bits, faults, and mutants.

#[macro_use]
#[path = "../harness/mod.rs"]
mod harness;

mod arrays;
mod batches;
mod conformance;
mod empty_problems;
mod epilogue_mutants;
mod epilogue_operands;
mod gate;
mod gates;
mod groups;
mod groups_k;
mod indexed;
#[cfg(feature = "cuda")]
mod missing_libraries;
mod mma_sync;
mod mma_sync_ring;
mod multistage;
mod operations;
mod pipelined;
mod results;
mod same_bits;
mod simt;
mod simt_ring;
mod single_stage;
mod small_gemms;
mod split_k;
mod stream_k;
mod stream_k_one_schedule;
mod sums;
mod tma_ring;
mod transform_refusals;
mod transforms;
mod transpose;
mod transpose_counters;
mod transpose_mutants;
mod universal;
mod user_swizzles;
mod views;
