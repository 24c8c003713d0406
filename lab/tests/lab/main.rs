//! Tests of the laboratory: counts of bank conflicts, spaces and logs of exploration, the ladder,
//! and figures in prose.

#[macro_use]
#[path = "../../../tests/harness/mod.rs"]
mod harness;

mod banks;
mod cute_gemm;
mod cute_layouts;
mod explore;
mod figures;
mod held_out;
mod ladder;
mod model;
mod pins;
mod simt_ring;
mod single_stage;
mod tma_ring;
mod trials;
