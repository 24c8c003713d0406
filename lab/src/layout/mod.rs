//! CuTe's layouts at work: expressions of the algebra, pictures of maps, tensors, and a GEMM all of
//! whose addresses are layouts.
//!
//! The algebra itself is [`falchion::layout::algebra`].

pub mod cute_gemm;
pub mod expression;
pub mod picture;
pub mod tensor;
mod value;
