//! Tests that need an NVIDIA GPU: `cargo test --test gpu -- --ignored --test-threads=1`.

#[macro_use]
#[path = "../harness/mod.rs"]
mod harness;

mod arrays;
mod batches;
mod conformance;
mod cublaslt;
mod cute_gemm;
mod decompositions;
mod epilogue_operands;
mod explore;
mod f32_accurate;
mod gates;
mod groups;
mod groups_k;
mod indexed;
mod ladder;
mod mma_sync_ring;
mod nodes;
mod operations;
mod overlapping;
mod prepared;
mod repack;
mod results;
mod run;
mod same_bits;
mod saturate;
mod swizzles;
mod tensor_map;
mod tensor_map_classes;
mod tensor_steps;
mod tma_ring;
mod transforms;
mod transpose;
mod universal;
mod wgmma;
mod workspace;
