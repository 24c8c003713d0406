//! Kernels with a TMA ring and `wgmma`.

mod a_operand;
mod columns;
mod f32_accurate;
mod faults;
mod groups_k;
mod leaf;
mod operations;
mod promotion;
mod simt;
mod split_k;
mod split_k_cluster;
mod stream_k;
mod transform_refusals;
mod typed_calls;
