//! Kernels with a TMA ring and `wgmma`.

mod a_operand;
mod columns;
mod f32_accurate;
mod leaf;
mod promotion;
mod typed_calls;
