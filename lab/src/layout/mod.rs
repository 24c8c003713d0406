//! CuTe layouts: expressions of the algebra, pictures of maps, tensors, and a GEMM that uses
//! layouts for all of its addresses.
//!
//! The algebra is in [`falchion::layout::algebra`].

pub mod cute_gemm;
pub mod expression;
pub mod picture;
pub mod tensor;
mod value;
