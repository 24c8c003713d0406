//! Tests of the host executor: results, bits, faults, and mutants.

#[macro_use]
#[path = "../harness/mod.rs"]
mod harness;

mod a_operand;
mod arrays;
mod batches;
mod columns;
mod conformance;
mod contract;
mod counters;
mod empty_problems;
mod epilogue_operands;
mod f32_accurate;
mod fast_equals_checked;
mod gate;
mod groups;
#[cfg(feature = "cuda")]
mod missing_libraries;
mod mma_sync;
mod mma_sync_ring;
mod multistage;
mod mutants;
mod operations;
mod pipelined;
mod promotion;
mod roles;
mod roles_payload;
mod same_bits;
mod simt;
mod simt_ring;
mod single_stage;
mod small_gemms;
mod split_k;
mod split_k_cluster;
mod stream_k;
mod stream_k_one_schedule;
mod transform_refusals;
mod transforms;
mod transpose;
mod transpose_counters;
mod transpose_mutants;
mod universal;
mod user_swizzles;
mod views;
mod warp_specialized;
mod warp_specialized_faults;
mod wgmma_ring;
mod wrong_kernels;
